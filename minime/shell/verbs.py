"""The verbs about the configuration: each takes what it needs and a way to say a line, and gives the exit
status."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from minime.core.config.agent_yaml import agent_yaml_template
from minime.core.config.config_schema import config_schema
from minime.core.config.config_text import config_text
from minime.core.instructions import files_text
from minime.shell.config.config import Broken, load_settings
from minime.shell.config.places import FILE_NAME
from minime.shell.config.trust import remember
from minime.shell.context import context_files

Say = Callable[[str], None]
"""Takes a text without its last line end and writes it, to stdout (`say`) or stderr (`warn`)."""

DONE, FAILED, WRONG = 0, 1, 2


def init(project: Path, say: Say, warn: Say) -> int:
    """Writes a commented agent.yaml into the project; 1 when there is one already or it cannot be."""
    path = project / FILE_NAME
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(agent_yaml_template())
    except FileExistsError:
        warn(f"{path} is there already and stays as it is; mm config shows what it comes to")
        return FAILED
    except OSError as error:
        warn(f"cannot write {path}: {error.strerror}")
        return FAILED
    say(f"wrote {path}: every key is a comment, take the # before one away to set it")
    return DONE


def show_config(
    project: Path,
    *,
    environ: Mapping[str, str],
    say: Say,
    warn: Say,
    config: Path | None = None,
    options: Mapping[str, object] | None = None,
    trust: bool = False,
    start: Path | None = None,
) -> int:
    """Says the settings in effect, each with its origin, and which files of the project go with the system
    prompt of a conversation that begins in `start`; 2 with a line for each fault found in them."""
    loaded = load_settings(project, environ=environ, config=config, options=options, trust=trust)
    if isinstance(loaded, Broken):
        for line in loaded.lines:
            warn(line)
        return WRONG
    for line in loaded.notices:
        warn(line)
    say(config_text(loaded.settings).rstrip("\n"))
    files = context_files(loaded.settings, project, start)
    if files:
        say(f"\nBehind the system prompt: {files_text(files)}")
    return DONE


def trust(
    project: Path, *, environ: Mapping[str, str], ask: Callable[[str], bool], say: Say, warn: Say
) -> int:
    """Shows what the project's agent.yaml asks for beyond the harmless, and trusts it when `ask` says yes.

    1 when the answer is no, 2 when the configuration is broken.
    """
    loaded = load_settings(project, environ=environ)
    if isinstance(loaded, Broken):
        for line in loaded.lines:
            warn(line)
        return WRONG
    asks = loaded.asks
    if asks is None:
        say("nothing to trust: this project's agent.yaml asks for nothing beyond the harmless")
        return DONE
    say(f"{asks.path} asks for:")
    for want in asks.wants:
        say(f"  {want}")
    if asks.trusted:
        say("it is trusted as it is; after a change it has to be trusted anew")
        return DONE
    if not ask(f"Trust {asks.source} as it is?"):
        warn("not trusted; what is listed here stays left out")
        return FAILED
    trouble = remember(asks.key, asks.path, environ)
    if trouble is not None:
        warn(trouble)
        return FAILED
    say("trusted; after a change it has to be trusted anew")
    return DONE


def schema_config(say: Say) -> int:
    """Says the JSON Schema of agent.yaml."""
    say(json.dumps(config_schema(), indent=2, ensure_ascii=False))
    return DONE
