"""Spectrograms and thumbnails."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from plcore import LearnerSettings
from plcore.tables import MediaError, thumbnail
from tests.databases import on_sqlite
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.files.test_finding import kept, table_of
from tests.workflow.sounds import RECORDINGS, files_project, segments_project, tone
from workflow import importing
from workflow.access import NotAllowed, NotFound
from workflow.backups import making
from workflow.files import limited, media, spectrograms
from workflow.files.media import (
    HEARD,
    SMALL_ENOUGH,
    SOUND_SIZE,
    small_address,
    small_sound_url,
    small_url,
    thumbnail_of,
)
from workflow.files.spectrograms import AROUND, HEIGHT, LONGEST, WIDTH, Asked, BadRequestError, NotDrawnError
from workflow.files.stored import address, path_of
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

# Spectrograms: allowed parameters, the position of a tone, and the cache


NAME = kept(RECORDINGS["calls/0.wav"], "wav")


@pytest.fixture
def spectrograms_seat(home: Home, owner: int) -> Seat:
    segments_project(home, owner)
    return Seat(home, owner)


def grey_of(drawn: spectrograms.Spectrogram) -> np.ndarray:
    image = Image.open(io.BytesIO(drawn.png))
    assert image.mode == "L"
    return np.asarray(image)


def cached(home: Home) -> list[Path]:
    return sorted((home.cache_dir / "spectrograms").glob("*"))


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ({}, Asked()),
        ({"start": "14", "end": "17.0"}, Asked(14, 17)),
        ({"start": "0", "scale": "log"}, Asked(0, None, "log")),
        ({"end": "1e1", "scale": "linear"}, Asked(None, 10)),
        ({"start": "1.23456"}, Asked(1.235)),
    ],
)
def test_spectrogram_parameters_are_parsed(query: dict[str, str], asked: Asked) -> None:
    assert Asked.of(query) == asked


def test_invalid_spectrogram_parameters_are_refused(subtests: pytest.Subtests) -> None:
    for query, words in [
        ({"start": "soon"}, "start is a number of seconds from 0 to 1,000,000. Got 'soon'."),
        ({"start": "-1"}, "from 0"),
        ({"start": "nan"}, "start is a number"),
        ({"end": "inf"}, "end is a number"),
        ({"end": "1000001"}, "end is a number"),
        ({"end": ""}, "end is a number"),
        ({"start": "x" * 9_999}, f"'{'x' * 40}'"),
        ({"start": "3", "end": "3"}, "end is later than start, 3 s. Got 3."),
        ({"end": "0"}, "end is later than start, 0 s"),
        ({"scale": "mel"}, "scale is one of linear, log. Got 'mel'."),
        ({"width": "99999"}, "Got 'width'"),
    ]:
        with subtests.test(str(query)):
            with pytest.raises(BadRequestError) as refused:
                Asked.of(query)
            assert words in str(refused.value)


def test_spectrogram_key_is_unique_to_its_parameters() -> None:
    assert Asked(None, 3).key == Asked(0.0, 3.0).key
    keys = {one.key for one in (Asked(), Asked(1), Asked(1, 3), Asked(1, 3, "log"), Asked(1, 3.5), Asked(None, 3))}
    assert len(keys) == 6


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_tone_is_drawn_at_its_frequency(spectrograms_seat: Seat, scale: str) -> None:
    drawn = spectrograms.draw(spectrograms_seat, NAME, Asked(4, 6, scale))
    grey, edges = grey_of(drawn), drawn.edges
    assert grey.shape == (HEIGHT, WIDTH)
    assert (edges.t0, edges.t1, edges.seconds) == (4 - AROUND, 6 + AROUND, 10)
    loudest = int(grey.astype(float).mean(axis=1).argmax())
    share = 1 - (loudest + 0.5) / HEIGHT
    frequency = (
        edges.f0 * (edges.f1 / edges.f0) ** share if scale == "log" else edges.f0 + share * (edges.f1 - edges.f0)
    )
    assert frequency == pytest.approx(3_000, rel=0.03)


def test_late_tone_is_drawn_at_its_time(home: Home, owner: int) -> None:
    late = tone(8, begins=5.0)
    files_project(home, owner, {"late.wav": late})
    drawn = spectrograms.draw(Seat(home, owner), kept(late, "wav"), Asked())
    row = grey_of(drawn).max(axis=0)
    first = int(np.flatnonzero(row > 128)[0])
    seconds = drawn.edges.t0 + first / WIDTH * (drawn.edges.t1 - drawn.edges.t0)
    assert seconds == pytest.approx(5, abs=0.05)


def test_long_recording_is_drawn_for_first_minute(home: Home, owner: int) -> None:
    long = tone(100, rate=2_000, hertz=500)
    files_project(home, owner, {"long.wav": long})
    seat = Seat(home, owner)
    whole = spectrograms.draw(seat, kept(long, "wav"), Asked()).edges
    assert (whole.t0, whole.t1, whole.seconds) == (0, LONGEST + AROUND, 100)
    part = spectrograms.draw(seat, kept(long, "wav"), Asked(10, 99)).edges
    assert (part.t0, part.t1) == (10 - AROUND, 10 + LONGEST + AROUND)
    end = spectrograms.draw(seat, kept(long, "wav"), Asked(70)).edges
    assert (end.t0, end.t1) == (70 - AROUND, 100)


def test_ultrasound_is_drawn_to_its_highest_frequency(home: Home, owner: int) -> None:
    bats, birds = tone(1, hertz=45_000, rate=192_000), tone(1, rate=48_000)
    files_project(home, owner, {"bats.wav": bats, "birds.wav": birds})
    tops = [spectrograms.draw(Seat(home, owner), kept(one, "wav"), Asked()).edges.f1 for one in (bats, birds)]
    assert tops == [96_000, spectrograms.HEARD]


def test_spectrogram_is_drawn_once(spectrograms_seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(4, 6)
    assert spectrograms.kept(spectrograms_seat, NAME, asked) is None
    drawn = spectrograms.draw(spectrograms_seat, NAME, asked)
    assert spectrograms.kept(spectrograms_seat, NAME, asked) == drawn
    monkeypatch.setattr(spectrograms, "_drawn", lambda *_: pytest.fail("drawn again"))
    assert spectrograms.draw(spectrograms_seat, NAME, asked) == drawn
    assert spectrograms.kept(spectrograms_seat, NAME, Asked(4, 6, "log")) is None


def test_spectrogram_needs_project_access(home: Home, owner: int, spectrograms_seat: Seat) -> None:
    spectrograms.draw(spectrograms_seat, NAME, Asked())
    ada = team.redeem_link(home, team.make_link(spectrograms_seat, "Ada"))
    assert ada
    team.disable_person(spectrograms_seat, owner + 1)
    for act in (spectrograms.kept, spectrograms.draw):
        with pytest.raises(NotAllowed):
            act(Seat(home, owner + 1), NAME, Asked())
        with pytest.raises(NotFound):
            act(spectrograms_seat, kept(b"other", "wav"), Asked())
        with pytest.raises(NotFound):
            act(spectrograms_seat, f"../{NAME}", Asked())


@pytest.mark.parametrize(
    "data", [WAV, WAV[:30], b"RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\x7f" + bytes(40), tone(1)[:44]]
)
def test_undecodable_recording_is_reported_and_not_cached(
    home: Home, owner: int, spectrograms_seat: Seat, data: bytes
) -> None:
    path = home.media_dir / NAME[:2] / NAME
    path.write_bytes(data)
    with pytest.raises(NotDrawnError, match=r"\w+ .*\."):
        spectrograms.draw(spectrograms_seat, NAME, Asked())
    assert not cached(home)


def test_image_has_no_spectrogram(home: Home, owner: int) -> None:
    table = table_of(make_zip({"t.csv": b"candidates,image\na|b,x.png\nb|a,x.png\na,x.png\n", "x.png": picture(3)}))
    importing.create(Seat(home, owner), "pictures", table, LearnerSettings(n_neighbors=3))
    with pytest.raises(NotDrawnError):
        spectrograms.draw(Seat(home, owner), kept(picture(3)), Asked())


def test_segment_beyond_recording_is_reported(spectrograms_seat: Seat) -> None:
    with pytest.raises(NotDrawnError, match="ends at 10 s"):
        spectrograms.draw(spectrograms_seat, NAME, Asked(11, 12))
    assert spectrograms.draw(spectrograms_seat, NAME, Asked(9, 12)).edges.t1 == 10


def test_concurrent_drawing_gives_complete_spectrograms(spectrograms_seat: Seat) -> None:
    asked = [Asked(float(n % 3), n % 3 + 2.0) for n in range(12)]
    with ThreadPoolExecutor(6) as threads:
        drawn = list(threads.map(lambda one: spectrograms.draw(spectrograms_seat, NAME, one), asked))
    assert drawn[:3] * 4 == drawn
    assert len(cached(spectrograms_seat.home)) == 3
    assert [spectrograms.kept(spectrograms_seat, NAME, one) for one in asked[:3]] == drawn[:3]


def test_spectrogram_cache_keeps_latest_that_fit(spectrograms_seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    for second in range(4):
        spectrograms.draw(spectrograms_seat, NAME, Asked(second, second + 2))
        (latest,) = (path for path in cached(spectrograms_seat.home) if path.name.startswith(f"{NAME}-{second}.000-"))
        os.utime(latest, (1_000 + second, 1_000 + second))
    monkeypatch.setattr(spectrograms, "LEAST_COUNTED", 1)
    sizes = [path.stat().st_size for path in cached(spectrograms_seat.home)]
    monkeypatch.setattr(spectrograms, "MOST_KEPT", sum(sizes) - 1)
    spectrograms.draw(spectrograms_seat, NAME, Asked(4, 6))
    seconds = {path.name.split("-")[1] for path in cached(spectrograms_seat.home)}
    assert "0.000" not in seconds
    assert {"3.000", "4.000"} <= seconds
    assert spectrograms.kept(spectrograms_seat, NAME, Asked(0, 2)) is None


def test_small_spectrograms_count_with_minimum_size(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    silence = tone(9)[:44] + bytes(len(tone(9)) - 44)
    files_project(home, owner, {"silence.wav": silence})
    monkeypatch.setattr(spectrograms, "MOST_KEPT", 3 * spectrograms.LEAST_COUNTED)
    for second in range(6):
        drawn = spectrograms.draw(Seat(home, owner), kept(silence, "wav"), Asked(second, second + 1))
    assert len(drawn.png) < spectrograms.LEAST_COUNTED / 4
    assert len(cached(home)) == 3


def test_damaged_spectrogram_is_redrawn(spectrograms_seat: Seat) -> None:
    drawn = spectrograms.draw(spectrograms_seat, NAME, Asked())
    (path,) = cached(spectrograms_seat.home)
    for damage in (b"", b"{}\n", b"not json\nxx", b"[1]\nxx", b'{"t0": 1}\nxx'):
        path.write_bytes(damage)
        assert spectrograms.kept(spectrograms_seat, NAME, Asked()) is None
        assert spectrograms.draw(spectrograms_seat, NAME, Asked()) == drawn


def test_full_disk_does_not_stop_drawing(spectrograms_seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spectrograms, "_keep", full)
    assert spectrograms.draw(spectrograms_seat, NAME, Asked()).png
    assert not cached(spectrograms_seat.home)


@on_sqlite
def test_backup_leaves_out_spectrograms(spectrograms_seat: Seat, tmp_path: Path) -> None:
    spectrograms.draw(spectrograms_seat, NAME, Asked())
    making.make(spectrograms_seat.home, tmp_path / "backup.zip")
    with zipfile.ZipFile(tmp_path / "backup.zip") as made:
        assert "winnow.sqlite3" in made.namelist()
        assert not [name for name in made.namelist() if "cache" in name]


# Small pictures: made once, kept under the name of the picture's content, rebuilt if they are gone


LARGE = picture(1, "JPEG", (500, 300))
THUMBNAILS_NAME = f"{hashlib.sha256(LARGE).hexdigest()}.jpg"


def url(data: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(data).decode()


@pytest.fixture
def image(home: Home) -> Path:
    path = path_of(home.media_dir, THUMBNAILS_NAME)
    path.parent.mkdir(parents=True)
    path.write_bytes(LARGE)
    return path


def thumbnails_kept(home: Home) -> list[Path]:
    return [path for path in home.thumbnails_dir.rglob("*") if path.is_file()]


def test_thumbnail_is_made_once_and_cached(home: Home, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert thumbnail_of(home, image) == thumbnail(LARGE)
    (path,) = thumbnails_kept(home)
    assert path == path_of(home.thumbnails_dir, f"{THUMBNAILS_NAME[:64]}.webp")
    assert path.read_bytes() == thumbnail(LARGE)
    monkeypatch.setattr(Path, "replace", None)  # nothing is written any more
    assert thumbnail_of(home, image) == thumbnail(LARGE)
    image.unlink()
    assert thumbnail_of(home, image) == thumbnail(LARGE)


def test_removed_thumbnail_is_rebuilt(home: Home, image: Path) -> None:
    first = thumbnail_of(home, image)
    thumbnails_kept(home)[0].unlink()
    assert thumbnail_of(home, image) == first
    assert len(thumbnails_kept(home)) == 1


def test_full_disk_only_disables_thumbnail_cache(home: Home, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert thumbnail_of(home, image) == thumbnail(LARGE)
    assert not thumbnails_kept(home)


def test_stored_and_inline_image_share_thumbnail(home: Home, image: Path) -> None:
    first = small_url(home, address(THUMBNAILS_NAME))
    kind, _, data = first.partition(",")
    assert kind == "data:image/webp;base64"
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (160, 96)
    assert small_url(home, url(LARGE)) == first
    assert len(thumbnails_kept(home)) == 1


def test_small_inline_image_is_its_own_thumbnail(home: Home) -> None:
    small = url(picture(1, "JPEG"))
    assert len(small) <= SMALL_ENOUGH < len(url(LARGE))
    assert small_url(home, small) == small
    assert not home.thumbnails_dir.exists()


def test_missing_or_damaged_image_has_no_thumbnail(home: Home, image: Path) -> None:
    broken = picture(2, "JPEG", (500, 300))[:2000]
    assert small_url(home, url(broken) + "A" * SMALL_ENOUGH) == ""
    assert small_url(home, address("0" * 64 + ".png")) == ""
    image.write_bytes(broken)
    assert small_url(home, address(THUMBNAILS_NAME)) == ""
    with pytest.raises(MediaError, match="damaged"):
        thumbnail_of(home, image)
    assert not thumbnails_kept(home)
    assert media.CONTENT_TYPE == "image/webp"


def test_thumbnail_address_follows_file_address(home: Home) -> None:
    assert small_address(address(THUMBNAILS_NAME)) == f"files/{THUMBNAILS_NAME}/small"
    assert small_address(url(LARGE)) == url(LARGE)


def test_recording_thumbnail_shows_its_segment(home: Home) -> None:
    """Silence for three seconds, then a tone: the thumbnail draws the row's segment, its beginning if longer than HEARD
    seconds."""
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


def test_thumbnails_are_made_two_at_a_time(home: Home, image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        thumbnails_kept(home)[0].unlink()
    assert free == [[True, False]] * 2, "and each gives its place back"
