"""Disputes, verdicts and inter-annotator agreement."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from db import answers
from db.entries import LogEntry
from plcore import AnswerError
from plcore.crowd import LEAST_ROWS, cohen_kappa, gwet_ac1, krippendorff_alpha
from tests.present import present
from tests.workflow.people.test_figures import ADA, BEN, CEM, crowd, said, vote
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, count_entries, opened, small_project
from workflow.access import NotFound
from workflow.answering import loop, undoing
from workflow.exporting import files
from workflow.log.reading import Vote
from workflow.log.verifying import verify_project
from workflow.people import disputes
from workflow.people.figures import LEAST, READINGS, Figure, agreement_of
from workflow.rows import reviewing
from workflow.seat import Seat

# Rows that people disagree on: which they are, in what order, and what a reviewer sees of them


def shared(chief: Seat, **settings: object) -> tuple[Seat, Seat, Seat]:
    """The seats of the owner and of two annotators at a project with two annotators per row."""
    given = {"overlap": 2, "fold": "majority", "test_share": 0.1, **settings}
    seat = chief.at(small_project(chief.home, chief.person_id, **given))
    return seat, member(seat, "Ada"), member(seat, "Ben")


def member(seat: Seat, name: str, role: str = "annotator") -> Seat:
    return replace(seat, person_id=annotator(seat.home, seat.person_id, name, role))


def say(seat: Seat, row: int, kind: str, *labels: str, note: str | None = None) -> int:
    """Answer the row as this person; returns the seq."""
    asked = loop.ask_next(seat, row)
    return loop.submit_answer(seat, asked.token, kind, labels, note=note).seq


def open_rows(seat: Seat, size: int) -> list[int]:
    """The training rows imported with this many candidates."""
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        pool = learner.pool
        return [int(row) for row in pool.train if pool.first[row].sum() == size]


def test_row_is_disputed_when_two_people_differ(chief: Seat) -> None:
    seat, ada, ben = shared(chief)
    agreed, apart, bad = open_rows(seat, 3)[:3]
    for row, other in ((agreed, ("is", "ant")), (apart, ("is", "bee")), (bad, ("bad",))):
        say(ada, row, "is", "ant")
        assert disputes.open_dispute(seat, row) is None, "one person disagrees with no one"
        say(ben, row, *other)
    found = disputes.list_disputes(seat)
    assert {one.row for one in found.lines} == {apart, bad}
    assert (found.total, found.settled, found.several, found.by_row) == (2, 0, True, True)
    assert disputes.count_open(seat) == 2
    assert {one.row: one.said for one in found.lines} == {apart: (("ant",), ("bee",)), bad: (("ant",), ())}
    assert {one.times for one in found.lines} == {(1, 1)}
    assert all(one.disagreement == 1.0 for one in found.lines)


def test_disputes_are_sorted_by_disagreement_times_doubt(chief: Seat) -> None:
    seat, ada, ben = shared(chief)
    rows = open_rows(seat, 3)[:6]
    for place, row in enumerate(rows):
        say(ada, row, "is", "ant")
        say(ben, row, *(("among", "ant", "bee") if place % 2 else ("is", "cat")))
    lines = disputes.list_disputes(seat).lines
    assert [one.worst for one in lines] == sorted((one.worst for one in lines), reverse=True)
    for one in lines:
        # ant next to ant or bee: Jaccard 1/2, one holds the other: 2/3
        assert one.disagreement == pytest.approx(1 - 2 / 3 / 2 if rows.index(one.row) % 2 else 1.0)
        dispute = present(disputes.open_dispute(seat, one.row))
        first, second = sorted(dispute.shares.values(), reverse=True)[:2]
        assert one.doubt == pytest.approx(1 - (first - second))
        assert one.worst == pytest.approx(one.disagreement * one.doubt)


def test_dispute_without_model_has_no_shares(chief: Seat) -> None:
    seat, ada, ben = shared(chief, model="plsvc", strategy="random")
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "is", "bee")
    (line,) = disputes.list_disputes(seat).lines
    assert (line.doubt, line.worst) == (None, 1.0)
    dispute = present(disputes.open_dispute(seat, row))
    assert (dispute.shares, dispute.why_not) == ({}, disputes.NO_MODEL)


def test_opened_dispute_lists_opinions(chief: Seat) -> None:
    seat, ada, ben = shared(chief)
    row = open_rows(seat, 2)[0]
    first, second = loop.ask_next(ada, row).choices
    say(ada, row, "is", first, note="The stripes.")
    say(ben, row, "bad")
    disputes.discuss(seat, row, "  Who took this picture?  ")
    dispute = present(disputes.open_dispute(seat, row))
    assert [(one.person, one.labels, one.note) for one in dispute.opinions] == [
        ("Ada", (first,), "The stripes."),
        ("Ben", (), None),
    ]
    assert all(one.seconds is not None and one.seconds >= 0 for one in dispute.opinions)
    assert (dispute.view.row, dispute.candidates) == (row, (first, second))
    assert dispute.classes == ("ant", "bee", "cat")
    assert sum(dispute.shares.values()) == pytest.approx(1)
    assert [(one.person, one.text) for one in dispute.notes] == [("owner", "Who took this picture?")]


def test_dispute_hides_model_shares_of_blind_checks(chief: Seat) -> None:
    seat, ada, ben = shared(chief, control_share=0.4)
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        checks = {int(row) for row in learner.pool.control_left()}
    row = None
    for _ in range(60):
        asked = loop.next_question(ada)
        loop.submit_answer(ada, asked.token, "is", asked.choices[:1])
        if asked.view.row in checks:
            row = int(asked.view.row)
            break
    assert row is not None
    question = loop.ask_next(ben, row, drawn=True)
    loop.submit_answer(ben, question.token, "is", question.choices[-1:])
    dispute = present(disputes.open_dispute(seat, row))
    assert (dispute.shares, dispute.why_not) == ({}, disputes.BLIND_CHECK)
    assert next(one for one in disputes.list_disputes(seat).lines if one.row == row).doubt is None


def test_project_without_overlap_has_no_disputes(chief: Seat) -> None:
    alone = chief.at(small_project(chief.home, chief.person_id, "alone"))
    found = disputes.list_disputes(alone)
    assert (found.lines, found.several, found.by_row) == ((), False, True)
    vectors = chief.at(vector_project(chief.home, chief.person_id))
    found = disputes.list_disputes(vectors)
    assert (found.lines, found.several, found.by_row) == ((), False, False)
    assert disputes.count_open(vectors) == 0
    assert disputes.open_dispute(vectors, 0) is None


# Verdicts: one entry that ends a dispute until it is withdrawn; and notes, which resolve nothing


@pytest.fixture
def dispute(chief: Seat) -> tuple[Seat, Seat, Seat, int]:
    """The owner, Ada and Ben at a project, and the row that these two disagree on: ant, or bee."""
    seat, ada, ben = shared(chief)
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant", note="It has no wings.")
    say(ben, row, "is", "bee")
    return seat, ada, ben, row


def token_of(seat: Seat, row: int) -> str:
    found = present(disputes.open_dispute(seat, row))
    return found.token


def log_of(seat: Seat, row: int) -> list[LogEntry]:
    with seat.reading() as reading:
        return answers.of_row(reading.session, reading.project.id, row)


def candidates(seat: Seat, row: int) -> tuple[str, ...]:
    with opened(seat.home, seat.person_id, seat.project_id or 0) as learner:
        return tuple(learner.state(row).candidates)


@pytest.mark.parametrize("labels", [("cat",), ("ant", "bee"), ()], ids=["one", "several", "bad item"])
def test_verdict_is_one_entry_and_ends_dispute(dispute: tuple[Seat, Seat, Seat, int], labels: tuple[str, ...]) -> None:
    seat, _, _, row = dispute
    saved = disputes.settle(seat, row, token_of(seat, row), labels, "  Seen under the lens.  ")
    *_, last = log_of(seat, row)
    assert (saved.kind, saved.labels, saved.repeated) == ("verdict", labels, False)
    assert (last.seq, last.kind, last.labels, last.note) == (saved.seq, "verdict", labels, "Seen under the lens.")
    assert (last.person_id, last.strategy) == (seat.person_id, "dispute")
    assert (last.before, last.after) == (("ant", "bee", "cat"), labels), "as its person has the row"
    assert candidates(seat, row) == labels
    assert disputes.open_dispute(seat, row) is None
    found = disputes.list_disputes(seat)
    assert (found.total, found.settled) == (0, 1)
    assert verify_project(seat)[0].entries == 3


def test_doubled_verdict_is_stored_once(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    token = token_of(seat, row)
    first = disputes.settle(seat, row, token, ["ant"])
    again = disputes.settle(seat, row, token, ["bee"])
    assert (again.repeated, again.seq, again.labels) == (True, first.seq, ("ant",))
    assert count_entries(seat.home) == 3


def test_outdated_verdict_of_second_reviewer_is_refused(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    eve = member(seat, "Eve", "reviewer")
    mine, theirs = token_of(seat, row), token_of(eve, row)
    disputes.settle(eve, row, theirs, ["bee"])
    with pytest.raises(loop.StaleQuestion, match="not any more"):
        disputes.settle(seat, row, mine, ["ant"])
    with pytest.raises(loop.StaleQuestion, match="open it again"):
        disputes.settle(seat, row, theirs, ["ant"])
    assert candidates(seat, row) == ("bee",)


def test_settled_row_is_closed_to_later_answers(chief: Seat) -> None:
    seat, ada, ben = shared(chief, overlap=3)
    cem, row = member(seat, "Cem"), open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(ben, row, "is", "bee")
    shown = loop.ask_next(cem, row)
    disputes.settle(seat, row, token_of(seat, row), ["cat"])
    with pytest.raises(loop.StaleQuestion):
        loop.submit_answer(cem, shown.token, "is", ["ant"])
    with pytest.raises(AnswerError, match="no longer open"):
        loop.ask_next(cem, row)
    undoing.undo(ada)  # takes an answer back; that is not a question of the verdict
    assert candidates(seat, row) == ("cat",)
    found = reviewing.open_row(ben, row)
    reviewing.correct(ben, row, found.token, "is", ["ant"])
    assert candidates(seat, row) == ("cat",)
    assert disputes.count_open(seat) == 0
    verify_project(seat)


def test_verdict_can_be_undone_and_redone(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    before = candidates(seat, row)
    saved = disputes.settle(seat, row, token_of(seat, row), ["cat"])
    assert undoing.undo(seat, saved.seq) is not None
    assert candidates(seat, row) == before
    assert disputes.count_open(seat) == 1
    again = present(undoing.redo(seat, saved.seq))
    assert (again.kind, candidates(seat, row)) == ("verdict", ("cat",))
    verify_project(seat)


def test_invalid_verdict_is_refused(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    token, other = token_of(seat, row), open_rows(seat, 3)[1]
    with pytest.raises(AnswerError, match="not a class"):
        disputes.settle(seat, row, token, ["dog"])
    with pytest.raises(AnswerError, match="at most 2,000"):
        disputes.settle(seat, row, token, ["ant"], "x" * 2001)
    with pytest.raises(loop.StaleQuestion, match="do not disagree"):
        disputes.settle(seat, other, f"{seat.person_id}.{other}.0", ["ant"])
    with pytest.raises(NotFound):
        disputes.settle(seat, 999, token, ["ant"])
    with pytest.raises(NotFound):
        disputes.open_dispute(seat, 999)
    assert count_entries(seat.home) == 2


def test_project_of_label_vectors_has_no_verdicts(chief: Seat) -> None:
    vectors = chief.at(vector_project(chief.home, chief.person_id))
    with pytest.raises(AnswerError, match="settle them by a correction on Review"):
        disputes.settle(vectors, 0, "1.0.0", ["any"])


def test_notes_are_read_in_order_they_were_written(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    eve = member(seat, "Eve", "reviewer")
    disputes.discuss(seat, row, "Who took it?")
    disputes.discuss(eve, row, "I did.")
    found = present(disputes.open_dispute(seat, row))
    assert [(one.person, one.text) for one in found.notes] == [("owner", "Who took it?"), ("Eve", "I did.")]
    with pytest.raises(AnswerError, match="empty"):
        disputes.discuss(seat, row, "  ")
    with pytest.raises(NotFound):
        disputes.discuss(seat, 999, "Where?")
    assert count_entries(seat.home) == 2, "a note is not an entry"


@pytest.mark.parametrize(
    ("kind", "labels", "stored"),
    [
        ("is", ("cat",), ("cat",)),
        ("among", ("bee", "cat"), ("bee", "cat")),
        ("none", (), ("cat",)),
        ("not", ("ant",), ("bee",)),
        ("bad", (), ()),
    ],
)
def test_correction_is_verdict_with_independent_answers(
    dispute: tuple[Seat, Seat, Seat, int], kind: str, labels: tuple[str, ...], stored: tuple[str, ...]
) -> None:
    seat, _, _, row = dispute
    found = reviewing.open_row(seat, row)
    saved = reviewing.correct(seat, row, found.token, kind, labels)
    assert (saved.kind, saved.labels) == ("verdict", stored)
    assert candidates(seat, row) == stored
    verify_project(seat)


def test_reviewer_who_answered_corrects_own_answer(chief: Seat) -> None:
    seat, ada, _ = shared(chief)
    row = open_rows(seat, 3)[0]
    say(ada, row, "is", "ant")
    say(seat, row, "is", "bee")
    found = reviewing.open_row(seat, row)
    assert reviewing.correct(seat, row, found.token, "is", ["ant"]).kind == "is"
    assert candidates(seat, row) == ("ant",)
    assert disputes.count_open(seat) == 0


def test_export_lists_answers_and_verdicts(dispute: tuple[Seat, Seat, Seat, int]) -> None:
    seat, _, _, row = dispute
    disputes.settle(seat, row, token_of(seat, row), ["cat"])
    view = files.export_view(seat, row + 1)
    line = view.first.iloc[row]
    assert view.sources[files.ALL]["verdict"] == 1
    assert (line["winnow_label"], line["winnow_source"], line["winnow_people"]) == ("cat", "verdict", "2")
    assert (line["winnow_annotator"], line["winnow_confidence"]) == ("owner", "1.0000")
    assert json.loads(line["winnow_answers"]) == [
        {"person": "Ada", "kind": "is", "labels": ["ant"]},
        {"person": "Ben", "kind": "is", "labels": ["bee"]},
        {"person": "owner", "kind": "verdict", "labels": ["cat"]},
    ]
    others = view.first["winnow_answers"].drop(index=view.first.index[row])
    assert set(others) == {""}
    assert view.counts[files.ANSWERED] == 1, "people decided it"


# Agreement of the people of a project: the votes that count, and the message without a figure


YES_NO = frozenset({"yes", "no"})


def test_agreement_matches_library() -> None:
    votes = crowd()
    triples = [(one.row, one.person_id, one.names) for one in votes]
    found = agreement_of(said(votes))
    assert found.everywhere.alpha.value == pytest.approx(float(krippendorff_alpha(triples)), abs=1e-12)  # type: ignore[arg-type]
    assert found.everywhere.ac1.value == pytest.approx(float(gwet_ac1(triples)), abs=1e-12)  # type: ignore[arg-type]
    assert found.everywhere.alpha.low < found.everywhere.alpha.value < found.everywhere.alpha.high
    assert found.everywhere.alpha.n_rows == 60
    pairs = {(one.one, one.other): one for one in found.pairs}
    kappas = cohen_kappa(triples)
    assert {key: one.kappa.value for key, one in pairs.items()} == {key: float(k) for key, k in kappas.items()}
    by_hand = sum(votes[3 * row].names == votes[3 * row + 1].names for row in range(60))
    assert (pairs[ADA, BEN].same, pairs[ADA, BEN].n_rows) == (by_hand, 60)
    assert pairs[ADA, BEN].share.value == by_hand / 60


def test_excluded_person_does_not_count_in_agreement() -> None:
    votes = crowd()
    without = agreement_of(said(votes, aside=[CEM]))
    assert without.everywhere.alpha.value > agreement_of(said(votes)).everywhere.alpha.value
    assert [(one.one, one.other) for one in without.pairs] == [(ADA, BEN)]


def test_agreement_on_too_few_blind_checks_says_why() -> None:
    votes = [one._replace(check=one.row < LEAST_ROWS - 1) for one in crowd()]
    found = agreement_of(said(votes))
    assert found.checks.alpha.n_rows == LEAST_ROWS - 1
    assert found.checks.alpha.reading == found.checks.alpha.reason
    assert "29 rows" in found.checks.alpha.reason
    assert found.everywhere.alpha.reason == ""
    nobody = agreement_of(said())
    assert nobody.checks.alpha.reading.startswith("No one has answered")
    assert nobody.pairs == ()
    assert agreement_of(said([vote(0, ADA, "ant"), vote(1, BEN, "ant")])).pairs == ()


def test_agreement_of_label_vectors_is_given_by_label() -> None:
    votes = [
        Vote(row, label, who, frozenset([word]), YES_NO, None, False, None)
        for row in range(40)
        for label in ("city", "beach")
        for who, word in ((ADA, "yes" if row % 2 else "no"), (BEN, "yes" if row % 2 or label == "city" else "no"))
    ]
    found = agreement_of(said(votes)).everywhere
    assert [label for label, _ in found.by_label] == ["beach", "city"]
    by_label = dict(found.by_label)
    assert by_label["beach"].value == 1
    assert by_label["city"].value < 0
    assert found.alpha.n_rows == 80


def test_every_agreement_value_is_interpreted_in_words() -> None:
    readings = [Figure(value, value, value, 40, "").reading for value in (1.0, 0.7, 0.5, 0.1, -0.2)]
    assert readings == [*(words for _, words in READINGS), LEAST]
