"""The learner of a table: the same when it is made, and after a restart, with its neighbours kept or not."""

from __future__ import annotations

import errno
import shutil

import numpy as np
import pytest

from plcore import Entry, LabelTable, LearnerSettings
from plcore.arrays import array_files
from tests.disks import no_room_for_arrays
from tests.workflow.vector_world import ROLES as VECTOR_ROLES
from tests.workflow.vector_world import vector_frame
from tests.workflow.world import ROLES, small_frame
from workflow.kinds.one_label import build
from workflow.server.home import Home, NoRoomError

SETTINGS = LearnerSettings(n_neighbors=4)


def table() -> LabelTable:
    return LabelTable.from_frame(small_frame(), ROLES)


def test_a_table_of_label_vectors_is_refused() -> None:
    with pytest.raises(ValueError, match="holds label vectors"):
        build.first_learner(LabelTable.from_cells(vector_frame(), VECTOR_ROLES), SETTINGS)


def test_a_model_that_cannot_be_trained_is_refused_before_it_is_needed() -> None:
    learner = build.first_learner(table(), LearnerSettings(model="clpl"))
    assert learner.version_published is None
    frame = small_frame()
    frame[["x", "y"]] = 1e200
    with pytest.raises(ValueError, match=r"1e\+?200|too large|float|overflow|Row"):
        build.first_learner(LabelTable.from_frame(frame, ROLES), LearnerSettings(model="clpl"))


def test_ambiguous_rows_that_are_not_held_out_are_asked() -> None:
    learner = build.first_learner(table(), SETTINGS)
    several = small_frame()["candidates"].str.contains("|", regex=False).to_numpy()
    assert learner.pool.n_to_ask == int((several & ~learner.test_rows).sum()) > 0


def test_a_stored_table_gives_the_same_learner_with_its_neighbours_kept_or_not(home: Home) -> None:
    first = build.first_learner(table(), SETTINGS)
    table_hash = home.store_table(table())
    assert build.kept_graph(home, table_hash, SETTINGS) is None
    build.CACHE(home, table_hash, first)
    kept = build.kept_graph(home, table_hash, SETTINGS)
    assert kept is not None
    assert build.kept_graph(home, table_hash, LearnerSettings(n_neighbors=5)) is None
    for _ in range(2):
        again = build.build_learner(home, table_hash, SETTINGS)
        assert again.next_question("1") == first.next_question("1")
        np.testing.assert_array_equal(again.candidates, first.candidates)
        np.testing.assert_array_equal(again.label_distributions, first.label_distributions)
        shutil.rmtree(home.settings.home / "graphs", ignore_errors=True)


def test_neighbours_of_another_table_are_found_anew(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    table_hash = home.store_table(table())
    other = build.first_learner(LabelTable.from_frame(small_frame(30), ROLES), SETTINGS)
    build.CACHE(home, table_hash, other)
    learner = build.build_learner(home, table_hash, SETTINGS)
    assert "do not fit it; they are found anew" in caplog.text
    assert learner.next_question("1") == build.first_learner(table(), SETTINGS).next_question("1")
    caplog.clear()
    build.build_learner(home, table_hash, SETTINGS)
    assert caplog.text == "", "and kept"


def test_no_room_for_what_is_too_large_for_memory_is_said_in_words(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_hash = home.store_table(table())
    no_room_for_arrays(monkeypatch)
    with pytest.raises(NoRoomError, match="no room left on the disk"):
        build.first_learner(table(), SETTINGS)
    with pytest.raises(NoRoomError, match=r"Fix: make room there"):
        build.build_learner(home, table_hash, SETTINGS)

    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(array_files, "_make_room", broken)
    with pytest.raises(OSError, match="Input/output"):
        build.first_learner(table(), SETTINGS)


def test_a_learner_of_rows_that_lie_in_files_is_the_same(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = build.first_learner(table(), SETTINGS)
    monkeypatch.setattr(array_files, "IN_MEMORY", 0)
    mapped = build.first_learner(table(), SETTINGS)
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
