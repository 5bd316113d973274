"""Figures by person: of everyone, for owners and reviewers; for each annotator, their own."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

import numpy as np
import numpy.typing as npt

from db import answers, entries
from db.answers import SaidEntry
from plcore.crowd import (
    LEAST_ROWS,
    Agreement,
    DawidSkene,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    too_fast,
    votes_by_label,
    who_is_guessing,
)
from plcore.evaluation import wilson_interval
from plcore.loop import VERDICTS, EntryKind, asides_after
from workflow.access import Right
from workflow.answering.asked import batch_of
from workflow.answering.history import SECOND
from workflow.log.reading import Vote, read_class_changes
from workflow.projects.figures import FEWEST_MEASURED, SIMULATED
from workflow.rows.finding import names_of
from workflow.seat import Seat

# Answers of people in a project, read once for all their figures.

Place = tuple[int, str | None]
"""A row, and the label of it that is asked about; None: the whole row."""


@dataclass(frozen=True)
class Said:
    """The answers in a project. log : every entry about a row that was not withdrawn, in order      votes : in the
    order they were given
    aside : people whose answers are excluded      names : {person: name} of everyone"""

    log: Sequence[SaidEntry]
    votes: Sequence[Vote]
    aside: frozenset[int]
    names: Mapping[int, str]

    def by_place(self) -> dict[Place, list[Vote]]:
        """The votes of each place, including excluded ones."""
        found: dict[Place, list[Vote]] = defaultdict(list)
        for one in self.votes:
            found[one.row, one.label].append(one)
        return found


def read_said(seat: Seat, right: Right) -> Said:
    """Read the answers of a project. Raises NotAllowed unless the seat's person has this right, NotFound."""
    with seat.learner(right) as opened:
        kind, learner = opened.kind, opened.learner
    # Others may use the learner meanwhile: votes only use what it derives from the table and the class changes.
    with seat.reading(right) as reading:
        log = answers.said(reading.session, reading.project.id)
        changes = read_class_changes(reading.session, reading.project.id)
        names = names_of(reading.session)
    aside = frozenset(int(one) for one in asides_after(changes))
    given = [one for one in log if one.note != SIMULATED]  # the simulated person of a dry run knows the hidden truth
    return Said(log, kind.votes_of(learner, given), aside, names)


# The figures of one person: how much, how fast, how accurate, and how often others and the model agree with them.

LONGEST = 300.0
"""Seconds: longer than this on one question is a break, and does not count for the pace."""


@dataclass(frozen=True)
class CountedShare:
    """A count out of a total. right : may be fractional, if each counts partially"""

    right: float
    of: int

    @property
    def enough(self) -> bool:
        """Whether there are enough to show a figure; otherwise a sentence replaces it."""
        return self.of >= FEWEST_MEASURED

    @property
    def value(self) -> float:
        """The share; NaN without a total."""
        return self.right / self.of if self.of else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95% confidence interval."""
        low, high = wilson_interval(self.value, self.of)
        return float(low), float(high)


@dataclass(frozen=True)
class Pace:
    """The pace by kind of answer. kind : of answer      seconds : the median      answers : how many it is computed
    from"""

    kind: str
    seconds: float
    answers: int


@dataclass(frozen=True)
class PersonFigures:
    """One line of the Team page.

    answers : answers including "cannot tell", without simulated ones
    pace : by kind of answer, those given most often first      seconds : the median of all; None before the first
    unsure, none, bad : shares of the answers
    checks : right on blind checks whose label is known (`against`)
    others : agreement with others, over the places that both have answered; a place counts once, by the share of the
        others who gave exactly the same answer
    model : answers with one class that matched the prediction when the question was shown
    warnings : sentences, each with its evidence      aside : whether their answers are excluded
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
    """Return the figures of one person, without warnings.

    at_most : None, or a step: shares that use others' answers or known labels count only the first answers, to a
        multiple of the step, so that they do not reveal whether the latest answer was right"""
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
    """Return the person's answers, one per question: without skips and simulated answers."""
    return [
        one
        for one in said.log
        if one.person_id == person_id
        and one.kind not in (EntryKind.SKIP, *VERDICTS)
        and one.note != SIMULATED
        and not one.token.endswith(SECOND)
    ]


def warnings(said: Said) -> dict[int, tuple[str, ...]]:
    """Return {person: sentences} for anyone who seems to guess or is much too fast. Excluded people get warnings, too,
    but their answers are not used to judge others."""
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
        others = [time for one, spent in times.items() if one not in said.aside and one != person_id for time in spent]
        pace = too_fast(times[person_id], others)
        if pace.too_fast:
            found[person_id].append(f"Much faster than the others. {pace.sentence}")
    return {person_id: tuple(sentences) for person_id, sentences in found.items() if sentences}


