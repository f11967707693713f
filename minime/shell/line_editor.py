"""A line as the person edits it: readline where the system has it, plain input where not."""

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence

from minime.core.completion import shown
from minime.shell.history import HistoryFile
from minime.shell.keyboard import Interrupts, Suspended

Offer = tuple[int, tuple[str, ...], tuple[str, ...]]
"""Where the text that is replaced begins, what could stand there, and the same as it is listed."""


class Emptied(Exception):  # noqa: N818 - a key that was pressed
    """Ctrl-C with words on the line, which is empty now."""


class LineEditor:
    """Asks for lines. `complete` gives the offers for a line up to the cursor."""

    def __init__(
        self, interrupts: Interrupts, history: HistoryFile, complete: Callable[[str], Offer | None]
    ) -> None:
        self._interrupts = interrupts
        self._history = history
        self._complete = complete
        self._last = ""
        self._offers: tuple[str, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._prompt = ""
        self._has_readline = False

    def open(self) -> None:
        """Line editing, with what was typed in earlier launches."""
        try:
            import readline
        except ImportError:
            return
        self._has_readline = True
        readline.set_auto_history(False)
        readline.parse_and_bind("set enable-bracketed-paste on")  # Python turns it off
        if "libedit" in (readline.__doc__ or ""):
            readline.parse_and_bind("bind ^I rl_complete")
        else:
            readline.parse_and_bind("tab: complete")
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self._nth_offer)
        readline.parse_and_bind("set show-all-if-ambiguous on")
        if hasattr(readline, "set_completion_display_matches_hook"):
            readline.set_completion_display_matches_hook(self._show_offers)
        for entry in self._history.read():
            readline.add_history(entry)
            self._last = entry

    def read(self, prompt: str, prefill: str = "") -> str:
        """A line, `prefill` on it already. Raises EOFError at Ctrl-D on an empty one, KeyboardInterrupt at
        Ctrl-C on an empty one, Emptied at Ctrl-C on another."""
        self._prompt = prompt
        while True:
            try:
                with self._interrupts.at_prompt(), self._filled(prefill):
                    return input(prompt)
            except Suspended:
                prefill = self._line()
                self._interrupts.suspend()
            except KeyboardInterrupt:
                if self._line().strip():
                    raise Emptied from None
                raise

    def keep(self, entry: str, kept: str) -> None:
        """The arrow keys bring `entry` back; `kept` is what later launches have of it."""
        if not entry.strip() or entry == self._last:
            return
        self._last = entry
        if self._has_readline:
            import readline

            readline.add_history(entry)
            self._history.add(kept)

    def _line(self) -> str:
        if not self._has_readline:
            return ""
        import readline

        return readline.get_line_buffer()

    @contextlib.contextmanager
    def _filled(self, text: str) -> Iterator[None]:
        if not text or not self._has_readline:
            yield
            return
        import readline

        readline.set_startup_hook(lambda: readline.insert_text(text))
        try:
            yield
        finally:
            readline.set_startup_hook(None)

    def _nth_offer(self, word: str, place: int) -> str | None:
        if place == 0:
            import readline

            line = readline.get_line_buffer()[: readline.get_endidx()]
            self._offers, self._labels = self._fitted(line, readline.get_begidx())
        return self._offers[place] if place < len(self._offers) else None

    def _fitted(self, line: str, word_begin: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The offers for the word that readline replaces, which need not begin where ours does."""
        found = self._complete(line)
        if found is None:
            return (), ()
        begin, offers, labels = found
        return tuple(line[word_begin:begin] + offer[max(0, word_begin - begin) :] for offer in offers), labels

    def _show_offers(self, substitution: str, matches: Sequence[str], longest: int) -> None:
        import readline

        width = shutil.get_terminal_size().columns
        sys.stdout.write(f"\n{shown(self._labels, width)}\n{self._prompt}{readline.get_line_buffer()}")
        sys.stdout.flush()
