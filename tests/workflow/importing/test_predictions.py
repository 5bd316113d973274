"""Imported predictions, votes and row records."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from db import entries
from plcore import LabelTable, LearnerSettings, Roles, TableError, read_cells, suggest_roles
from plcore.crowd import krippendorff_alpha
from plcore.tables import with_scores
from tests.present import present
from tests.workflow.four import four_class_project
from tests.workflow.importing.test_more_rows import anew
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, log, small_frame
from workflow import importing
from workflow.access import NotAllowed
from workflow.answering import loop
from workflow.importing import crowd, more_rows, predictions, row_records
from workflow.importing.crowd import earlier_votes, reliability
from workflow.importing.more_rows import RowsError
from workflow.importing.predictions import ScoredRow, add_predictions
from workflow.log.verifying import verify_project
from workflow.models import training
from workflow.projects import classes, managing
from workflow.rows import queue, reviewing
from workflow.rows.row import weight_words
from workflow.seat import Seat
from workflow.server.home import Home

# Predictions of another model: they weigh the candidates, exactly once, and the log has them


SENT = [ScoredRow(1, None, {"ant": 0.7, "bee": 0.2}), ScoredRow(None, "r0", {"dog": 0.25, "cat": 0.5})]


@pytest.fixture
def there(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def weights(seat: Seat) -> np.ndarray:
    with seat.learner() as opened:
        found = present(opened.learner.table.candidate_weights)
        return np.array(found)


def predictions_entries(seat: Seat) -> list:
    return log(seat.home, seat.project_id or 0)


def test_scores_become_weights_and_one_log_entry(there: Seat) -> None:
    with there.learner() as opened:
        before, names = opened.learner.candidates.copy(), list(opened.learner.classes)
        first = opened.learner.table.candidates.copy()
    found = add_predictions(there, SENT, "net 2", "k1")
    assert found[:4] == (1, 2, 2, 0)
    now = weights(there)
    assert now[1, [names.index(name) for name in ("ant", "bee")]].tolist() == [0.7, 0.2]
    assert 0 < now[1, names.index("cat")] < 1e-8
    with there.learner() as opened:
        np.testing.assert_array_equal(opened.learner.candidates, before)
        assert opened.learner.table.roles.scored_by == "net 2"
    np.testing.assert_array_equal(now > 0, first)
    (entry,) = predictions_entries(there)
    assert (entry.kind, entry.note, entry.labels[1]) == ("rows", "scores of net 2", "0")
    verify_project(there)
    assert np.array_equal(weights(Seat(anew(there.home), there.person_id, there.project_id)), now)


def test_review_counts_scored_rows_only(there: Seat) -> None:
    add_predictions(there, SENT, "net", "k1")
    found = present(reviewing.scores(there, 0.1))
    assert found.highest == 0.7
    assert found.total.seen.scored == 4, "ant and bee of row 1, cat and dog of r0"


def test_same_scores_again_store_nothing(there: Seat) -> None:
    first = add_predictions(there, SENT, "net", "k1")
    add_predictions(there, [ScoredRow(1, None, {"ant": 0.1, "bee": 0.9})], "net", "k2")
    now = weights(there)
    assert add_predictions(there, SENT, "net", "k1") == first, "also when others came meanwhile"
    assert np.array_equal(weights(there), now)
    assert len(predictions_entries(there)) == 2
    assert add_predictions(there, SENT, "net", "k3").seq == 3, "under another key it is sent again"
    assert weights(there)[1].max() == 0.7


def test_same_scores_sent_concurrently_are_stored_once(there: Seat) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: add_predictions(there, SENT, "net", "k1"), range(4)))
    assert len(set(found)) == 1
    assert len(predictions_entries(there)) == 1


def test_different_scores_sent_concurrently_are_all_stored(there: Seat) -> None:
    """From other programs, or parts of one: none is told to look at the file again."""

    def send(row: int) -> int:
        return add_predictions(there, [ScoredRow(row, None, {"ant": 0.25, "dog": 0.5})], "net", f"k{row}").seq

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(send, range(4))) == [1, 2, 3, 4]
    with there.learner() as opened:
        table = opened.learner.table
    alone = LabelTable.read(there.home.table_path(predictions_entries(there)[0].before[0]))
    for row in range(4):
        columns = {name: [place] for place, name in enumerate(alone.classes)}
        alone = with_scores(alone, {row: {"ant": 0.25, "dog": 0.5}}, columns, "net").grown.table
    np.testing.assert_array_equal(table.candidate_weights, alone.candidate_weights)
    verify_project(there)


def test_scores_racing_with_added_rows_are_refused(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def stale(*_: object) -> None:
        raise RowsError("The rows have changed.")

    monkeypatch.setattr(more_rows, "add_rows", stale)
    with pytest.raises(RowsError, match=r"have changed again and again.*Fix: send them again"):
        add_predictions(there, SENT, "net", "k1")


def test_scores_may_use_former_class_names(there: Seat) -> None:
    classes.change_classes(there, classes.classes_view(there).version, "rename", ["ant", "gnu"])
    classes.change_classes(there, classes.classes_view(there).version, "merge", ["bee", "cat"])
    classes.change_classes(there, classes.classes_view(there).version, "add", ["emu"])
    add_predictions(there, [ScoredRow(1, None, {"ant": 0.5, "cat": 0.3, "emu": 0.2})], "net", "k1")
    with there.learner() as opened:
        of_row = dict(zip(opened.learner.classes, opened.learner.table.candidate_weights[1], strict=False))
        pool = opened.learner.pool
        rows = np.array([1])
        effective = dict(zip(opened.learner.classes, pool.weights_of(rows, pool.candidates[rows])[0], strict=True))
    assert of_row
    assert effective["gnu"] == 0.5
    assert effective["cat"] == pytest.approx(0.3)
    assert effective["emu"] == 0
    verify_project(there)


def test_answers_continue_after_scores(there: Seat) -> None:
    shown = loop.next_question(there)
    loop.submit_answer(there, shown.token, "is", ["bee"])
    add_predictions(there, SENT, "net", "k1")
    shown = loop.next_question(there)
    loop.submit_answer(there, shown.token, "is", ["ant"])
    assert [one.kind for one in predictions_entries(there)] == ["is", "rows", "is"]
    verify_project(there)


def test_invalid_scores_are_refused_as_a_whole(there: Seat, subtests: pytest.Subtests) -> None:
    for wrong, words in [
        (ScoredRow(60, None, {}), "there is no row 60"),
        (ScoredRow(-1, None, {}), "there is no row -1"),
        (ScoredRow(None, "nobody", {}), "there is no row_id 'nobody'"),
        (ScoredRow(None, None, {}), "names no row, or two"),
        (ScoredRow(3, "r3", {}), "names no row, or two"),
        (ScoredRow(None, "r1", {}), "row 1 is listed twice"),
        (ScoredRow(3, None, {"nobody": 1}), "'nobody' is not a class and never was"),
        (ScoredRow(3, None, {"ant": -0.1}), "not a number of 0 or more"),
        (ScoredRow(3, None, {"ant": float("nan")}), "not a number of 0 or more"),
        (ScoredRow(3, None, {"ant": 1e308}), "a score is more than 1e\\+100. Fix: Divide all"),
    ]:
        with subtests.test(words):
            with pytest.raises(TableError, match=words) as refused:
                add_predictions(there, [*SENT, wrong], "net", "k1")
            assert "Fix:" in str(refused.value)
            assert predictions_entries(there) == []


def test_number_of_reported_problems_is_limited(there: Seat) -> None:
    sent = [ScoredRow(1_000 + row, None, {f"nobody {row}": 1}) for row in range(200)]
    with pytest.raises(TableError, match="first 50 problems"):
        add_predictions(there, sent, "net", "k1")


@pytest.mark.parametrize(("model", "key"), [("", "k"), ("net", " "), ("x" * 101, "k"), ("net", "a\nb")])
def test_model_name_and_key_lengths_are_limited(there: Seat, model: str, key: str) -> None:
    with pytest.raises(TableError, match=r"has 1 to 100 characters.*Fix:"):
        add_predictions(there, SENT, model, key)


def test_label_vectors_accept_no_scores(home: Home, owner: int) -> None:
    seat = Seat(home, owner, vector_project(home, owner))
    with pytest.raises(TableError, match="holds label vectors"):
        add_predictions(seat, SENT, "net", "k1")


def test_scores_need_owner_right_before_reading(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    eve = Seat(there.home, annotator(there.home, there.person_id, "Eve", "reviewer"), there.project_id)
    monkeypatch.setattr(predictions, "with_scores", lambda *_: pytest.fail("read"))
    with pytest.raises(NotAllowed):
        add_predictions(eve, SENT, "net", "k1")


def test_scores_weigh_like_scores_of_file(home: Home, owner: int) -> None:
    """Whether they were imported with the file or later: the same weights, texts, model and order of asking."""
    frame, scores = small_frame(), {}
    for row, sets in enumerate(frame["candidates"]):
        names = sets.split("|")
        given = np.random.default_rng(row).random(len(names)) + 0.01
        scores[row] = dict(zip(names, given.tolist(), strict=True))
    weighted = frame.assign(
        candidates=["|".join(f"{name}:{one!r}" for name, one in scores[row].items()) for row in scores]
    )
    made = LearnerSettings(model="kernelridge", control_share=0.0, test_share=0.0, truth_role="hidden")
    named = {"candidates": "candidates", "truth": "truth", "id": "id", "numbers": ("x", "y")}
    seats = []
    for table in (
        LabelTable.from_frame(weighted, Roles(form="weighted", **named)),
        LabelTable.from_frame(frame, Roles(**named)),
    ):
        project = managing.create_project(Seat(home, owner), f"p{len(seats)}", table, made)
        seats.append(Seat(home, owner, project))
    file, sent = seats
    add_predictions(sent, [ScoredRow(row, None, of_row) for row, of_row in scores.items()], "net", "k1")
    training.Worker(home, "one").look()
    np.testing.assert_array_equal(weights(sent), weights(file))
    for row in (0, 7):
        with file.learner() as one, sent.learner() as other:
            assert weight_words(other.learner.table, row) == weight_words(one.learner.table, row)
    assert queue.queue_csv(sent) == queue.queue_csv(file)
    with file.learner() as one, sent.learner() as other:
        assert other.learner.version_published is not None
        rows = np.arange(one.learner.table.n_rows)
        np.testing.assert_array_equal(other.learner.shares_of(rows), one.learner.shares_of(rows))
    assert [reviewing.options(seat).scored_by for seat in seats] == [None, "net"]


# Imported crowd votes: accuracy, guessing, inter-annotator agreement, and the people who may see them


PEOPLE = ("Ann", "Bob", "Cy", "Dee", "Eve")
ROLES = Roles(annotators=PEOPLE, numbers=("w",))


def table(rows: int = 200, seed: int = 0) -> LabelTable:
    """Four voters with 85% accuracy, and Eve, who guesses; each row has three of them; five classes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(5, size=rows)
    cells = np.full((rows, len(PEOPLE)), "", dtype=object)
    for row in range(rows):
        for who in rng.permutation(len(PEOPLE))[:3]:
            right = PEOPLE[who] != "Eve" and rng.random() < 0.85
            cells[row, who] = f"c{truth[row] if right else rng.integers(5)}"
    return LabelTable.from_cells(pd.DataFrame(cells, columns=list(PEOPLE), dtype="str").assign(w="1"), ROLES)


