"""What a job makes of a picture or recording is what its library makes of it."""

from __future__ import annotations

import base64
import io
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from plcore.tables import MediaError, thumbnail
from plcore.tables.encoders import Description, taken
from tests.plcore.tables.zips import picture
from tests.workflow.sounds import tone
from workflow.files.limited import jobs

SPECTROGRAM = {
    "start": None,
    "end": None,
    "longest": 2.0,
    "heard": [3_000.0, 48_000],
    "drawn": {"width": 50, "height": 20, "around": 0.0},
    "dark": False,
}


def told(_share: float) -> None:
    raise AssertionError


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_small_picture_by_path_and_by_bytes(tmp_path: Path, kind: str) -> None:
    data = picture(1, kind, (300, 200))
    (tmp_path / "x").write_bytes(data)
    by_path = jobs.small_picture({"path": str(tmp_path / "x")}, tmp_path, told)
    inline = jobs.small_picture({"inline": base64.b64encode(data).decode()}, tmp_path, told)
    assert base64.b64decode(by_path) == base64.b64decode(inline) == thumbnail(data)


def test_a_spectrogram_keeps_to_what_is_drawn_of_it(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(tone(5))
    given = {**SPECTROGRAM, "path": str(tmp_path / "x.wav")}
    found = jobs.spectrogram(given, tmp_path, told)
    assert found["edges"] == {"t0": 0.0, "t1": 2.0, "f0": 0.0, "f1": 3_000.0, "seconds": 5.0}
    light = np.asarray(Image.open(io.BytesIO(base64.b64decode(found["png"]))))
    assert light.shape == (20, 50)
    whole = jobs.spectrogram({**given, "longest": None, "heard": None, "dark": True}, tmp_path, told)
    assert (whole["edges"]["t1"], whole["edges"]["f1"]) == (5.0, 8_000.0)
    part = jobs.spectrogram({**given, "start": 3.0, "end": 4.0, "dark": True}, tmp_path, told)
    assert (part["edges"]["t0"], part["edges"]["t1"]) == (3.0, 4.0)
    dark = np.asarray(Image.open(io.BytesIO(base64.b64decode(part["png"]))))
    assert dark.mean() > 128 > light.mean()


def test_a_model_gets_what_it_would_get_elsewhere_and_why_not(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(picture(1))
    (tmp_path / "bad").write_bytes(picture(1)[:40])
    about = Description("image", size=(4, 3), mean=(0.5, 0.5, 0.5))
    inline = "data:image/png;base64," + base64.b64encode(picture(2)).decode()
    given = {
        "about": asdict(about),
        "keys": ["good", "bad", inline],
        "paths": {name: str(tmp_path / name) for name in ("good", "bad")},
    }
    said = jobs.model_inputs(given, tmp_path, told)
    assert [why is None for why in said] == [True, False, True]
    assert said[1] is not None
    assert "damaged" in said[1][0]
    made = np.load(tmp_path / jobs.POINTS)
    wanted = [taken(key, about, lambda name: (tmp_path / name).open("rb")) for key in ("good", inline)]
    np.testing.assert_array_equal(made, wanted)


def test_nothing_to_make_is_nothing_made(tmp_path: Path) -> None:
    given = {"about": asdict(Description("sound", rate=100, seconds=1)), "keys": [], "paths": {}}
    assert jobs.model_inputs(given, tmp_path, told) == []


def test_what_cannot_be_decoded_is_said(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"junk")
    for job, given in ((jobs.small_picture, {}), (jobs.spectrogram, SPECTROGRAM)):
        with pytest.raises(MediaError):
            job({**given, "path": str(tmp_path / "x")}, tmp_path, told)


def test_a_helper_is_warm_before_it_forks() -> None:
    jobs.warm()
    assert set(jobs._READ) <= set(Image.OPEN)
