"""Tools at work in a folder, for tests: an action is prepared and done, and the result comes back."""

from pathlib import Path

from minime.core.tools.toolbox import Action
from minime.core.values import Tool
from minime.shell.tools.tools import Impossible, Ready, Tools


async def do(tools: Tools, action: Action) -> Tool:
    """What came of the action, which must be possible."""
    ready = await tools.prepare(action)
    assert isinstance(ready, Ready), ready
    return await tools.run("call_1", ready, lambda text: None)


async def refused(tools: Tools, action: Action) -> str:
    """Why the action is not possible."""
    impossible = await tools.prepare(action)
    assert isinstance(impossible, Impossible), impossible
    return impossible.message


def files(root: Path, content: dict[str, str | bytes]) -> Path:
    """The folder, with these files in it."""
    for name, text in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return root
