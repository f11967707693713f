"""`read_bytes`, `parse_yaml`: a file becomes its bytes, read once; bytes become values, with their lines."""

import os
import stat
from pathlib import Path as FilePath
from typing import Any

import msgspec

from minime.core.config.shapes import Path, shown

LARGEST = 1_000_000
DEEPEST = 32
MOST_VALUES = 20_000


class Unusable(msgspec.Struct, frozen=True):
    """Why a file cannot be used; `line` is 0 where no single line is to blame."""

    text: str
    line: int = 0
    key: str = ""


class Yaml(msgspec.Struct, frozen=True):
    """What a file says, and the line on which each of its values begins, by path."""

    values: dict[Any, Any]
    lines: dict[Path, int]


class _RefusedError(Exception):
    def __init__(self, unusable: Unusable):
        self.unusable = unusable


def read_bytes(path: FilePath) -> bytes | Unusable | None:
    """The bytes of a file of at most 1 MB; None when there is no file."""
    try:
        # Without O_NONBLOCK a pipe of that name would hold mm up for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Unusable(f"cannot be read: {error.strerror}")
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return Unusable("cannot be read: it is not a file")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        return Unusable(f"cannot be read: {error.strerror}")
    finally:
        os.close(handle)
    return data if len(data) <= LARGEST else Unusable(f"is larger than {LARGEST // 1_000_000} MB")


def parse_yaml(data: bytes) -> Yaml | Unusable:
    """The mapping that a YAML document holds (an empty one for an empty document), or what is wrong with it.

    A key that stands twice is refused, and so is what grows beyond measure through aliases or nesting.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Unusable("not UTF-8 text", data.count(b"\n", 0, error.start) + 1)
    if not text.strip():
        return Yaml({}, {})
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(yaml, text, loader)
        root = yaml.compose(text, Loader=loader)
        if root is None:
            return Yaml({}, {})
        builder = _Builder(yaml)
        values = builder.value(root, ())
    except _RefusedError as refused:
        return refused.unusable
    except yaml.MarkedYAMLError as error:
        return _marked(error, text)
    except yaml.reader.ReaderError as error:
        return Unusable("holds a character that YAML does not allow", text.count("\n", 0, error.position) + 1)
    except (yaml.YAMLError, RecursionError) as error:
        return Unusable(f"not valid YAML: {' '.join(str(error).split())[:200]}")
    if values is None:
        return Yaml({}, {})
    if not isinstance(values, dict):
        return Unusable(f"expected keys and values, found {shown(values)}", root.start_mark.line + 1)
    return Yaml(values, builder.lines)


def _check_depth(yaml: Any, text: str, loader: Any) -> None:
    """Before the recursive reading: a thousand brackets must not end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise _RefusedError(Unusable("nested too deeply", event.start_mark.line + 1))


def _marked(error: Any, text: str) -> Unusable:
    mark = error.problem_mark or error.context_mark
    if error.context_mark and mark.line >= len(text.splitlines()):
        # What is still open at the end of the file is wrong where it began.
        mark = error.context_mark
    problem = error.problem or error.context or "cannot be read"
    hint = "; indent with spaces instead of tabs" if "\\t" in problem else ""
    return Unusable(f"not valid YAML: {problem}{hint}", mark.line + 1 if mark else 0)


class _Builder:
    """Values out of YAML's nodes; `lines` fills on the way."""

    def __init__(self, yaml: Any):
        self.lines: dict[Path, int] = {}
        self._yaml = yaml
        self._scalars = yaml.constructor.SafeConstructor()
        self._count = 0

    def value(self, node: Any, path: Path) -> Any:
        self._count += 1
        line = node.start_mark.line + 1
        if self._count > MOST_VALUES or len(path) > DEEPEST:
            raise _RefusedError(Unusable("too many values; does an alias repeat itself?", line))
        if isinstance(node, self._yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, self._yaml.SequenceNode):
            return [self._item(inner, (*path, place)) for place, inner in enumerate(node.value)]
        return self._scalar(node, path)

    def _item(self, node: Any, path: Path) -> Any:
        self.lines[path] = node.start_mark.line + 1
        return self.value(node, path)

    def _mapping(self, node: Any, path: Path) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for name_node, inner in node.value:
            line = name_node.start_mark.line + 1
            if not isinstance(name_node, self._yaml.ScalarNode):
                raise _RefusedError(Unusable("expected a key of plain text", line))
            # A key is its text: YAML's own reading would turn `on` and `8` into true and a number.
            name = name_node.value
            place = (*path, name)
            if name in found:
                raise _RefusedError(
                    Unusable(f"said twice, first in line {self.lines[place]}; take one away", line, name)
                )
            self.lines[place] = line
            found[name] = self.value(inner, place)
        return found

    def _scalar(self, node: Any, path: Path) -> Any:
        key = ".".join(str(part) for part in path)
        try:
            return self._scalars.construct_object(node)
        except self._yaml.YAMLError:
            raise _RefusedError(
                Unusable(f"the tag {node.tag} is not known here", node.start_mark.line + 1, key)
            ) from None
        except (ValueError, OverflowError):
            raise _RefusedError(
                Unusable(
                    f"{shown(node.value)} is no date and no number, though it looks like one; "
                    "write it in quotes",
                    node.start_mark.line + 1,
                    key,
                )
            ) from None
