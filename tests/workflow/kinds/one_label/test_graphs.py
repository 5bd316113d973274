"""The kept neighbours: the same learner with and without them, and a damaged file costs nothing but time."""

from __future__ import annotations

import numpy as np
import pytest

import plcore.loop.one_label.asking
from tests.workflow.world import answer_next
from workflow.answering import loop
from workflow.kinds.one_label import build
from workflow.seat import Seat
from workflow.server.home import Home, open_home


def test_a_restart_reads_the_neighbours_it_found_before(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_next(home, owner, project)
    shown = loop.next_question(Seat(home, owner, project))

    def never(*_: object) -> None:
        raise AssertionError("the neighbours were searched again")

    monkeypatch.setattr(plcore.loop.one_label.asking, "find_graph", never)
    again = open_home(home.settings)
    try:
        assert loop.next_question(Seat(again, owner, project)) == shown
    finally:
        again.close()


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_a_damaged_file_is_found_anew(
    home: Home,
    owner: int,
    project: int,
    damage: bytes | None,
    mapped: bool,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(build, "IN_MEMORY", -1 if mapped else build.IN_MEMORY)
    shown = loop.next_question(Seat(home, owner, project))
    (kept,) = (home.settings.home / "graphs").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = open_home(home.settings)
    try:
        assert loop.next_question(Seat(again, owner, project)) == shown
    finally:
        again.close()
    assert "found anew" in caplog.text
    assert kept.read_bytes() == whole, "and it is whole again"


def test_neighbours_of_many_rows_lie_in_a_file_of_their_own(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = loop.next_question(Seat(home, owner, project))
    with Seat(home, owner, project).learner() as opened:
        wanted = opened.learner.graph
    (kept,) = (home.settings.home / "graphs").iterdir()
    monkeypatch.setattr(build, "IN_MEMORY", 0)
    again = open_home(home.settings)
    try:
        seat = Seat(again, owner, project)
        assert loop.next_question(seat) == shown
        with seat.learner() as opened:
            found = opened.learner.graph
        kept.write_bytes(b"")  # another server finds them anew
        for name in ("neighbors", "weights", "test_neighbors", "test_weights"):
            array = getattr(found, name)
            np.testing.assert_array_equal(array, getattr(wanted, name))
            assert not array.flags.owndata
        assert list(kept.parent.iterdir()) == [kept], "it has no name"
        answer_next(again, owner, project)
    finally:
        again.close()
