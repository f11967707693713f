"""A visit that has all that the terminal shows, at a pseudo-terminal of any width."""

from pathlib import Path

from tests.support.mm import STILL, Visitor
from tests.support.server import Answer, ScriptedServer, Stream, calls, chunk, closing, says

ANSWER = """\
## What it does

`main.py` prints **hi**, and no more than that: there are no arguments, and nothing is read from a file.

1. Python runs the module from its top
   - see [the tutorial](https://docs.python.org/3/tutorial/)
2. `print` writes the line

| file | lines | what for |
| --- | ---: | --- |
| main.py | 1 | says hi |
| README.md | 40 | says how to run it, and where to find more |

```python
def greet(name: str) -> None:
    print(f"hi {name}")  # a name would be nice
```

> Shall I change it?
"""
PIECES = tuple(ANSWER[place : place + 5] for place in range(0, len(ANSWER), 5))
THINKS = Stream((
    chunk({"reasoning_content": "The file is short."}),
    *(chunk({"content": piece}) for piece in PIECES),
    *closing("stop", 2000),
))
EDIT = calls(("edit_file", {"path": "main.py", "old_text": "'hi'", "new_text": "'hello'"}))
RUN = calls(("run_command", {"command": "python3 -c 'for n in range(40): print(n)'"}))
FAILS = calls(("run_command", {"command": "exit 3"}))


def play(folder: Path, columns: int, **env: str) -> Visitor:
    """The visit, from the first line to the last; its screen is what a person has seen."""
    (folder / "main.py").write_text("print('hi')\n")
    read = calls(("read_file", {"path": "main.py"}))
    script: list[Answer] = [read, THINKS, EDIT, RUN, FAILS, says("Done: it says *hello* now.")]
    with ScriptedServer(script) as server:
        env = {"MM_BASE_URL": server.url, "MM_MODEL": "tiny", **env}
        with Visitor(cwd=folder, env=env, columns=columns, program=STILL) as mm:
            mm.prompt(1)
            mm.type("What does main.py do?")
            mm.prompt(2)
            mm.type("Say hello, and try it.")
            for number, said in enumerate("yyn", start=1):
                mm.see(rf"(allow\?(.|\n)*?){{{number}}}›$")
                mm.type(said)
            mm.prompt(3)
            mm.type("/sessions")
            mm.prompt(4)
            mm.type("/quit")
            assert mm.leave() == 0
    return mm