def test_only_guessing_voter_is_reported() -> None:
    steps: list[float] = []
    found = present(reliability(table(), steps.append))
    by_name = {one.name: one for one in found.voters}
    assert [one.name for one in found.voters if one.warning] == ["Eve"]
    assert "Random guessing would give" in by_name["Eve"].warning
    honest = [by_name[name].accuracy for name in PEOPLE[:4]]
    assert min(honest) > 0.75
    assert by_name["Eve"].accuracy < 0.5
    assert by_name["Eve"].agreement < min(by_name[name].agreement for name in PEOPLE[:4])
    assert (found.n_votes, found.n_rows, found.share) == (600, 200, 1.0)
    assert sum(one.votes for one in found.voters) == 600
    assert steps == sorted(steps)
    assert (steps[-1], found.low < found.alpha < found.high) == (1.0, True)


def test_alpha_matches_library() -> None:
    made = table(60)
    found = reliability(made)
    said = [(row, who, cell) for who in PEOPLE for row, cell in enumerate(made.cells[who]) if cell]
    assert found is not None
    assert found.alpha == pytest.approx(krippendorff_alpha(said), abs=1e-12)


def test_agreement_is_share_of_equal_answers() -> None:
    cells = pd.DataFrame({"Ann": ["a", "a", "b"], "Bob": ["a", "b", ""], "Cy": ["b", "", ""]}, dtype="str")
    roles = Roles(annotators=("Ann", "Bob", "Cy"), numbers=("w",))
    found = present(reliability(LabelTable.from_cells(cells.assign(w="1"), roles)))
    assert {one.name: one.agreement for one in found.voters} == {
        "Ann": pytest.approx(1 / 3),  # with Bob on the first row, not with Cy there, nor with Bob on the second
        "Bob": pytest.approx(1 / 3),
        "Cy": 0.0,
    }
    assert [one.votes for one in found.voters] == [3, 2, 1]
    assert math.isnan(found.alpha)
    assert "Only 2 rows" in found.why_no_alpha


