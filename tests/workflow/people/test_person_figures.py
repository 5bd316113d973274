"""Figures of small worlds, each counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.answers import SaidEntry
from plcore.evaluation import wilson_interval
from workflow.log.reading import Vote
from workflow.people.figures import CountedShare, Said, figures_of, presses, warnings
from workflow.projects.figures import SIMULATED

ADA, BEN, CEM = 1, 2, 3
NAMES = {ADA: "Ada", BEN: "Ben", CEM: "Cem"}
CLASSES = frozenset({"ant", "bee", "cat"})
START = datetime(2026, 3, 1, tzinfo=UTC)


def vote(
    row: int,
    person: int,
    name: str,
    *,
    check: bool = False,
    known: str | None = None,
    model: str | None = None,
) -> Vote:
    right = None if known is None else frozenset([known])
    return Vote(row, None, person, frozenset([name]), CLASSES, model, check, right)


def entry(seq: int, person: int, kind: str, seconds: float | None = 2.0, **more: object) -> SaidEntry:
    values: dict[str, object] = {
        "seq": seq,
        "kind": kind,
        "row": seq,
        "label": "",
        "labels": [],
        "after": [],
        "person_id": person,
        "token": f"{person}.{seq}.0",
        "predicted": None,
        "seconds": seconds,
        "note": None,
        "at": START + timedelta(minutes=seq),
        "asked": None,
    }
    return SaidEntry(**(values | more))  # type: ignore[arg-type]


def said(votes: Sequence[Vote] = (), log: Sequence[SaidEntry] = (), aside: Sequence[int] = ()) -> Said:
    return Said(log, votes, frozenset(aside), NAMES)


def test_answers_pace_and_shares_are_counted_by_hand() -> None:
    log = [
        entry(1, ADA, "is", 1.0),
        entry(2, ADA, "is", 3.0),
        entry(3, ADA, "is", 900.0),  # a break
        entry(4, ADA, "unsure", 8.0),
        entry(5, ADA, "none", None),
        entry(6, ADA, "bad", 4.0),
        entry(7, ADA, "skip", 1.0),
        entry(8, ADA, "is", 1.0, note=SIMULATED),
        entry(9, ADA, "is", 1.0, token="1.9.0.is"),  # the second entry of one press
        entry(10, BEN, "is", 1.0),
    ]
    found = figures_of(said(log=log), ADA)
    assert (found.name, found.answers) == ("Ada", 6)
    assert [(one.kind, one.seconds, one.answers) for one in found.pace] == [
        ("is", 2.0, 2),
        ("unsure", 8.0, 1),
        ("bad", 4.0, 1),
    ]
    assert found.seconds == 3.5
    assert found.last_seen == log[8].at
    assert [(one.right, one.of) for one in (found.unsure, found.none, found.bad)] == [(1, 6)] * 3
    assert presses(said(log=log), CEM) == []
    nobody = figures_of(said(log=log), CEM)
    assert (nobody.answers, nobody.seconds, nobody.last_seen) == (0, None, None)


def test_checks_go_by_what_is_known_else_by_the_others_without_oneself() -> None:
    votes = [
        vote(0, ADA, "ant", check=True, known="ant"),
        vote(1, ADA, "ant", check=True, known="bee"),
        vote(2, ADA, "ant", check=True),
        vote(2, BEN, "bee", check=True),
        vote(2, CEM, "bee", check=True),
        vote(3, ADA, "ant", check=True),
        vote(3, BEN, "ant", check=True),
        vote(3, CEM, "bee", check=True),  # of the others one says this and one that: nobody knows
        vote(4, ADA, "ant", check=True),  # nobody else
        vote(5, ADA, "ant"),
        vote(5, BEN, "ant"),  # no check
    ]
    found = figures_of(said(votes), ADA)
    assert (found.checks.right, found.checks.of) == (1, 3)
    assert (figures_of(said(votes), BEN).checks.right, figures_of(said(votes), BEN).checks.of) == (0, 0)
    without = figures_of(said(votes, aside=[CEM]), ADA)
    assert (without.checks.right, without.checks.of) == (2, 4)
    assert figures_of(said(votes, aside=[CEM]), CEM).aside


def test_agreement_counts_a_place_once() -> None:
    votes = [
        vote(0, ADA, "ant", model="ant"),
        vote(0, BEN, "ant", model="bee"),
        vote(0, CEM, "bee"),
        vote(1, ADA, "bee", model="ant"),
        vote(1, BEN, "bee"),
        vote(2, ADA, "cat"),
    ]
    found = figures_of(said(votes), ADA)
    assert (found.others.right, found.others.of) == (1.5, 2)
    assert (found.model.right, found.model.of) == (1, 2)
    assert found.shared == 2
    several = Vote(3, None, ADA, frozenset({"ant", "bee"}), CLASSES, "ant", False, None)
    assert figures_of(said([*votes, several]), ADA).model.of == 2, "a set is no single class to compare"


def test_a_share_has_wilson_s_interval_and_few_have_none_to_show() -> None:
    low, high = wilson_interval(0.75, 20)
    assert CountedShare(15, 20).interval == (low, high)
    assert CountedShare(15, 20).enough
    assert not CountedShare(9, 9).enough
    assert np.isnan(CountedShare(0, 0).value)


def test_ones_own_figures_grow_in_steps() -> None:
    votes = [vote(row, who, "ant", check=True) for row in range(23) for who in (ADA, BEN)]
    assert figures_of(said(votes), ADA, at_most=10).checks.of == 20
    assert figures_of(said(votes), ADA, at_most=10).others.of == 20
    assert figures_of(said(votes[:18]), ADA, at_most=10).checks.of == 0


def crowd(rows: int = 60, seed: int = 0) -> list[Vote]:
    """Ada and Ben are nearly always right; Cem presses what comes."""
    rng = np.random.default_rng(seed)
    names = sorted(CLASSES)
    truth = rng.integers(3, size=rows)
    found = []
    for row in range(rows):
        for who in (ADA, BEN, CEM):
            guess = who == CEM or rng.random() < 0.05
            found.append(vote(row, who, names[rng.integers(3) if guess else truth[row]]))
    return found


@pytest.mark.parametrize("aside", [(), (CEM,)])
def test_who_guesses_is_told_of_with_the_evidence(aside: tuple[int, ...]) -> None:
    told = warnings(said(crowd(), aside=aside))
    assert list(told) == [CEM]
    assert "May be guessing. Right on" in told[CEM][0]


def test_who_is_much_too_fast_is_told_of() -> None:
    log = [entry(seq, who, "is", 0.3 if who == CEM else 3.0) for seq in range(40) for who in NAMES]
    votes = [vote(row, who, "ant") for row, who in ((0, ADA), (1, BEN), (2, CEM))]
    told = warnings(said(votes, log))
    assert list(told) == [CEM]
    assert told[CEM][0].startswith("Much faster than the others. Half of 40 answers took less than 0.3 s")
    assert warnings(said()) == {}


@given(st.permutations(range(30)), st.integers(0, 20))
def test_figures_do_not_depend_on_the_order_of_others_answers(order: list[int], seed: int) -> None:
    votes = crowd(10, seed)
    own = [one for one in votes if one.person_id == ADA]
    others = [votes[place] for place in order if votes[place].person_id != ADA]
    assert figures_of(said([*own, *others]), ADA) == figures_of(said(votes), ADA)
