"""No picture and no recording costs more than its size allows, at import and when somebody looks: it is shown, or words
stand in its place, within 500 MB and 20 seconds of computing, and the next one is seen."""

from __future__ import annotations

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
from tests.plcore.tables.zips import make_zip, picture
from tests.workflow.importing.picture_bombs import PICTURES, MediaBomb
from tests.workflow.importing.silence_bombs import HOURS, SILENCES
from tests.workflow.importing.sound_bombs import SOUNDS
from workflow.files import limited
from workflow.files.limited import asking
from workflow.importing import check
from workflow.importing.first_look import first_look
from workflow.importing.reading import read_upload

pytestmark = pytest.mark.slow

BOMBS = [*PICTURES, *SOUNDS, *SILENCES]
IMAGES = ("png", "gif", "webp", "jpg")
MOST_MB, MOST_OF_A_HEAVY_ONE_MB, MOST_SECONDS = 500, 700, 20
"""A picture of nearly fifty million points, which is taken, may have 500 MB beside what all jobs share."""

SPECTROGRAM = {
    "start": None,
    "end": None,
    "longest": 60.0,
    "heard": [12_000.0, 48_000],
    "drawn": {"width": 960, "height": 480},
    "dark": False,
}


def imported(bomb: MediaBomb, data: bytes) -> list[str]:
    """What is said of a zip whose rows name the file; nothing where it becomes a table."""
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
    """What is said in place of its picture; nothing where there is one."""
    job, how = (
        ("small_picture", dict[str, Any]()) if path.suffix[1:] in IMAGES else ("spectrogram", SPECTROGRAM)
    )
    try:
        assert limited.look(job, {**how, "path": str(path)}, path.stat().st_size)
    except MediaError as error:
        return [" ".join(map(str, error.args))]
    return []


def defuse(bomb: MediaBomb, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = bomb.make()
    path = folder / f"x.{bomb.ending}"
    path.write_bytes(data)
    caplog.set_level(logging.DEBUG, "winnow")
    said = [*imported(bomb, data), *seen(path)]
    costs: list[Any] = [record.args for record in caplog.records if record.msg == asking.COST]
    assert len(costs) >= 2, "it was read and looked at"
    for _, seconds, mb in costs:
        assert 0 < mb <= (MOST_OF_A_HEAVY_ONE_MB if bomb.heavy else MOST_MB)
        assert seconds <= MOST_SECONDS
    for words in said:
        assert words.strip().endswith(".")
        assert "Traceback" not in words
    good = folder / "good.png"
    good.write_bytes(picture())
    assert seen(good) == []


SAMPLE = [one for one in BOMBS if not one.heavy][::6]
"""Some of each kind; the others take minutes together."""


@pytest.mark.parametrize("bomb", SAMPLE, ids=lambda one: one.name)
def test_a_bomb_is_cheap(bomb: MediaBomb, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    defuse(bomb, tmp_path, caplog)


@pytest.mark.proof
@pytest.mark.parametrize("bomb", [one for one in BOMBS if one not in SAMPLE], ids=lambda one: one.name)
def test_every_other_bomb_is_cheap(bomb: MediaBomb, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    defuse(bomb, tmp_path, caplog)


def test_silence_is_short_and_lasts_long() -> None:
    for bomb in SILENCES:
        data = bomb.make()
        assert len(make_zip({"x": data})) < 200_000, bomb.name
        with Sound(io.BytesIO(data)) as sound:
            assert sound.facts.seconds >= 3 * 3600 - 10, bomb.name
            middle = sound.facts.seconds / 2
            assert np.abs(sound.read(middle, middle + 1)).max() < 1e-6, bomb.name
    assert HOURS >= 10


def test_the_bombs_are_many_and_all_different() -> None:
    assert len(BOMBS) >= 60
    assert [name for name, count in Counter(bomb.name for bomb in BOMBS).items() if count > 1] == []
