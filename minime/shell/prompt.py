"""The prompt: the next line of the person, whole, from the keys typed ahead or from the line editor."""

from collections.abc import Callable

from minime.core.pieces import Piece
from minime.core.text import clean, mask
from minime.core.typed import Ahead, after_turn, go_on, is_open, together
from minime.shell.line_editor import Emptied, LineEditor
from minime.shell.paper import Paper

FIRST, MORE = "› ", "… "
HINT = "Ctrl-C again, Ctrl-D or /quit leaves"


class Prompt:
    """What is typed goes into the history, without the configured secrets."""

    def __init__(self, editor: LineEditor, paper: Paper, secrets: Callable[[], tuple[str, ...]]) -> None:
        self._editor = editor
        self._paper = paper
        self._secrets = secrets
        self._waiting = Ahead()
        self._hinted = False

    def turn_ended(self, typed: Ahead, *, went_well: bool, asked_for_consent: bool) -> None:
        """Takes what was typed while a turn ran."""
        both = together(self._waiting, typed)
        self._waiting = after_turn(both, went_well=went_well, asked_for_consent=asked_for_consent)

    def line(self) -> str | None:
        """The next line, which may hold newlines; None when the person leaves."""
        while True:
            try:
                text = self._whole()
            except EOFError:
                self._paper.line("")
                return None
            except Emptied:
                self._paper.line("")
                self._hinted = False
                continue
            except KeyboardInterrupt:
                self._paper.line("")
                if self._hinted:
                    return None
                self._hinted = True
                self._paper.line(HINT, "dim")
                continue
            self._hinted = False
            self._editor.keep(text, mask(text, self._secrets()))
            return text

    def _whole(self) -> str:
        text = clean(self._one(FIRST))
        while is_open(text):
            try:
                text = go_on(text, clean(self._one(MORE)))
            except EOFError:
                self._paper.line("")
                break
        return text

    def _one(self, prompt: str) -> str:
        shown = prompt if self._paper.is_terminal else ""
        waiting, self._waiting = self._waiting, Ahead()
        if waiting.lines:
            first, *others = waiting.lines
            self._waiting = Ahead(tuple(others), waiting.rest, waiting.ended)
            self._paper.write((Piece(f"{shown}{first}\n"),))
            return first
        if waiting.ended and not waiting.rest:
            raise EOFError
        return self._editor.read(shown, waiting.rest)
