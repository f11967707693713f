"""How a replay of a recorded conversation ends, in words; the rest is tried where it is done."""

from minime.core.events import Answered, Cancelled, Failed, Outcome
from minime.core.replays import Ended, replay_texts
from tests.support.values import hello_turn


def test_each_end_is_told() -> None:
    def told(outcome: Outcome) -> str:
        texts = replay_texts(((Ended(hello_turn(), outcome, 0),),))
        return next(line for text in texts.values() for line in text.splitlines() if line.startswith("end: "))

    assert told(Answered()) == "end: answered"
    assert told(Cancelled()) == "end: cancelled"
    assert told(Failed("no")) == "end: failed: no"