def test_voter_without_shared_rows_has_no_agreement() -> None:
    cells = pd.DataFrame({"Ann": ["a", "b", ""], "Bob": ["", "", "b"], "w": ["1", "2", "3"]}, dtype="str")
    found = present(reliability(LabelTable.from_cells(cells, Roles(annotators=("Ann", "Bob"), numbers=("w",)))))
    assert all(math.isnan(one.agreement) and one.warning == "" for one in found.voters)


def test_single_voter_has_no_reliability() -> None:
    cells = pd.DataFrame({"Ann": ["a", "b"], "Bob": ["", ""], "w": ["1", "2"]}, dtype="str")
    assert reliability(LabelTable.from_cells(cells, Roles(annotators=("Ann", "Bob"), numbers=("w",)))) is None
    assert reliability(LabelTable.from_cells(cells, Roles(candidates="Ann", numbers=("w",)))) is None


def test_many_votes_are_sampled_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd, "MOST_VOTES", 300)
    found = present(reliability(table(seed=1)))
    assert (found.share, found.n_votes) == (0.5, 600)
    again = present(reliability(table(seed=1)))
    assert [one.accuracy for one in again.voters] == [one.accuracy for one in found.voters]


def test_oversized_voter_model_has_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plcore.crowd.dawid_skene.MOST_CELLS", 10)
    found = present(reliability(table(40)))
    assert all(math.isnan(one.accuracy) and not one.warning for one in found.voters)
    assert not math.isnan(found.voters[0].agreement)


