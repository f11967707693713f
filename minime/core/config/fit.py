"""`fit_for`: how much a model is asked for at once, by its size; a very small one does better with less."""

import re
from typing import Literal

import msgspec

from minime.core.config.settings import Settings, origin


class Fit(msgspec.Struct, frozen=True):
    """When tools are offered, rounds of tool calls in a turn, and where None leaves it to the server: tokens
    of an answer, temperature, and the penalty on repeated words in prose."""

    tools: Literal["always", "when named"]
    max_steps: int
    max_output: int | None
    temperature: float | None
    repeat_penalty: float | None


SMALL_STEPS = 2
SMALL_OUTPUT = 160
SMALL_TEMPERATURE = 0.0
SMALL_PENALTY = 1.1


def fit_for(embedded: bool, settings: Settings) -> Fit:
    """What suits the model. `embedded`: the small one that comes with mm answers. It calls a tool whenever
    it is offered one, wanders off after two rounds and repeats itself in long answers. What the user has
    set counts for it too."""
    if not embedded:
        return Fit("always", settings.max_steps, settings.max_output, settings.temperature, None)
    said_steps = origin(settings, "maxSteps") != "default"
    return Fit(
        "when named",
        settings.max_steps if said_steps else SMALL_STEPS,
        SMALL_OUTPUT if settings.max_output is None else settings.max_output,
        SMALL_TEMPERATURE if settings.temperature is None else settings.temperature,
        SMALL_PENALTY,
    )


_NO_PATHS = re.compile(
    r"\w+://\S*"
    r"|\b(?:and/or|either/or|he/she|she/he|his/her|yes/no|true/false|on/off|i/o|n/a|tcp/ip|w/o|client/server"
    r"|e\.g\.?|i\.e\.?|a\.m\.?|p\.m\.?|u\.s\.?)(?![\w/.])"
    r"|\b(?:node|vue|next|react|three|d3|asp)\.(?:js|net)\b"
    r"|\d+(?:[./]\d+)+",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"`[^`\s][^`]*`"
    r"|(?<![\w.])\.{0,2}~?/[\w.@-]+"
    r"|\b[\w.@-]+/"
    r"|(?<!\w)\.?[\w-]*\w\.[a-z][a-z0-9]{0,7}\b(?!\.\w)"
    r"|(?<![\w.])\.[a-z][\w-]{2,}"
    r"|\b(?:Makefile|Dockerfile|README|LICENSE|CHANGELOG|justfile)\b"
    r"|\b(?:files?|folders?|director(?:y|ies))\b"
    r"|(?:^|[.,;:!?]\s*|\b(?:please|you|and|then|to|now|just)\s+)(?:run|execute)\s+\S",
    re.IGNORECASE,
)


def names_something(question: str) -> bool:
    """Whether a question speaks of a path, a command or the files themselves, so that a tool may help."""
    return _NAMED.search(_NO_PATHS.sub(" ", question)) is not None
