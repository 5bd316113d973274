"""The figures of one person: how much, how fast, how right, and how far others and the model agree with them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

from plcore.crowd import too_fast, who_is_guessing
from plcore.evaluation import wilson_interval
from plcore.loop import VERDICTS, EntryKind
from workflow.common.asked import batch_of
from workflow.common.figures import FEWEST_MEASURED, SIMULATED
from workflow.common.history import SECOND

if TYPE_CHECKING:
    from db.answers import SaidEntry
    from workflow.common.votes import Vote
    from workflow.people.said import Place, Said

LONGEST = 300.0
"""Seconds: longer over one question is a break, and says nothing of a pace."""


@dataclass(frozen=True)
class CountedShare:
    """How many of how many. right : need not be whole, where each counts by a part"""

    right: float
    of: int

    @property
    def enough(self) -> bool:
        """Whether there are enough to show a figure; with fewer a sentence stands in its place."""
        return self.of >= FEWEST_MEASURED

    @property
    def value(self) -> float:
        """NaN of none."""
        return self.right / self.of if self.of else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, of 95 %."""
        low, high = wilson_interval(self.value, self.of)
        return float(low), float(high)


@dataclass(frozen=True)
class Pace:
    """kind : of answer      seconds : the median      answers : how many it is of"""

    kind: str
    seconds: float
    answers: int


@dataclass(frozen=True)
class PersonFigures:
    """One line of the Team page.

    answers : presses that said something, "cannot tell" among them; none of the simulated oracle's
    pace : by kind of answer, those given most often first      seconds : the median of all; None before the first
    unsure, none, bad : shares of the answers
    checks : right on blind checks whose label is known (`against`)
    others : agreement with others, over the places that both have answered; a place counts once, by the share of the
        others there who said the very same
    model : answers of one class that were what the model had said when the question was shown
    warnings : sentences, each with its evidence      aside : their answers do not count
    """

    person_id: int
    name: str
    answers: int
    pace: tuple[Pace, ...]
    seconds: float | None
    last_seen: datetime | None
    unsure: CountedShare
    none: CountedShare
    bad: CountedShare
    checks: CountedShare
    others: CountedShare
    model: CountedShare
    warnings: tuple[str, ...]
    aside: bool

    @property
    def shared(self) -> int:
        """Places that others have answered too."""
        return self.others.of


def figures_of(said: Said, person_id: int, *, at_most: int | None = None) -> PersonFigures:
    """The figures of one person, without warnings.

    at_most : None, or a step: shares that go by what others said, or by what is known, count the first answers alone,
        to a multiple of it, so that they do not tell after an answer whether it was right
    """
    own = presses(said, person_id)
    times = _times(own)
    by_kind = Counter(one.kind for one in own)
    places = said.by_place()
    mine = [one for one in said.votes if one.person_id == person_id]
    checks = [right for one in mine if (right := _check(one, places, said.aside)) is not None]
    others = [same for one in mine if (same := _same(one, places, said.aside)) is not None]
    model = [float(one.names == {one.predicted}) for one in mine if one.predicted and len(one.names) == 1]
    return PersonFigures(
        person_id=person_id,
        name=said.names.get(person_id, ""),
        answers=len(own),
        pace=tuple(
            Pace(kind, median(seconds), len(seconds))
            for kind, _ in by_kind.most_common()
            if (seconds := [time for one, time in times if one == kind])
        ),
        seconds=median(time for _, time in times) if times else None,
        last_seen=max((one.at for one in said.log if one.person_id == person_id), default=None),
        unsure=CountedShare(by_kind[EntryKind.UNSURE], len(own)),
        none=CountedShare(by_kind[EntryKind.NONE], len(own)),
        bad=CountedShare(by_kind[EntryKind.BAD], len(own)),
        checks=_share(checks, at_most),
        others=_share(others, at_most),
        model=_share(model, None),
        warnings=(),
        aside=person_id in said.aside,
    )