def test_voter_figures_are_for_reviewers_only(home: Home, owner: int) -> None:
    made = table(40)
    project = importing.create(Seat(home, owner), "voted", made)
    seat = Seat(home, owner).at(project)
    found = present(earlier_votes(seat))
    assert found == reliability(made)
    assert earlier_votes(Seat(home, annotator(home, owner, "Rita", "reviewer")).at(project)) is not None
    with pytest.raises(NotAllowed):
        earlier_votes(Seat(home, annotator(home, owner, "Ada")).at(project))


def test_question_names_voters_to_reviewers_only(home: Home, owner: int) -> None:
    made = table(40)
    project = importing.create(Seat(home, owner), "voted", made)
    people = {owner: True, annotator(home, owner, "Rita", "reviewer"): True, annotator(home, owner, "Ada"): False}
    for person, may_see in people.items():
        asked = present(loop.next_question(Seat(home, person, project)))
        row = asked.view.row
        for one in asked.candidates:
            said = tuple(name for name in PEOPLE if made.cells[name][row] == one.label)
            assert one.voters == (said if may_see else ())
            assert one.weight.endswith("of 3 votes")


# Rows that programs send go the way of a file


NEW = {"id": "new", "x": "1.5", "y": "2", "candidates": "ant|bee", "truth": "ant"}


def count(there: Seat) -> int:
    with there.learner() as opened:
        return opened.learner.table.n_rows


def test_row_records_are_read_like_file(there: Seat) -> None:
    before = count(there)
    odd = 'two\nlines, "quoted"'
    added = row_records.append_rows(there, [NEW, {**NEW, "id": odd}])
    assert added.rows == count(there) == before + 2
    assert added[1:-2] == (2, (), (), (), (), ())
    assert added.reading.startswith(f"Read as the project's table: {before + 2} rows, ")
    with there.learner() as opened:
        table = opened.learner.table
        assert [table.id_of(row) for row in (before, before + 1)] == ["new", odd]
        assert set(opened.learner.state(before).candidates) == {"ant", "bee"}


def test_repeated_row_records_are_refused(there: Seat) -> None:
    row_records.append_rows(there, [NEW])
    before = count(there)
    with pytest.raises(TableError, match="Fix:"):
        row_records.append_rows(there, [NEW])
    assert count(there) == before
    with there.home.database.read() as session:
        assert entries.last_seq(session, there.project_id or 0) == 1


def test_existing_rows_are_skipped(there: Seat) -> None:
    row_records.append_rows(there, [NEW])
    before = count(there)
    added = row_records.append_rows(there, [NEW | {"x": "9"}, NEW | {"id": "newer", "nobody": "x"}])
    assert (added.rows, added.added) == (before + 1, 1)
    assert (added.known, added.dropped) == (("new",), ("nobody",)), "and it is said"
    with there.learner() as opened:
        assert opened.learner.table.id_of(before) == "newer"


