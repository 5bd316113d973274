"""Building, training, replaying and describing a project with one label per row."""

from __future__ import annotations

import errno
import shutil
from dataclasses import asdict

import numpy as np
import pytest

from plcore import AnswerError, Entry, LabelTable, LearnerSettings, Roles
from plcore.arrays import array_files
from plcore.evaluation import wilson_interval
from plcore.loop import ClassChange, ClassError
from tests.disks import no_room_for_arrays
from tests.present import present
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import (
    ROLES,
    answer_next,
    newest_version,
    opened,
    small_frame,
    small_project,
    small_table,
    somebody,
)
from workflow import kinds
from workflow.access import Right, Role
from workflow.answering import loop
from workflow.kinds import KINDS, is_stored
from workflow.kinds.one_label import build, settings
from workflow.kinds.one_label import rows as mapping
from workflow.kinds.one_label.build import make_pool
from workflow.kinds.one_label.exporting import describe
from workflow.kinds.one_label.rows import MAP, named_on_map
from workflow.kinds.one_label.training import (
    FromWorker,
    choose_model,
    make_comparer,
    make_table_comparer,
    version_key,
    worker_settings,
)
from workflow.models import training
from workflow.people import members
from workflow.projects import classes
from workflow.seat import Seat
from workflow.server.home import Home, NoRoomError
from workflow.server.jobs import FairLock

# Models that a worker trains: under what name versions are kept, and which of them a learner applies


CLPL = LearnerSettings(model="clpl")


def test_worker_trains_non_incremental_models_only() -> None:
    assert worker_settings(CLPL) is CLPL
    assert worker_settings(LearnerSettings()) is None


def test_version_key_depends_on_model_settings() -> None:
    key = version_key(CLPL, 0)
    assert version_key(LearnerSettings(model="clpl", strategy="margin", train_every=9), 0) == key
    others = {version_key(CLPL, 3), version_key(LearnerSettings(model="clpl", C=2.0), 0)}
    others |= {version_key(LearnerSettings(model="clpl", seed=1), 0), version_key(LearnerSettings(model="lmplane"), 0)}
    assert len(others) == 4
    assert key not in others


@pytest.fixture
def trained(home: Home, owner: int) -> int:
    """A project with a first version of its model."""
    project = small_project(home, owner, model="clpl", train_every=1)
    worker = training.Worker(home, "one")
    (due,) = training.due(home)
    assert worker.train(due) is not None
    return project


def test_learner_loads_published_version(home: Home, owner: int, trained: int) -> None:
    with opened(home, owner, trained) as learner:
        assert learner.version_published == 0
        assert newest_version(home, trained) == 0
        key = version_key(learner.settings, 0)
        path = home.model_path(trained, key, 0)
        np.testing.assert_array_equal(
            np.load(path).argmax(axis=1).shape, learner.label_distributions.argmax(axis=1).shape
        )


@pytest.mark.parametrize("damage", ["gone", "damaged", "empty"])
def test_unreadable_version_is_ignored_until_rebuilt(home: Home, owner: int, trained: int, damage: str) -> None:
    with opened(home, owner, trained) as learner:
        fresh = type(learner)(learner.table, learner.settings)
    path = home.model_path(trained, version_key(fresh.settings, 0), 0)
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(b"no numbers" if damage == "damaged" else b"")
    look = FromWorker(home, trained, fresh, FairLock())
    look.look()
    assert fresh.version_published is None
    assert not path.exists(), "so that a worker makes it again"
    path.write_bytes(whole)
    look.look()
    assert fresh.version_published == 0
    for end in (look.settle, look.abandon, look.stop):
        end()
    assert look.fault is None


def test_changed_classes_change_version_key(home: Home, owner: int, trained: int) -> None:
    answer_next(home, owner, trained)
    classes.change_classes(Seat(home, owner, trained), 0, "add", ["zebra"])
    assert newest_version(home, trained) == -1
    (due,) = training.due(home)
    assert due.key.endswith("-c2")


# The model of projects with one true label among candidates


def test_model_is_chosen_by_hand_or_by_comparisons() -> None:
    settings = LearnerSettings(n_neighbors=7)
    chosen = choose_model(settings, "clpl", 2.0, False)
    assert chosen == LearnerSettings(n_neighbors=7, model="clpl", C=2.0)
    assert (chosen.model_in_force, chosen.is_automatic) == ("clpl", False)
    adopted = choose_model(chosen, "m3pl", None, True)
    assert adopted == LearnerSettings(n_neighbors=7, model="automatic", adopted="m3pl")
    assert (adopted.model_in_force, adopted.is_automatic) == ("m3pl", True)


