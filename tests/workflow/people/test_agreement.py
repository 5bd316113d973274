"""Agreement of the people of a project: which votes go in, and what is said where there is no figure."""

from __future__ import annotations

import pytest

from plcore.crowd import LEAST_ROWS, cohen_kappa, gwet_ac1, krippendorff_alpha
from tests.workflow.people.test_person_figures import ADA, BEN, CEM, crowd, said, vote
from workflow.log.reading import Vote
from workflow.people.figures import LEAST, READINGS, Figure, agreement_of

YES_NO = frozenset({"yes", "no"})


def test_the_figures_are_those_of_the_library() -> None:
    votes = crowd()
    triples = [(one.row, one.person_id, one.names) for one in votes]
    found = agreement_of(said(votes))
    assert found.everywhere.alpha.value == pytest.approx(float(krippendorff_alpha(triples)), abs=1e-12)  # type: ignore[arg-type]
    assert found.everywhere.ac1.value == pytest.approx(float(gwet_ac1(triples)), abs=1e-12)  # type: ignore[arg-type]
    assert found.everywhere.alpha.low < found.everywhere.alpha.value < found.everywhere.alpha.high
    assert found.everywhere.alpha.n_rows == 60
    pairs = {(one.one, one.other): one for one in found.pairs}
    kappas = cohen_kappa(triples)
    assert {key: one.kappa.value for key, one in pairs.items()} == {
        key: float(k) for key, k in kappas.items()
    }
    by_hand = sum(votes[3 * row].names == votes[3 * row + 1].names for row in range(60))
    assert (pairs[ADA, BEN].same, pairs[ADA, BEN].n_rows) == (by_hand, 60)
    assert pairs[ADA, BEN].share.value == by_hand / 60


def test_who_is_set_aside_does_not_count() -> None:
    votes = crowd()
    without = agreement_of(said(votes, aside=[CEM]))
    assert without.everywhere.alpha.value > agreement_of(said(votes)).everywhere.alpha.value
    assert [(one.one, one.other) for one in without.pairs] == [(ADA, BEN)]


def test_blind_checks_are_measured_alone_and_few_rows_say_why_there_is_no_figure() -> None:
    votes = [one._replace(check=one.row < LEAST_ROWS - 1) for one in crowd()]
    found = agreement_of(said(votes))
    assert found.checks.alpha.n_rows == LEAST_ROWS - 1
    assert found.checks.alpha.reading == found.checks.alpha.reason
    assert "29 rows" in found.checks.alpha.reason
    assert found.everywhere.alpha.reason == ""
    nobody = agreement_of(said())
    assert nobody.checks.alpha.reading.startswith("Nobody has answered")
    assert nobody.pairs == ()
    assert agreement_of(said([vote(0, ADA, "ant"), vote(1, BEN, "ant")])).pairs == ()


def test_label_vectors_are_measured_by_label_too() -> None:
    votes = [
        Vote(row, label, who, frozenset([word]), YES_NO, None, False, None)
        for row in range(40)
        for label in ("city", "beach")
        for who, word in (
            (ADA, "yes" if row % 2 else "no"),
            (BEN, "yes" if row % 2 or label == "city" else "no"),
        )
    ]
    found = agreement_of(said(votes)).everywhere
    assert [label for label, _ in found.by_label] == ["beach", "city"]
    by_label = dict(found.by_label)
    assert by_label["beach"].value == 1
    assert by_label["city"].value < 0
    assert found.alpha.n_rows == 80


def test_every_value_has_a_plain_reading() -> None:
    readings = [Figure(value, value, value, 40, "").reading for value in (1.0, 0.7, 0.5, 0.1, -0.2)]
    assert readings == [*(words for _, words in READINGS), LEAST]
