"""No file costs more than its size allows: every bomb is read or refused in words, within 500 MB and 20 seconds of
computing, and this process is as large afterwards as before."""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from pathlib import Path

import pytest

from plcore import TableError
from tests.plcore.tables.odd_files import ODD_FILES
from tests.workflow.importing.bombs import BOMBS, Bomb
from workflow.files.limited import asking
from workflow.importing import check
from workflow.importing.reading import read_upload

pytestmark = pytest.mark.slow

MOST_MB, MOST_SECONDS = 500, 20
MOST_GROWN_MB, MOST_GROWN_BY_A_TABLE_MB = 60, 250
"""What this process keeps after a file that was refused, and after one that became a table of 10,000 columns."""

SAMPLE = [one for one in BOMBS if one.quick] + [one for one in BOMBS if not one.quick][::12]
"""Some of each kind; the others take minutes together."""


def resident_mb() -> float:
    """Memory of this process that no file is behind: pages of libraries come and go as the system sees fit."""
    (line,) = (one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("RssAnon"))
    return int(line.split()[1]) / 1000


def defuse(bomb: Bomb, caplog: pytest.LogCaptureFixture) -> None:
    data = bomb.make()
    caplog.set_level(logging.DEBUG, "winnow")
    before, said = resident_mb(), None
    try:
        upload = read_upload(data, bomb.file)
        if upload.guess.has_candidates:
            check(upload, upload.guess)
    except TableError as error:
        said = error
    costs = [record.args for record in caplog.records if record.msg == asking.COST]
    assert costs
    for _, seconds, mb in costs:
        assert 0 < mb <= MOST_MB
        assert seconds <= MOST_SECONDS
    assert resident_mb() - before < (MOST_GROWN_MB if said is not None else MOST_GROWN_BY_A_TABLE_MB)
    assert bomb.read in (None, said is None), str(said)
    if said is not None:
        assert all(problem.message.strip() and problem.fix.strip() for problem in said.problems)
        assert "Traceback" not in str(said)
        assert "malloc" not in str(said)


@pytest.mark.parametrize("bomb", SAMPLE, ids=lambda one: one.name)
def test_a_bomb_is_cheap(bomb: Bomb, caplog: pytest.LogCaptureFixture) -> None:
    defuse(bomb, caplog)


@pytest.mark.proof
@pytest.mark.parametrize("bomb", [one for one in BOMBS if one not in SAMPLE], ids=lambda one: one.name)
def test_every_other_bomb_is_cheap(bomb: Bomb, caplog: pytest.LogCaptureFixture) -> None:
    defuse(bomb, caplog)


def test_an_odd_file_costs_no_more(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "winnow")
    read_upload(ODD_FILES[0].data, ODD_FILES[0].file)
    before = resident_mb()
    for odd in ODD_FILES:
        with contextlib.suppress(TableError):  # what is said of each: tests/plcore/tables/test_odd_files.py
            read_upload(odd.data, odd.file)
    costs = [record.args for record in caplog.records if record.msg == asking.COST]
    assert len(costs) == len(ODD_FILES) + 1
    assert max(mb for _, _, mb in costs) <= MOST_MB
    assert max(seconds for _, seconds, _ in costs) <= MOST_SECONDS
    assert resident_mb() - before < MOST_GROWN_MB


def test_the_bombs_are_many_and_all_different() -> None:
    assert len(BOMBS) >= 60
    assert len(ODD_FILES) >= 100
    assert [name for name, count in Counter(bomb.name for bomb in BOMBS).items() if count > 1] == []
    assert 10 <= sum(bomb.quick for bomb in BOMBS) <= 20
