"""Scripted visits to the real mm: what is said in them, and what must be on disk after each step.

A walk is a tuple of steps. A step is a question (`q07 look`; its number says how many rounds of tools answer it,
`fail` that it comes to nothing after one) or a slash command. `Expected` says what the steps confirmed so far
must have left behind.
"""

import re
from collections import Counter
from pathlib import Path
from threading import Barrier

import msgspec

from minime.core.codec import decode
from minime.core.session import turns
from minime.core.values import Assistant, Session, Tool, User, question_text
from tests.support.server import Answer, Recorded, ScriptedServer, calls, fails, says

NUMBER = re.compile(r"q(\d+)")

TERMINAL = (
    "q01 look", "q02 look", "/title a title of one's own", "q03 look", "q04 look", "q05 look", "/compact",
    "q06 look", "q07 fail", "q08 look", "/new", "q09 look", "q10 look", "q11 look", "/undo", "q12 look",
    "/fork", "q13 look", "q14 look", "/compact", "q15 look", "q16 fail", "/new", "q17 look", "q18 look",
    "q19 look", "q20 look",
)  # fmt: skip
"""20 turns in four conversations, with each kind of save that the terminal knows."""

EDITOR = (
    "q01 look", "q02 look", "q03 look", "q04 look", "q05 look", "/compact", "q06 look", "q07 fail",
    "q08 look", "/new", "q09 look", "q10 look", "q11 look", "q12 look", "/fork", "q13 look", "q14 look",
    "/compact", "q15 look", "q16 fail", "/new", "q17 look", "q18 look", "q19 look", "q20 look",
)  # fmt: skip
"""The same in an editor, where /new puts the past conversation aside and keeps the id."""

ONE_SHOT = ("q05 look",)
"""One question of the command line, with two rounds of tools."""


class Model(ScriptedServer):
    """A model that answers by what it is asked. `asked` counts the requests for each question. `together` is how
    many visitors have to have asked a first question (`q1000`, `q2000`, …) before one is answered."""

    def __init__(self, together: int = 1) -> None:
        super().__init__()
        self._gate = Barrier(together, timeout=60)
        self.asked: Counter[str] = Counter()

    def _answer_to(self, request: Recorded) -> Answer:
        if request.method != "POST":
            return super()._answer_to(request)
        messages = request.json["messages"]
        if messages[-1]["content"].startswith("<conversation>"):
            return says("- the user had files looked at")
        last = max(i for i, m in enumerate(messages) if m["role"] == "user")
        question = messages[last]["content"]
        number = NUMBER.findall(question)[-1]
        with self._lock:
            self.asked[number] += 1
            first = self.asked[number] == 1 and number.endswith("000")
        if first:
            self._gate.wait()
        rounds = sum(m["role"] == "tool" for m in messages[last:])
        if rounds < wanted_rounds(question):
            return calls(("read_file", {"path": "main.py"}), first_id=rounds + 1)
        if "fail" in question:
            return fails(400, "this question is not to be answered")
        return says(f"the answer to q{number}", prompt_tokens=len(request.body) // 4)


def wanted_rounds(question: str) -> int:
    """How many rounds of tools a question takes."""
    return 1 if "fail" in question else int(NUMBER.findall(question)[-1]) % 3


def make_project(folder: Path) -> Path:
    """A project in `folder` with the file that the model looks at."""
    project = folder / "project"
    project.mkdir(parents=True)
    text = "".join(f"line {number} of a file that is looked at\n" for number in range(40))
    (project / "main.py").write_text(text, encoding="utf-8")
    return project


class Past(msgspec.Struct, frozen=True):
    """A conversation as it has to be on disk: the numbers of its questions, its errors, its title."""

    questions: tuple[str, ...] = ()
    errors: int = 0
    title: str = ""


class Expected(msgspec.Struct, frozen=True):
    """What has to be on disk: conversations that were left, and the one in hand."""

    left: tuple[Past, ...] = ()
    hand: Past = Past()

    def after(self, step: str) -> "Expected":
        """The same when `step` is done."""
        hand = self.hand
        match step.split():
            case [number, "fail"]:
                hand = msgspec.structs.replace(hand, errors=hand.errors + 1)
            case [number, "look"]:
                hand = msgspec.structs.replace(hand, questions=(*hand.questions, number[1:]))
            case ["/title", *words]:
                hand = msgspec.structs.replace(hand, title=" ".join(words))
            case ["/undo"]:
                hand = msgspec.structs.replace(hand, questions=hand.questions[:-1])
            case ["/new"]:
                return Expected((*self.left, hand))
            case ["/fork"]:
                return Expected((*self.left, hand), hand)
            case _:
                pass
        return msgspec.structs.replace(self, hand=hand)


class Found(msgspec.Struct, frozen=True):
    """A session file that was read."""

    name: str
    session: Session

    @property
    def questions(self) -> tuple[str, ...]:
        """The numbers of the questions that stand there word for word, each answered."""
        found = []
        for place, message in enumerate(self.session.messages):
            if isinstance(message, User) and not message.compacted:
                number = NUMBER.findall(question_text(message))[0]
                rest = self.session.messages[place + 1 :]
                answer = next((m for m in rest if isinstance(m, Assistant) and m.content), None)
                answered = answer is not None and answer.content == f"the answer to q{number}"
                found.append(number if answered else f"{number} without its answer")
        return tuple(found)

    def holds(self, past: Past) -> bool:
        """Whether this is that conversation, all of it."""
        there = self.questions
        return (
            turns(self.session) == len(past.questions)
            and there == past.questions[len(past.questions) - len(there) :]
            and bool(there) == bool(past.questions)
            and len(self.session.errors) >= past.errors
            and self.session.title == (past.title or self.session.title)
        )


def read_all(project: Path) -> list[Found]:
    """All session files; raises `Unreadable` for one that is not whole."""
    files = sorted((project / ".mm" / "sessions").glob("*.json"))
    return [Found(file.name, decode(file.read_bytes())) for file in files]


def fault(project: Path, expected: Expected, step: str, asked: Counter[str]) -> str:
    """What is wrong with the disk after a kill in `step`, when `expected` was confirmed before; empty: nothing
    is. `asked` are the requests that the model has seen: each but the first of a question tells that a round
    was finished."""
    found = read_all(project)
    if number := NUMBER.findall(step):
        finished = min(asked[number[0]] - 1, wanted_rounds(step))
        kept = max((_rounds(one.session, number[0]) for one in found), default=0)
        if kept < finished:
            return f"{finished} rounds were finished and {kept} are kept: {step}"
    for past in expected.left:
        match = next((one for one in found if one.holds(past)), None)
        if match is None:
            return f"a conversation that was left is gone: {past}"
        found.remove(match)
    if expected.hand == Past():
        return ""
    either = (expected.hand, expected.after(step).hand)
    if not any(one.holds(past) for one in found for past in either):
        return f"the conversation in hand is gone: {expected.hand} before {step}"
    return ""


def _rounds(session: Session, number: str) -> int:
    """The rounds of tools that are kept for a question, in its turn or pending."""
    for messages in (session.messages, session.pending.messages if session.pending else ()):
        for place, message in enumerate(messages):
            if isinstance(message, User) and NUMBER.findall(question_text(message))[:1] == [number]:
                rest = messages[place + 1 :]
                end = next((i for i, m in enumerate(rest) if isinstance(m, User)), len(rest))
                return sum(isinstance(m, Tool) for m in rest[:end])
    return 0
