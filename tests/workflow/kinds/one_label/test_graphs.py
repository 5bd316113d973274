"""The kept neighbours: the same learner with and without them, and a damaged file costs nothing but time."""

from __future__ import annotations

import pytest

import plcore.loop.one_label.asking
from tests.workflow.world import answer_next
from workflow import answering
from workflow.home import Home, open_home
from workflow.seat import Seat


def test_a_restart_reads_the_neighbours_it_found_before(
    home: Home, owner: int, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_next(home, owner, project)
    shown = answering.next_question(Seat(home, owner, project))

    def never(*_: object) -> None:
        raise AssertionError("the neighbours were searched again")

    monkeypatch.setattr(plcore.loop.one_label.asking, "find_graph", never)
    again = open_home(home.settings)
    try:
        assert answering.next_question(Seat(again, owner, project)) == shown
    finally:
        again.close()


@pytest.mark.parametrize("damage", [b"", b"not a zip file", None])
def test_a_damaged_file_is_found_anew(
    home: Home, owner: int, project: int, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    shown = answering.next_question(Seat(home, owner, project))
    (kept,) = (home.settings.home / "graphs").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(whole[: len(whole) // 2] if damage is None else damage)
    again = open_home(home.settings)
    try:
        assert answering.next_question(Seat(again, owner, project)) == shown
    finally:
        again.close()
    assert "found anew" in caplog.text
    assert kept.read_bytes() == whole, "and it is whole again"
