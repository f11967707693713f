"""The words in which consent is configured: the mode of a session, and a rule of `agent.yaml`."""

from typing import Literal, get_args

import msgspec

Mode = Literal["ask", "auto-edit", "auto", "read-only"]
"""What passes without a question: reading; edits too; everything; reading only, the rest is refused."""

MODES: tuple[Mode, ...] = get_args(Mode)

Decision = Literal["ask", "allow", "deny"]
"""What a rule does with the calls that it covers."""


class PermissionRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `permissions`: calls of `tool` whose command or path fits the glob `match` are `do`."""

    tool: str
    match: str = "*"
    do: Decision = "ask"