def test_comparer_uses_current_classes_and_rows() -> None:
    table = LabelTable.from_frame(small_frame(), ROLES)
    changes = [ClassChange(1, "rename", ("ant", "emmet"))]
    comparer = make_comparer(table, LearnerSettings(), changes)
    assert comparer.pool.classes == ("emmet", "bee", "cat")
    assert comparer.pool.test_rows.sum() == 20
    assert comparer.pool.seq == 0
    alone = make_table_comparer(table)
    assert not alone.pool.test_rows.any()
    np.testing.assert_array_equal(alone.pool.truth, table.truth)


# The candidates of a row, as the log stores them before and after an entry


SETTINGS = LearnerSettings(test_share=0.0)


def test_labels_at_follows_answer_and_withdrawal() -> None:
    pool = make_pool(small_table(), SETTINGS)
    row = int((pool.sizes == 2).argmax())
    both = pool.names(pool.original[row])
    said = Entry(1, "is", row, "1", both[:1])
    assert pool.labels_at(said) == both
    pool.apply(said)
    assert pool.labels_at(said) == both[:1]
    back = Entry(2, "withdraw", row, "1", target=1)
    assert pool.labels_at(back) == both[:1]
    pool.apply(back)
    assert pool.labels_at(back) == both


def test_bad_item_has_no_candidates() -> None:
    pool = make_pool(small_table(), SETTINGS)
    row = int((pool.sizes == 2).argmax())
    bad = Entry(1, "bad", row, "1")
    pool.apply(bad)
    assert pool.labels_at(bad) == ()


def test_pool_applies_class_changes() -> None:
    first = small_table().classes[0]
    pool = make_pool(small_table(), SETTINGS, [ClassChange(1, "rename", (first, "renamed"))])
    row = int(pool.candidates[:, 0].argmax())
    assert "renamed" in pool.labels_at(Entry(2, "skip", row, "1"))
    with pytest.raises(ClassError, match="no such"):
        make_pool(small_table(), SETTINGS, [ClassChange(1, "rename", ("no such", "renamed"))])


def test_held_out_rows_accept_no_entries() -> None:
    pool = make_pool(small_table(), LearnerSettings(test_share=0.5))
    row = int(pool.test_rows.argmax())
    with pytest.raises(AnswerError, match="held out"):
        pool.check(Entry(1, "skip", row, "1"))


# How rows with candidates are on the map


