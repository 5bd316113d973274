"""How far the people of a project agree beyond what chance gives: on its blind checks, and on all that several have
answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plcore.crowd import (
    LEAST_ROWS,
    Agreement,
    cohen_kappa,
    gwet_ac1,
    krippendorff_alpha,
    votes_by_label,
)
from workflow.people.person_figures import CountedShare

if TYPE_CHECKING:
    from workflow.common.votes import Vote
    from workflow.people.said import Said

RESAMPLES = 400
"""Of the rows, for an interval."""
SEED = 0
READINGS = (
    (0.8, "People agree well beyond chance."),
    (0.67, "People agree beyond chance, well enough for most uses."),
    (0.4, "People agree more than by chance, but often not: look at where they differ."),
    (0.0, "People hardly agree more than by chance: the guidelines may be unclear, or somebody guesses."),
)
LEAST = "People agree less than by chance: two of them may understand the classes in opposite ways."


@dataclass(frozen=True)
class Figure:
    """value, low, high : with its interval of 95 %, NaN where there is none      reason : why there is none, else ""
    n_rows : rows, or labels of rows, that two people or more have answered
    """

    value: float
    low: float
    high: float
    n_rows: int
    reason: str

    @property
    def reading(self) -> str:
        """What it says, in a plain sentence."""
        if self.reason:
            return self.reason
        return next((words for least, words in READINGS if self.value >= least), LEAST)


@dataclass(frozen=True)
class AgreementOf:
    """Of some votes. alpha : Krippendorff's, answers being the same or not      on_sets : counting what two sets share
    ac1 : Gwet's      by_label : alpha of each label, where single labels are asked about; else empty
    """

    alpha: Figure
    on_sets: Figure
    ac1: Figure
    by_label: tuple[tuple[str, Figure], ...]


@dataclass(frozen=True)
class Pair:
    """Two people: n_rows that both have answered, in how many they said the very same, and Cohen's kappa."""

    one: int
    other: int
    n_rows: int
    same: int
    kappa: Figure

    @property
    def share(self) -> CountedShare:
        """Of the rows that both have answered."""
        return CountedShare(self.same, self.n_rows)


@dataclass(frozen=True)
class TeamAgreement:
    """checks : on blind checks, which are random      everywhere : on all; rows that a strategy chose are the hard
    ones, which biases it down      pairs : everybody with everybody who share a row
    """

    checks: AgreementOf
    everywhere: AgreementOf
    pairs: tuple[Pair, ...]


def agreement_of(said: Said) -> TeamAgreement:
    """The agreement of everybody whose answers count."""
    votes = [one for one in said.votes if one.person_id not in said.aside]
    return TeamAgreement(_of([one for one in votes if one.check]), _of(votes), _pairs(votes))


def _of(votes: Sequence[Vote]) -> AgreementOf:
    triples = _triples(votes)
    if not triples:
        nobody = Figure(float("nan"), float("nan"), float("nan"), 0, "Nobody has answered any of them yet.")
        return AgreementOf(nobody, nobody, nobody, ())
    cells = [
        (one.row, one.person_id, one.label, one.names == {"yes"}) for one in votes if one.label is not None
    ]
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
    """Votes as `plcore.crowd` reads them; every label of a row is a row of its own there."""
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
