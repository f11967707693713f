"""A finding of `mm doctor`, and findings as lines for a person or as JSON."""

from typing import Literal

import msgspec

from minime.core.pieces import Piece, Pieces, Style

State = Literal["well", "worth a look", "wrong"]
MARKS: dict[State, str] = {"well": "✓", "worth a look": "!", "wrong": "✗"}
STYLES: dict[State, Style] = {"well": "green", "worth a look": "yellow", "wrong": "red"}
WIDTH = 15
"""Characters of the column that says what a finding is about."""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at: its `state`, what it is `about`, what was found, and the way to `mend`
    it, with the command to type. Only what is well has none."""

    state: State
    about: str
    text: str
    mend: str = ""


class Report(msgspec.Struct, frozen=True):
    """All findings as `--json` writes them; `well` is False when anything is wrong."""

    version: str
    well: bool
    findings: tuple[Finding, ...]


def well(about: str, text: str) -> Finding:
    """Nothing to do here."""
    return Finding("well", about, text)


def look(about: str, text: str, mend: str) -> Finding:
    """It works, and may surprise."""
    return Finding("worth a look", about, text, mend)


def wrong(about: str, text: str, mend: str) -> Finding:
    """It stands in the way."""
    return Finding("wrong", about, text, mend)


def is_well(findings: tuple[Finding, ...]) -> bool:
    """Whether nothing is wrong."""
    return not any(finding.state == "wrong" for finding in findings)


def report(version: str, findings: tuple[Finding, ...]) -> Report:
    """The findings for a program."""
    return Report(version, is_well(findings), findings)


def finding_pieces(finding: Finding) -> Pieces:
    """A finding for a person: the mark, what it is about, what was found; the way to mend it below."""
    space = " " * (WIDTH + 2)
    first, *more = finding.text.split("\n")
    lines = [f" {finding.about:<{WIDTH}}{first}\n", *(f"{space}{line}\n" for line in more)]
    head = (Piece(MARKS[finding.state], STYLES[finding.state]), *map(Piece, lines))
    if not finding.mend:
        return head
    return (*head, *(Piece(f"{space}→ {line}\n", "cyan") for line in finding.mend.split("\n")))


def summary_text(findings: tuple[Finding, ...]) -> str:
    """The last line."""
    wrongs = sum(finding.state == "wrong" for finding in findings)
    looks = sum(finding.state == "worth a look" for finding in findings)
    if not wrongs and not looks:
        return "all is well"
    parts = [f"{wrongs} {'thing is' if wrongs == 1 else 'things are'} wrong"] if wrongs else []
    parts += [f"{looks} {'is' if looks == 1 else 'are'} worth a look"] if looks else []
    return ", ".join(parts)
