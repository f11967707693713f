"""Messages and what a server counted in, tokens out: how much of the context window is used and left.

Nobody but the server knows its tokens. What is sent is measured in bytes, and each count that a server
reports teaches how many bytes make a token. A ratio, unlike a remembered count, stays true when the history
is made shorter.
"""

from collections.abc import Iterable
from math import ceil

import msgspec

from minime.core.config.settings import Compaction
from minime.core.images import image_urls
from minime.core.request import fit, sent
from minime.core.text import LIMIT
from minime.core.values import Assistant, Message, Session, System, Tool, Usage, User

FEWEST_BYTES = 1.0
MOST_BYTES = 6.0
"""Bytes that make a token: no text that people or programs write is outside of this for long."""

FAR_BELOW = 1_000
"""Tokens by which a server's count is below any that is possible, before mm speaks of it."""

IMAGE_BYTES = 1_500
"""An image takes from 250 to 1,500 tokens, as the model goes; more or less is learned from the counts."""

RESULT_SHARE = 4
LEAST_RESULT = 1_000
"""One result gets a quarter of the window, and so many characters in any case."""


class Gauge(msgspec.Struct, frozen=True):
    """How many bytes make a token; `counts` are the counts of a server that taught it, none: a guess that
    rather sees too many tokens."""

    bytes_per_token: float = 3.0
    counts: int = 0


class Budget(msgspec.Struct, frozen=True):
    """What a request may take, in tokens (0: not known): the context `window`, and the `limit` from which
    older turns become a summary. `tools` are the bytes of the tools' declarations, `keep` the turns that
    stay word for word; `auto`: mm may make a summary unasked. `guessed`: the window was told by nobody, so
    that it is no reason to refuse anything."""

    window: int = 0
    limit: int = 0
    tools: int = 0
    gauge: Gauge = Gauge()
    keep: int = 2
    auto: bool = True
    guessed: bool = False


class Shares(msgspec.Struct, frozen=True):
    """Tokens that each part of a conversation takes, about."""

    system: int
    tools: int
    summary: int
    questions: int
    answers: int
    results: int

    @property
    def used(self) -> int:
        """All of it."""
        return self.system + self.tools + self.summary + self.questions + self.answers + self.results


def new_budget(
    window: int, tools: int, gauge: Gauge, rules: Compaction, answer: int = 0, *, guessed: bool = False
) -> Budget:
    """The budget of a request whose tools' declarations take so many bytes, with room for an answer of so
    many tokens (0: not said) where the window leaves that much."""
    limit = min(int(window * rules.threshold), window - min(answer, window // 2))
    return Budget(window, limit, tools, gauge, rules.keep, rules.auto, guessed)


def size(messages: Iterable[Message]) -> int:
    """Bytes of `messages` as they are sent; an image counts as so much text as it takes tokens, about."""
    history = tuple(messages)
    text = sum(len(msgspec.json.encode(sent(message))) + 1 for message in history)
    return text + IMAGE_BYTES * len(image_urls(history))


def tokens(gauge: Gauge, bytes_sent: int) -> int:
    """The tokens that so many bytes make, about."""
    return ceil(bytes_sent / gauge.bytes_per_token)


def bytes_of(gauge: Gauge, count: int) -> int:
    """The bytes that so many tokens are made of, about."""
    return int(count * gauge.bytes_per_token)


def about(count: int) -> int:
    """An estimate as it is shown: with two digits that mean something."""
    return round(count, -max(0, len(str(count)) - 2))


def surely(gauge: Gauge, bytes_sent: int) -> int:
    """The tokens that so many bytes make at the very least, with what is known of the server's count."""
    return int(bytes_sent / min(MOST_BYTES, max(5.0, gauge.bytes_per_token * 1.2)))


def used(messages: Iterable[Message], budget: Budget) -> int:
    """Tokens of a request with these messages, about."""
    return tokens(budget.gauge, size(fit(messages)) + budget.tools)


def learn(gauge: Gauge, bytes_sent: int, counted: int) -> Gauge:
    """The gauge after a server counted so many tokens. Denser text is believed at once, so that a window is
    not overrun; the other way it goes in steps. A count that cannot be true teaches nothing."""
    if bytes_sent <= 0 or counted <= 0 or is_cut(bytes_sent, counted):
        return gauge
    seen = min(MOST_BYTES, max(FEWEST_BYTES, bytes_sent / counted))
    if gauge.counts and seen > gauge.bytes_per_token:
        seen = (3 * gauge.bytes_per_token + seen) / 4
    return Gauge(seen, gauge.counts + 1)


def learn_from(gauge: Gauge, before: tuple[Message, ...], turn: tuple[Message, ...], tools: int) -> Gauge:
    """The gauge after the newest answer of `turn` that was counted; `before` stood in front of the turn."""
    for place in range(len(turn) - 1, 0, -1):
        match turn[place]:
            case Assistant(usage=Usage(prompt_tokens=counted)) if counted > 0:
                return learn(gauge, size(fit(before + turn[:place])) + tools, counted)
            case _:
                pass
    return gauge


def gauge_of(session: Session, tools: int) -> Gauge:
    """What the counts in a conversation taken up again teach; a guess where it holds a summary, for the turns
    behind one may have been counted with others before them."""
    if any(isinstance(m, User) and m.compacted for m in session.messages):
        return Gauge()
    return learn_from(Gauge(), (), session.messages, tools)


def is_cut(bytes_sent: int, counted: int) -> bool:
    """Whether a server counted far fewer tokens than there can be: it has cut the prompt and not said so."""
    return 0 < counted < bytes_sent / MOST_BYTES - FAR_BELOW


def after_overflow(budget: Budget, bytes_sent: int, told: int = 0) -> Budget:
    """The budget when a request of so many bytes was refused as too long, by a server that told its window
    or did not: then three quarters of what was sent are tried."""
    sent_tokens = tokens(budget.gauge, bytes_sent)
    gauge = budget.gauge
    if told and sent_tokens <= told:  # there were more tokens than it seemed
        gauge = learn(gauge, bytes_sent, told + 1)
        sent_tokens = told + 1
    window = told or min(budget.window or sent_tokens, sent_tokens)
    limit = min(budget.limit or window, int(window * 0.8), int(sent_tokens * 0.75))
    return msgspec.structs.replace(budget, window=window, limit=limit, gauge=gauge, guessed=False)


def result_limit(budget: Budget) -> int:
    """Characters that one tool result may have at its entrance to the history."""
    if not budget.window:
        return LIMIT
    return min(LIMIT, max(LEAST_RESULT, int(budget.window / RESULT_SHARE * budget.gauge.bytes_per_token)))


def shares(session: Session, budget: Budget) -> Shares:
    """What takes the room in a conversation."""
    parts = dict.fromkeys(("system", "summary", "questions", "answers", "results"), 0)
    behind_summary = False
    for message in fit(session.messages):
        match message:
            case System():
                part = "system"
            case Assistant() if behind_summary:
                part = "summary"
            case Assistant():
                part = "answers"
            case Tool():
                part = "results"
            case User(compacted=0):
                part = "questions"
            case User():
                part = "summary"
        behind_summary = isinstance(message, User) and message.compacted > 0
        parts[part] += size((message,))
    return Shares(
        tools=tokens(budget.gauge, budget.tools),
        **{part: tokens(budget.gauge, taken) for part, taken in parts.items()},
    )
