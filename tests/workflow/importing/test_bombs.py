"""Files made to exhaust memory, disk or time are refused."""

from __future__ import annotations

import contextlib
import io
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plcore import TableError
from plcore.tables import MediaError
from plcore.tables.media.sound import Sound
from tests.plcore.tables.odd_files import ODD_FILES
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.importing.bombs import BOMBS, Bomb
from tests.workflow.importing.picture_bombs import PICTURES, MediaBomb
from tests.workflow.importing.silence_bombs import HOURS, SILENCES
from tests.workflow.importing.sound_bombs import SOUNDS
from workflow.files import limited
from workflow.files.limited import asking
from workflow.importing import check
from workflow.importing.first_look import first_look
from workflow.importing.reading import read_upload

# No file costs more than its size allows: every bomb is read or refused with a message, within 500 MB and 20
# seconds of computing, and this process is as large afterwards as before


pytestmark = pytest.mark.slow

MOST_MB, MOST_SECONDS = 500, 20
MOST_GROWN_MB, MOST_GROWN_BY_A_TABLE_MB = 60, 250
"""Memory of this process after a refused file, and after a table of 10,000 columns."""


def resident_mb() -> float:
    """Memory of this process without file pages: those of libraries come and go as the system decides."""
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


@pytest.mark.parametrize("bomb", [one for one in BOMBS if one.quick], ids=lambda one: one.name)
def test_bomb_is_refused_cheaply(bomb: Bomb, caplog: pytest.LogCaptureFixture) -> None:
    defuse(bomb, caplog)


@pytest.mark.proof
@pytest.mark.parametrize("bomb", [one for one in BOMBS if not one.quick], ids=lambda one: one.name)
def test_every_other_bomb_is_refused_cheaply(bomb: Bomb, caplog: pytest.LogCaptureFixture) -> None:
    defuse(bomb, caplog)


@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.proof)])
def test_odd_file_is_read_cheaply(caplog: pytest.LogCaptureFixture, step: int) -> None:
    """Every odd file, or one in `step`."""
    odd_files = ODD_FILES[::step]
    caplog.set_level(logging.DEBUG, "winnow")
    read_upload(ODD_FILES[0].data, ODD_FILES[0].file)
    before = resident_mb()
    for odd in odd_files:
        with contextlib.suppress(TableError):  # the messages are in tests/plcore/tables/test_odd_files.py
            read_upload(odd.data, odd.file)
    costs = [record.args for record in caplog.records if record.msg == asking.COST]
    assert len(costs) == len(odd_files) + 1
    assert max(mb for _, _, mb in costs) <= MOST_MB
    assert max(seconds for _, seconds, _ in costs) <= MOST_SECONDS
    assert resident_mb() - before < MOST_GROWN_MB


def test_bombs_are_many_and_distinct() -> None:
    assert len(BOMBS) >= 60
    assert len(ODD_FILES) >= 100
    assert [name for name, count in Counter(bomb.name for bomb in BOMBS).items() if count > 1] == []
    assert 10 <= sum(bomb.quick for bomb in BOMBS) <= 20


# No picture or recording costs more than its size allows, at import and on display: it, or a message in its place, is
# shown within 500 MB and 20 CPU seconds, and the next one is shown, too


MEDIA_BOMBS = [*PICTURES, *SOUNDS, *SILENCES]
IMAGES = ("png", "gif", "webp", "jpg")
MOST_MEDIA_MB, MOST_OF_A_HEAVY_ONE_MB, MOST_MEDIA_SECONDS = 500, 700, 20
"""An accepted picture of nearly fifty million pixels may use 500 MB in addition to what all jobs share."""

SPECTROGRAM = {
    "start": None,
    "end": None,
    "longest": 60.0,
    "heard": [12_000.0, 48_000],
    "drawn": {"width": 960, "height": 480},
    "dark": False,
}


def imported(bomb: MediaBomb, data: bytes) -> list[str]:
    """The message about a zip whose rows name the file; nothing if it becomes a table."""
    name, column = f"x.{bomb.ending}", "image" if bomb.ending in IMAGES else "audio"
    table = f"candidates,{column}\na|b,{name}\nb,{name}\n".encode()
    try:
        upload = read_upload(make_zip({"t.csv": table, name: data}), "a.zip")
    except TableError as error:
        return [str(problem) for problem in error.problems]
    checked = check(upload, upload.guess)
    if checked.table is not None:
        assert first_look(checked.table) is not None
    return [str(problem) for problem in checked.problems]


def seen(path: Path) -> list[str]:
    """The message in place of the image; nothing if there is an image."""
    job, how = ("small_picture", dict[str, Any]()) if path.suffix[1:] in IMAGES else ("spectrogram", SPECTROGRAM)
    try:
        assert limited.look(job, {**how, "path": str(path)}, path.stat().st_size)
    except MediaError as error:
        return [" ".join(map(str, error.args))]
    return []


def defuse_media(bomb: MediaBomb, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = bomb.make()
    path = folder / f"x.{bomb.ending}"
    path.write_bytes(data)
    caplog.set_level(logging.DEBUG, "winnow")
    said = [*imported(bomb, data), *seen(path)]
    costs: list[Any] = [record.args for record in caplog.records if record.msg == asking.COST]
    assert len(costs) >= 2, "it was read and looked at"
    for _, seconds, mb in costs:
        assert 0 < mb <= (MOST_OF_A_HEAVY_ONE_MB if bomb.heavy else MOST_MEDIA_MB)
        assert seconds <= MOST_MEDIA_SECONDS
    for words in said:
        assert words.strip().endswith(".")
        assert "Traceback" not in words
    good = folder / "good.png"
    good.write_bytes(picture())
    assert seen(good) == []


MEDIA_SAMPLE = [one for one in MEDIA_BOMBS if not one.heavy][::12]
"""Some of each kind; the others take minutes in total."""


@pytest.mark.parametrize("bomb", MEDIA_SAMPLE, ids=lambda one: one.name)
def test_media_bomb_is_refused_cheaply(bomb: MediaBomb, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    defuse_media(bomb, tmp_path, caplog)


@pytest.mark.proof
@pytest.mark.parametrize("bomb", [one for one in MEDIA_BOMBS if one not in MEDIA_SAMPLE], ids=lambda one: one.name)
def test_every_other_media_bomb_is_refused_cheaply(
    bomb: MediaBomb, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    defuse_media(bomb, tmp_path, caplog)


@pytest.mark.proof
def test_silence_bombs_are_small_files_of_many_hours() -> None:
    for bomb in SILENCES:
        data = bomb.make()
        assert len(make_zip({"x": data})) < 200_000, bomb.name
        with Sound(io.BytesIO(data)) as sound:
            assert sound.facts.seconds >= 3 * 3600 - 10, bomb.name
            middle = sound.facts.seconds / 2
            assert np.abs(sound.read(middle, middle + 1)).max() < 1e-6, bomb.name
    assert HOURS >= 10


def test_media_bombs_are_many_and_distinct() -> None:
    assert len(MEDIA_BOMBS) >= 60
    assert [name for name, count in Counter(bomb.name for bomb in MEDIA_BOMBS).items() if count > 1] == []