def _guessing(votes: Sequence[Vote]) -> Iterable[tuple[int, str]]:
    """Find people who seem to guess, with the evidence, on shared places."""
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
    """Return the reference labels for a person's vote: the verdict, else the most frequent answer of the others; None
    if there is none."""
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
    """Return 1 if the vote is right on a blind check, 0 if it is wrong; None if it is not on a check, or the label is
    unknown."""
    if not one.check:
        return None
    right = right_answer(one, _others(one, places, aside))
    return None if right is None else float(one.names == right)


def _same(one: Vote, places: dict[Place, list[Vote]], aside: frozenset[int]) -> float | None:
    """Return the share of the others there who gave exactly the same answer; None if there are none."""
    others = _others(one, places, aside)
    return sum(other.names == one.names for other in others) / len(others) if others else None


def _share(each: Sequence[float], step: int | None) -> CountedShare:
    kept = each if step is None else each[: len(each) // step * step]
    return CountedShare(sum(kept), len(kept))


def _times(own: Sequence[SaidEntry]) -> list[tuple[str, float]]:
    """Return (kind, seconds) of answers to one row without a break. The rows of a batch share the batch's time."""
    alone = [one for one in own if batch_of(one.asked) is None]
    return [(one.kind, one.seconds) for one in alone if one.seconds is not None and one.seconds <= LONGEST]


# Inter-annotator agreement beyond chance in a project: on its blind checks, and on all places that several people have
# answered.

RESAMPLES = 400
"""Resamples of the rows for a confidence interval."""
SEED = 0
READINGS = (
    (0.8, "Annotators agree well beyond chance."),
    (0.67, "Annotators agree beyond chance, well enough for most uses."),
    (0.4, "Annotators agree more than by chance, but often differ: look at the disputes."),
    (0.0, "Annotators agree only slightly more than by chance: the guidelines may be unclear, or someone is guessing."),
)
LEAST = "Annotators agree less than by chance: two of them may understand the classes in opposite ways."


@dataclass(frozen=True)
class Figure:
    """A figure of agreement. value, low, high : with its 95% confidence interval, NaN if there is none      reason :
    why there is none, else ""
    n_rows : rows, or labels of rows, that two people or more have answered"""

    value: float
    low: float
    high: float
    n_rows: int
    reason: str

    @property
    def so_far(self) -> str:
        """How many of the required rows there are; "" once there are enough."""
        return f"{self.n_rows} of {LEAST_ROWS} shared rows" if self.n_rows < LEAST_ROWS else ""

    @property
    def reading(self) -> str:
        """The figure's meaning in a plain sentence."""
        if self.reason:
            return self.reason
        return next((words for least, words in READINGS if self.value >= least), LEAST)


@dataclass(frozen=True)
class AgreementOf:
    """Agreement on some votes. alpha : Krippendorff's, for answers that are the same or not      on_sets : the same,
    with partial credit for overlapping sets
    ac1 : Gwet's      by_label : alpha of each label, if single labels are asked about; else empty"""

    alpha: Figure
    on_sets: Figure
    ac1: Figure
    by_label: tuple[tuple[str, Figure], ...]


@dataclass(frozen=True)
class Pair:
    """Two people: n_rows that both have answered, how many of these with exactly the same answer, and Cohen's kappa."""

    one: int
    other: int
    n_rows: int
    same: int
    kappa: Figure

    @property
    def share(self) -> CountedShare:
        """The share of the rows both answered on which they agree."""
        return CountedShare(self.same, self.n_rows)


@dataclass(frozen=True)
class TeamAgreement:
    """Agreement in a team. checks : on blind checks, which are random      everywhere : on all rows; those chosen by a
    strategy are hard, which biases it downwards
    pairs : all pairs who share a row"""

    checks: AgreementOf
    everywhere: AgreementOf
    pairs: tuple[Pair, ...]


def agreement_of(said: Said) -> TeamAgreement:
    """Compute the agreement of everyone whose answers count."""
    votes = [one for one in said.votes if one.person_id not in said.aside]
    return TeamAgreement(_of([one for one in votes if one.check]), _of(votes), _pairs(votes))


def _of(votes: Sequence[Vote]) -> AgreementOf:
    triples = _triples(votes)
    if not triples:
        nobody = Figure(float("nan"), float("nan"), float("nan"), 0, "No one has answered any of them yet.")
        return AgreementOf(nobody, nobody, nobody, ())
    cells = [(one.row, one.person_id, one.label, one.names == {"yes"}) for one in votes if one.label is not None]
    return AgreementOf(
        _with_interval(krippendorff_alpha(triples, "nominal", RESAMPLES, SEED, least_rows=LEAST_ROWS)),
        _with_interval(krippendorff_alpha(triples, "set", RESAMPLES, SEED, least_rows=LEAST_ROWS)),
        _with_interval(gwet_ac1(triples, RESAMPLES, SEED, least_rows=LEAST_ROWS)),
        tuple(
            (str(label), _with_interval(krippendorff_alpha(own, least_rows=LEAST_ROWS)))
            for label, own in sorted(votes_by_label(cells).items())
        ),
    )


def _triples(votes: Iterable[Vote]) -> list[tuple[int, int, frozenset[str]]]:
    """Return votes as `plcore.crowd` reads them; every label of a row is a separate row there."""
    number: dict[tuple[int, str | None], int] = {}
    return [(number.setdefault((one.row, one.label), len(number)), one.person_id, one.names) for one in votes]


def _with_interval(found: Agreement | tuple[Agreement, float, float]) -> Figure:
    value, low, high = found if isinstance(found, tuple) else (found, float("nan"), float("nan"))
    return Figure(float(value), low, high, value.n_rows, value.reason)


def _pairs(votes: Sequence[Vote]) -> tuple[Pair, ...]:
    triples = _triples(votes)
    if not triples:
        return ()
    said: dict[int, dict[int, frozenset[str]]] = {}
    for place, person_id, names in triples:
        said.setdefault(person_id, {})[place] = names
    kappas = cohen_kappa(triples, least_rows=LEAST_ROWS)
    found = []
    for (first, second), kappa in kappas.items():
        one, other = int(str(first)), int(str(second))
        both = said[one].keys() & said[other].keys()
        if both:
            same = sum(said[one][place] == said[other][place] for place in both)
            found.append(Pair(one, other, len(both), same, _with_interval(kappa)))
    return tuple(found)


FEWEST_CONFUSED = 30
"""Fewest shared answers for showing a confusion."""
OWN_STEP = 10
"""Step of a person's own figures, in shared answers, so that no single answer is revealed as right or wrong, or as a
blind check."""


@dataclass(frozen=True)
class Team:
    """The figures of a team. people : those with warnings first, then those who have answered most; everyone who has
    answered
    against : in words, the reference for answers to blind checks"""

    people: tuple[PersonFigures, ...]
    agreement: TeamAgreement
    against: str


@dataclass(frozen=True)
class PersonConfusion:
    """Answers of one person, by the true label of the row: shares (m, m), [is, said], by the model of Dawid and
    Skene."""

    classes: tuple[str, ...]
    shares: npt.NDArray[np.float64]
    n_shared: int


def log_seq(seat: Seat) -> int:
    """Return the seq of the latest entry: the figures change only with it. Raises NotAllowed unless the person may
    answer."""
    with seat.reading(Right.ANSWER) as reading:
        return entries.last_seq(reading.session, reading.project.id)


def team(seat: Seat) -> Team:
    """Return the figures of everyone, and inter-annotator agreement. Raises NotAllowed unless the person reviews,
    NotFound."""
    said = read_said(seat, Right.REVIEW)
    told = warnings(said)
    found = [replace(figures_of(said, person_id), warnings=told.get(person_id, ())) for person_id in _people(said)]
    found.sort(key=lambda one: (not one.warnings or one.aside, -one.answers, one.name))
    return Team(tuple(found), agreement_of(said), _against(said))


def mine(seat: Seat) -> PersonFigures:
    """Return the person's own figures. Those that use others' answers grow in steps of OWN_STEP. Raises NotAllowed,
    NotFound."""
    said = read_said(seat, Right.ANSWER)
    return figures_of(said, seat.person_id, at_most=OWN_STEP)


def confusion(seat: Seat, person_id: int) -> PersonConfusion | None:
    """Return one person's confusion, on places with several answers; None if no one shares an answer with them.

    Raises NotAllowed unless the seat's person reviews, NotFound.
    """
    said = read_said(seat, Right.REVIEW)
    votes = [one for one in said.votes if one.person_id == person_id or one.person_id not in said.aside]
    people_at: dict[Place, set[int]] = {}
    for one in votes:
        people_at.setdefault((one.row, one.label), set()).add(one.person_id)
    shared = [one for one in votes if len(people_at[one.row, one.label]) > 1]
    own = sum(one.person_id == person_id for one in shared)
    if not own:
        return None
    model = DawidSkene().fit(_triples(shared))
    classes = tuple(str(name) for name in model.classes_)
    return PersonConfusion(classes, np.asarray(model.confusion_[person_id]), own)


def _people(said: Said) -> list[int]:
    return sorted({one.person_id for one in said.log})


def _against(said: Said) -> str:
    """Return the reference for blind checks in words."""
    asked = [one for one in said.votes if one.check]
    known = sum(one.known is not None for one in asked)
    if known and known == len(asked):
        return "Held against the label that a verdict gives."
    if known:
        return "Compared with the label of a verdict, or else with the majority of the others."
    return "Compared with the majority of the others, without the person's own answer."