@pytest.mark.parametrize("theirs", ["theirs", "new"])
def test_concurrent_row_additions_all_succeed(there: Seat, monkeypatch: pytest.MonkeyPatch, theirs: str) -> None:
    """Programs that send at once all get their rows added; the same rows sent twice at once are added once."""
    before, read = count(there), more_rows.read_rows

    def read_late(*given: Any) -> Any:
        found = read(*given)
        if count(there) == before:
            monkeypatch.setattr(more_rows, "read_rows", read)
            row_records.append_rows(there, [{**NEW, "id": theirs}])
        return found

    monkeypatch.setattr(more_rows, "read_rows", read_late)
    if theirs == "new":
        with pytest.raises(TableError, match="in the project already"):
            row_records.append_rows(there, [NEW])
        assert count(there) == before + 1
    else:
        assert row_records.append_rows(there, [NEW]).rows == count(there) == before + 2
        with there.learner() as opened:
            assert [opened.learner.table.id_of(row) for row in (before, before + 1)] == ["theirs", "new"]


def test_repeated_conflict_of_row_additions_is_reported(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*_: object) -> None:
        raise RowsError("The rows have changed.")

    monkeypatch.setattr(more_rows, "add_rows", add)
    before = count(there)
    with pytest.raises(RowsError, match=r"again and again while these rows were read.*Fix: send them again"):
        row_records.append_rows(there, [NEW])
    assert count(there) == before


def test_invalid_row_records_are_refused_as_a_whole(there: Seat, subtests: pytest.Subtests) -> None:
    for wrong in [[{"nobody": "x"}], [{"id": "new"}], [NEW | {"x": "far"}], [NEW | {"candidates": ""}], [{}]]:
        with subtests.test(str(wrong)):
            before = count(there)
            with pytest.raises(TableError, match="Fix:"):
                row_records.append_rows(there, [{**NEW, "id": "good"}, *wrong] if wrong[0] else wrong)
            assert count(there) == before


def test_row_records_need_right_before_reading(there: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(*_: object, **__: object) -> None:
        pytest.fail("read")

    monkeypatch.setattr(row_records, "read_upload", read)
    eve = Seat(there.home, annotator(there.home, there.person_id, "Eve", "reviewer"), there.project_id)
    with pytest.raises(NotAllowed):
        row_records.append_rows(eve, [NEW])


def test_words_read_as_missing_are_reported(home: Home, owner: int) -> None:
    cells = read_cells(b"id,text,candidates\n1,one small thing,wren|robin\n2,other thing,robin|jay\n3,third,NA\n")
    roles = replace(suggest_roles(cells), unlabelled="all")
    assert roles.ignored == ("NA",)
    project = importing.create(Seat(home, owner), "birds", LabelTable.from_cells(cells, roles))
    added = row_records.append_rows(
        Seat(home, owner, project), [{"id": "6", "text": "na", "candidates": "NA|jay"}], ["nothing-next-to-labels"]
    )
    assert any("'NA' was read as an empty cell" in note for note in added.notes)
    assert any("counts as certain" in note for note in added.notes)


def test_doubt_stops_rows_until_it_is_accepted(home: Home, owner: int) -> None:
    cells = read_cells(b"id,text,candidates\n1,one small thing,wren|robin\n2,other thing,robin|jay\n")
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    seat = Seat(home, owner, importing.create(Seat(home, owner), "birds", table))
    row = {"id": "3", "text": "a third thing", "candidates": "wren;robin"}
    with pytest.raises(TableError, match=r'Fix: .* send "accept": \["mixed-separators"\]'):
        row_records.append_rows(seat, [row])
    assert count(seat) == 2
    with pytest.raises(TableError, match="mixed-separators"):
        row_records.append_rows(seat, [row], ["another"])
    added = row_records.append_rows(seat, [row], ["mixed-separators"])
    assert (added.rows, added.added) == (3, 1)
    assert added.notes, "it is told all the same"


def test_na_next_to_labels_is_class(home: Home, owner: int) -> None:
    cells = read_cells(b"id,text,candidates\n1,one small thing,wren|robin\n2,other thing,robin|jay\n")
    table = LabelTable.from_cells(cells, suggest_roles(cells))
    project = importing.create(Seat(home, owner), "birds", table)
    added = row_records.append_rows(Seat(home, owner, project), [{"id": "6", "text": "na", "candidates": "NA|jay"}])
    assert added.new_classes == ("NA",)