def test_open_and_answered_rows_list_their_labels(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    said = answer_next(home, owner, project)
    question = present(loop.next_question(seat))
    loop.submit_answer(seat, question.token, "not", question.choices[:1], shown=question.shown)
    bad = present(loop.next_question(seat))
    loop.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        answered, still_open = learner.pool.answered_rows, learner.pool.open_rows
        assert set(np.flatnonzero(answered)) == {said.row, question.view.row, bad.view.row}
        assert still_open.sum() >= learner.pool.n_open
        assert not still_open[said.row]
        first, second, third = learner.pool.labels_shown([said.row, question.view.row, bad.view.row])
        assert first == said.labels
        assert second == question.choices[1:]
        assert third == ()


def test_map_names_row_like_its_question(home: Home, owner: int, project: int) -> None:
    seat = Seat(home, owner, project)
    said = answer_next(home, owner, project)
    bad = present(loop.next_question(seat))
    loop.submit_answer(seat, bad.token, "bad")
    with seat.learner() as opened:
        learner = opened.learner
        rows = list(range(learner.table.n_rows))
        named = named_on_map(learner, rows)
        left = learner.candidates.sum(axis=1)
        assert named.known.tolist() == (left == 1).tolist()
        assert learner.classes[named.classes[said.row]] == said.labels[0]
        assert named.classes[bad.view.row] == -1
        assert np.isnan(named.doubt[[said.row, bad.view.row]]).all()
        still = np.flatnonzero(learner.pool.asked.waiting() & ~learner.test_rows)
        assert len(still) > 5
        for row in still.tolist():
            question = learner.question_for(row, annotator=str(owner))
            assert learner.classes[named.classes[row]] == question.predicted
            assert named.doubt[row] == pytest.approx(1 - max(question.probabilities))
        assert MAP.label_to_ask is None, "a question is about all labels of a row"


def test_map_samples_rows_if_classes_are_many(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Seat(home, owner, project).learner() as opened:
        learner = opened.learner
        rows = list(range(learner.table.n_rows))
        every = named_on_map(learner, rows)
        monkeypatch.setattr(mapping, "MOST_SHARES", 5 * len(learner.classes))
        some = named_on_map(learner, rows)
    looked = ~np.isnan(some.doubt)
    assert 0 < looked.sum() <= 5 < (~np.isnan(every.doubt)).sum()
    np.testing.assert_array_equal(some.doubt[looked], every.doubt[looked])
    np.testing.assert_array_equal(some.known, every.known)


def test_map_names_nothing_before_first_model(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, model="plsvc"))
    with seat.learner() as opened:
        named = named_on_map(opened.learner, list(range(opened.learner.table.n_rows)))
    assert (named.classes[~named.known] == -1).all()
    assert np.isnan(named.doubt).all()


def test_map_hides_unfinished_answers_of_others(home: Home, owner: int) -> None:
    ada = somebody(home, owner, "Ada")
    project = small_project(home, owner, overlap=2, fold="majority", test_share=0.5)
    members.give_role(Seat(home, owner, project), [ada], Role.ANNOTATOR)
    said = answer_next(home, ada, project)
    with Seat(home, owner, project).learner() as opened:
        named = named_on_map(opened.learner, [said.row])
        fresh = np.flatnonzero(opened.learner.pool.fresh())
        others = named_on_map(opened.learner, fresh.tolist())
    assert (named.classes.tolist(), named.known.tolist()) == ([-1], [False])
    assert np.isnan(named.doubt).all()
    assert (others.classes >= 0).all()


# The learner of a table: the same when it is made, and after a restart, with its neighbours kept or not


BUILD_SETTINGS = LearnerSettings(n_neighbors=4)


def table() -> LabelTable:
    return LabelTable.from_frame(small_frame(), ROLES)


def test_table_of_label_vectors_is_refused() -> None:
    with pytest.raises(ValueError, match="holds label vectors"):
        build.first_learner(LabelTable.from_cells(vector_frame(), VECTOR_ROLES), BUILD_SETTINGS)


def test_untrainable_model_is_refused_early() -> None:
    learner = build.first_learner(table(), LearnerSettings(model="clpl"))
    assert learner.version_published is None
    frame = small_frame()
    frame[["x", "y"]] = 1e200
    with pytest.raises(ValueError, match=r"1e\+?200|too large|float|overflow|Row"):
        build.first_learner(LabelTable.from_frame(frame, ROLES), LearnerSettings(model="clpl"))


def test_ambiguous_rows_outside_test_set_are_asked() -> None:
    learner = build.first_learner(table(), BUILD_SETTINGS)
    several = small_frame()["candidates"].str.contains("|", regex=False).to_numpy()
    assert learner.pool.n_to_ask == int((several & ~learner.test_rows).sum()) > 0


def test_stored_table_gives_same_learner_with_or_without_graph(home: Home) -> None:
    first = build.first_learner(table(), BUILD_SETTINGS)
    table_hash = home.store_table(table())
    assert build.kept_graph(home, table_hash, BUILD_SETTINGS) is None
    build.CACHE(home, table_hash, first)
    assert build.kept_graph(home, table_hash, BUILD_SETTINGS) is not None
    assert build.kept_graph(home, table_hash, LearnerSettings(n_neighbors=5)) is None
    for _ in range(2):
        again = build.build_learner(home, table_hash, BUILD_SETTINGS)
        assert again.next_question("1") == first.next_question("1")
        np.testing.assert_array_equal(again.candidates, first.candidates)
        np.testing.assert_array_equal(again.label_distributions, first.label_distributions)
        shutil.rmtree(home.settings.home / "graphs", ignore_errors=True)


def test_neighbours_of_another_table_are_recomputed(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    table_hash = home.store_table(table())
    other = build.first_learner(LabelTable.from_frame(small_frame(30), ROLES), BUILD_SETTINGS)
    build.CACHE(home, table_hash, other)
    learner = build.build_learner(home, table_hash, BUILD_SETTINGS)
    assert "do not fit it; they are found again" in caplog.text
    assert learner.next_question("1") == build.first_learner(table(), BUILD_SETTINGS).next_question("1")
    caplog.clear()
    build.build_learner(home, table_hash, BUILD_SETTINGS)
    assert caplog.text == "", "and kept"


def test_missing_disk_space_for_arrays_is_reported(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    table_hash = home.store_table(table())
    no_room_for_arrays(monkeypatch)
    with pytest.raises(NoRoomError, match="no room left on the disk"):
        build.first_learner(table(), BUILD_SETTINGS)
    with pytest.raises(NoRoomError, match=r"Fix: make room there"):
        build.build_learner(home, table_hash, BUILD_SETTINGS)

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(array_files, "_make_room", broken)
    with pytest.raises(OSError, match="Input/output"):
        build.first_learner(table(), BUILD_SETTINGS)


def test_memory_mapped_learner_is_the_same(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = build.first_learner(table(), BUILD_SETTINGS)
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    mapped = build.first_learner(table(), BUILD_SETTINGS)
    for learner in (in_memory, mapped):
        for seq in range(1, 4):
            question = learner.next_question("1")
            learner.apply(Entry(seq, "is", question.row, "1", (question.choices[0],)))
    assert mapped.next_question("1") == in_memory.next_question("1")
    assert mapped.progress() == in_memory.progress()
    for one, other in zip(mapped.ranking(), in_memory.ranking(), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(mapped.label_distributions, in_memory.label_distributions)
    assert not in_memory.table.candidates.flags.writeable
    np.testing.assert_array_equal(mapped.table.candidates, in_memory.table.candidates)


# Card texts of rows with candidates, against the pool itself


def described(seat: Seat) -> tuple[dict, object]:
    with seat.learner(Right.OWN) as opened:
        return asdict(describe(opened, kinds.stop_rules(opened.project))), opened.learner.pool


def test_description_of_unanswered_project_has_accuracy(home: Home, owner: int) -> None:
    found, pool = described(Seat(home, owner, small_project(home, owner)))
    mean = pool.original.sum(axis=1).mean()
    assert found["before"] == f"{mean:.2f} candidates a row on average"
    assert found["after"] == f"{mean:.2f} on average, without excluded rows"
    assert found["set_aside"] == found["blind_checks"] == 0
    assert found["test_rows"] == int(pool.test_rows.sum())
    assert found["model"] == "plknn"
    (accuracy,) = found["measures"]
    assert accuracy["words"].startswith("Accuracy on test rows")
    assert accuracy["n"] == found["test_rows"]
    low, high = wilson_interval(accuracy["value"], accuracy["n"])
    assert (accuracy["low"], accuracy["high"]) == pytest.approx((float(low), float(high)))


def test_blind_checks_are_measured_by_agreement_too(home: Home, owner: int) -> None:
    seat = Seat(home, owner, small_project(home, owner, control_share=0.4, test_share=0.0))
    for _ in range(20):
        answer_next(home, owner, seat.project_id or 0)
    question = present(loop.next_question(seat))
    loop.submit_answer(seat, question.token, "bad")
    found, pool = described(seat)
    assert found["set_aside"] == 1
    assert found["blind_checks"] == int(pool.control_rows.sum()) > 0
    left = pool.sizes[~pool.bad]
    assert found["after"] == f"{left.mean():.2f} on average, without excluded rows"
    estimated, agreed, outside = found["measures"]
    assert outside["words"].startswith("Rows whose truth is outside their imported candidates")
    assert (outside["value"], outside["low"], outside["n"]) == (0.0, 0.0, agreed["n"])
    assert estimated["words"] == "Accuracy over all rows, estimated by blind checks"
    asked = pool.control_rows & pool.answered & (pool.sizes == 1)
    assert agreed["n"] == int(asked.sum())
    assert agreed["words"].startswith("Agreement on blind checks")
    assert 0 <= agreed["low"] <= agreed["value"] <= agreed["high"] <= 1
    assert np.isclose(agreed["value"] * agreed["n"], round(agreed["value"] * agreed["n"]))


def test_without_test_rows_and_checks_nothing_is_measured(home: Home, owner: int) -> None:
    found, _ = described(Seat(home, owner, small_project(home, owner, test_share=0.0)))
    assert found["measures"] == ()
    assert found["test_rows"] == 0


# Settings of projects with one true label: defaults, and stored ones


def test_kind_accepts_candidate_tables_only() -> None:
    assert settings.fits(LabelTable.from_frame(small_frame(), ROLES))
    assert not settings.fits(LabelTable.from_cells(vector_frame(), VECTOR_ROLES))


def test_settings_without_kind_are_one_label() -> None:
    kind = KINDS["one_label"]
    assert is_stored(kind, {})
    assert is_stored(kind, LearnerSettings().to_json())
    assert is_stored(kind, {"kind": "one_label"})
    assert not is_stored(kind, {"kind": "multilabel"})


def test_blind_checks_if_no_truth_can_be_held_out() -> None:
    known = LabelTable.from_frame(small_frame(), ROLES)
    without = LabelTable.from_frame(small_frame(), Roles(candidates="candidates", id="id", numbers=("x", "y")))
    empty = LabelTable.from_frame(small_frame().assign(truth=""), ROLES)
    found = [settings.default_settings(table, 0.08).control_share for table in (known, without, empty)]
    assert found == [0.0, 0.08, 0.08]


def test_third_of_known_labels_is_test_set() -> None:
    every, some = small_frame(), small_frame()
    some.loc[7, ["truth", "candidates"]] = "", "a|b|c"
    made = [settings.default_settings(LabelTable.from_frame(frame, ROLES), 0.08) for frame in (every, some)]
    assert [(one.truth_role, one.test_share) for one in made] == [("hidden", 1 / 3), ("given", 1 / 3)]


@pytest.mark.parametrize(
    ("unknown", "truth_role", "doubted"),
    [([], "given", True), ([], "hidden", False), ([7], "given", False), (range(60), "given", False)],
)
def test_truth_that_leaves_nothing_to_ask_is_doubted(unknown: list[int], truth_role: str, doubted: bool) -> None:
    frame = small_frame()
    frame.loc[list(unknown), "truth"] = ""
    frame.loc[list(unknown), "candidates"] = "a|b|c"
    table = LabelTable.from_frame(frame, ROLES)
    found = settings.doubts(table, LearnerSettings(truth_role=truth_role))
    assert [one.name for one in found] == (["nothing-to-ask"] if doubted else [])
    assert all("truth_role=hidden" in one.fix for one in found)


def test_table_without_choices_has_no_settings_doubt() -> None:
    frame = small_frame()
    frame["candidates"] = frame["truth"]
    assert settings.doubts(LabelTable.from_frame(frame, ROLES), LearnerSettings(truth_role="given")) == []


def test_drawn_settings_exist() -> None:
    assert set(LearnerSettings().to_json()) > settings.DRAWN
    made = settings.read_settings({"n_neighbors": 7})
    assert made == LearnerSettings(n_neighbors=7, strategy="apl")  # the default when none was stored
    changed = LearnerSettings(strategy="random")
    assert settings.settle_change(made, changed) == changed
    with pytest.raises(ValueError, match="n_neighbors"):
        settings.read_settings({"n_neighbors": 0})


@pytest.mark.parametrize(
    ("candidates", "known", "proposed"),
    [
        (["ant|bee|cat"], 0, "cover"),
        (["ant|bee|cat"] * 9 + ["ant"], 0, "cover"),
        (["ant|bee|cat"] * 8 + ["ant"] * 2, 0, "automatic"),
        (["ant|bee|cat"], 30, "automatic"),
        (["ant|bee", "bee|cat", "ant|cat"], 0, "automatic"),
        (["ant", "bee", "cat"], 0, "automatic"),
    ],
)
def test_coverage_strategy_is_default_for_uninformative_tables(
    candidates: list[str], known: int, proposed: str
) -> None:
    frame = small_frame()
    frame["candidates"] = [candidates[row % len(candidates)] for row in range(len(frame))]
    frame.loc[known:, "truth"] = ""
    table = LabelTable.from_frame(frame, ROLES)
    assert settings.first_strategy(table) == proposed
    assert settings.default_settings(table, 0.0).strategy == proposed


def test_weights_make_table_informative() -> None:
    frame = small_frame().drop(columns="truth")
    frame["candidates"] = "ant:0.8|bee:0.1|cat:0.1"
    roles = Roles(candidates="candidates", id="id", numbers=("x", "y"), form="weighted")
    assert settings.first_strategy(LabelTable.from_frame(frame, roles)) == "automatic"