def presses(said: Said, person_id: int) -> list[SaidEntry]:
    """The person's answers, one for each press: not what was skipped, and nothing that a simulation said."""
    return [
        one
        for one in said.log
        if one.person_id == person_id
        and one.kind not in (EntryKind.SKIP, *VERDICTS)
        and one.note != SIMULATED
        and not one.token.endswith(SECOND)
    ]


def warnings(said: Said) -> dict[int, tuple[str, ...]]:
    """{person: sentences} of whoever seems to guess or is much too fast. People who were set aside are told of too, but
    nobody is held against what they said."""
    found: dict[int, list[str]] = defaultdict(list)
    counted = [one for one in said.votes if one.person_id not in said.aside]
    everybody = sorted({one.person_id for one in said.votes})
    for person_id, sentence in _guessing(counted):
        found[person_id].append(sentence)
    for out in said.aside & set(everybody):
        ours = [*counted, *(one for one in said.votes if one.person_id == out)]
        found[out] += [sentence for person_id, sentence in _guessing(ours) if person_id == out]
    times = {person_id: [time for _, time in _times(presses(said, person_id))] for person_id in everybody}
    for person_id in everybody:
        others = [
            time
            for one, spent in times.items()
            if one not in said.aside and one != person_id
            for time in spent
        ]
        pace = too_fast(times[person_id], others)
        if pace.too_fast:
            found[person_id].append(f"Much faster than the others. {pace.sentence}")
    return {person_id: tuple(sentences) for person_id, sentences in found.items() if sentences}


def _guessing(votes: Sequence[Vote]) -> Iterable[tuple[int, str]]:
    """Who seems to guess, with the evidence, by the places that several have answered."""
    people_at: dict[Place, int] = Counter((one.row, one.label) for one in votes)
    shared = [one for one in votes if people_at[one.row, one.label] > 1]
    number: dict[Place, int] = {}
    choices: list[set[str]] = []
    triples = []
    for one in shared:
        place = number.setdefault((one.row, one.label), len(number))
        if place == len(choices):
            choices.append(set())
        choices[place] |= one.choices
        triples.append((place, one.person_id, one.names))
    if not triples:
        return
    for person_id, check in who_is_guessing(triples, [sorted(some) for some in choices]).items():
        if check.guessing:
            yield int(str(person_id)), f"May be guessing. {check.sentence}"


def right_answer(one: Vote, others: Sequence[Vote]) -> frozenset[str] | None:
    """What is held to be right, for a person's vote: what a verdict says, else what more of the others say
    than anything else; None where nobody knows."""
    if one.known is not None:
        return one.known
    said = Counter(other.names for other in others).most_common(2)
    if not said or (len(said) == 2 and said[0][1] == said[1][1]):
        return None
    return said[0][0]


def _others(one: Vote, places: dict[Place, list[Vote]], aside: frozenset[int]) -> list[Vote]:
    return [
        other
        for other in places[one.row, one.label]
        if other.person_id != one.person_id and other.person_id not in aside
    ]


def _check(one: Vote, places: dict[Place, list[Vote]], aside: frozenset[int]) -> float | None:
    """1 where the vote is right on a blind check, 0 where it is not; None where it is none, or nobody knows."""
    if not one.check:
        return None
    right = right_answer(one, _others(one, places, aside))
    return None if right is None else float(one.names == right)


def _same(one: Vote, places: dict[Place, list[Vote]], aside: frozenset[int]) -> float | None:
    """The share of the others there who said the very same; None where there are none."""
    others = _others(one, places, aside)
    return sum(other.names == one.names for other in others) / len(others) if others else None


def _share(each: Sequence[float], step: int | None) -> CountedShare:
    kept = each if step is None else each[: len(each) // step * step]
    return CountedShare(sum(kept), len(kept))


def _times(own: Sequence[SaidEntry]) -> list[tuple[str, float]]:
    """(kind, seconds) of answers to one row that took no break. The rows of a batch have shares of the batch's time."""
    alone = [one for one in own if batch_of(one.asked) is None]
    return [(one.kind, one.seconds) for one in alone if one.seconds is not None and one.seconds <= LONGEST]
