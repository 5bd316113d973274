"""Small pictures: made once, kept under the name of the picture's content, made anew where they are gone."""

from __future__ import annotations

import base64
import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from plcore.tables import MediaError, thumbnail
from tests.plcore.tables.zips import picture
from tests.workflow.sounds import tone
from workflow.files import limited, media
from workflow.files.media import (
    HEARD,
    SMALL_ENOUGH,
    SOUND_SIZE,
    small_address,
    small_sound_url,
    small_url,
    thumbnail_of,
)
from workflow.files.stored import address, path_of
from workflow.server.home import Home

LARGE = picture(1, "JPEG", (500, 300))
NAME = f"{hashlib.sha256(LARGE).hexdigest()}.jpg"


def url(data: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(data).decode()


@pytest.fixture
def image(home: Home) -> Path:
    path = path_of(home.media_dir, NAME)
    path.parent.mkdir(parents=True)
    path.write_bytes(LARGE)
    return path


def kept(home: Home) -> list[Path]:
    return [path for path in home.thumbnails_dir.rglob("*") if path.is_file()]


def test_it_is_made_once_and_kept_beside_no_other_file(
    home: Home, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert thumbnail_of(home, image) == thumbnail(LARGE)
    (path,) = kept(home)
    assert path == path_of(home.thumbnails_dir, f"{NAME[:64]}.webp")
    assert path.read_bytes() == thumbnail(LARGE)
    monkeypatch.setattr(Path, "replace", None)  # nothing is written any more
    assert thumbnail_of(home, image) == thumbnail(LARGE)
    image.unlink()
    assert thumbnail_of(home, image) == thumbnail(LARGE)


def test_one_that_was_taken_away_is_made_anew(home: Home, image: Path) -> None:
    first = thumbnail_of(home, image)
    kept(home)[0].unlink()
    assert thumbnail_of(home, image) == first
    assert len(kept(home)) == 1


def test_a_full_disk_costs_time_alone(home: Home, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert thumbnail_of(home, image) == thumbnail(LARGE)
    assert not kept(home)


def test_a_kept_picture_and_the_same_in_a_cell_share_one_small_picture(home: Home, image: Path) -> None:
    first = small_url(home, address(NAME))
    kind, _, data = first.partition(",")
    assert kind == "data:image/webp;base64"
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (160, 96)
    assert small_url(home, url(LARGE)) == first
    assert len(kept(home)) == 1


def test_a_small_picture_in_a_cell_is_shown_as_it_is(home: Home) -> None:
    small = url(picture(1, "JPEG"))
    assert len(small) <= SMALL_ENOUGH < len(url(LARGE))
    assert small_url(home, small) == small
    assert not home.thumbnails_dir.exists()


def test_one_that_is_gone_or_damaged_is_left_out_of_a_list(home: Home, image: Path) -> None:
    broken = picture(2, "JPEG", (500, 300))[:2000]
    assert small_url(home, url(broken) + "A" * SMALL_ENOUGH) == ""
    assert small_url(home, address("0" * 64 + ".png")) == ""
    image.write_bytes(broken)
    assert small_url(home, address(NAME)) == ""
    with pytest.raises(MediaError, match="damaged"):
        thumbnail_of(home, image)
    assert not kept(home)
    assert media.CONTENT_TYPE == "image/webp"


def test_the_address_of_a_small_picture_is_that_of_its_file(home: Home) -> None:
    assert small_address(address(NAME)) == f"files/{NAME}/small"
    assert small_address(url(LARGE)) == url(LARGE)


def test_a_recording_is_drawn_small_by_its_segment(home: Home) -> None:
    """Silence for three seconds, then a tone: a row's segment is drawn, of more than HEARD seconds the first."""
    name = "0" * 64 + ".wav"
    path = path_of(home.media_dir, name)
    path.parent.mkdir(parents=True)
    path.write_bytes(tone(20.0, begins=3.0))

    def loud(segment: tuple[float | None, float | None] | None) -> float:
        found = small_sound_url(home, address(name), segment)
        data = base64.b64decode(found.removeprefix("data:image/png;base64,"))
        grey = np.asarray(Image.open(io.BytesIO(data)))
        assert grey.shape == SOUND_SIZE[::-1]
        return float((grey.max(axis=0) > 200).mean())

    assert loud((0.0, 2.0)) == 0
    assert loud((4.0, 6.0)) == 1
    assert loud(None) == loud((None, 15.0)) == pytest.approx((HEARD - 3) / HEARD, abs=0.02)
    path.write_bytes(b"junk")
    assert small_sound_url(home, address(name), None) == ""
    path.unlink()
    assert small_sound_url(home, address(name), None) == ""


def test_two_are_made_at_a_time_and_no_more(home: Home, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = []

    def look(_job: str, given: dict[str, str], size: int) -> str:
        assert (given, size) == ({"path": str(image)}, len(LARGE))
        taken = [media.MAKERS.acquire(blocking=False) for _ in range(2)]
        free.append(taken)
        for one in taken:
            if one:
                media.MAKERS.release()
        return "aaaa"

    monkeypatch.setattr(limited, "look", look)
    for _ in range(2):
        thumbnail_of(home, image)
        kept(home)[0].unlink()
    assert free == [[True, False]] * 2, "and each gives its place back"
