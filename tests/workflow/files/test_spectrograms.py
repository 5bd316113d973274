"""Spectrograms: what may be asked, where a tone stands in the picture, what is kept of them and for how long."""

from __future__ import annotations

import io
import os
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from plcore import LearnerSettings
from tests.databases import on_sqlite
from tests.plcore.tables.zips import WAV, make_zip, picture
from tests.workflow.files.test_finding import kept, table_of
from tests.workflow.sounds import RECORDINGS, files_project, segments_project, tone
from workflow import importing
from workflow.access import NotAllowed, NotFound
from workflow.backups import making
from workflow.files import spectrograms
from workflow.files.spectrograms import AROUND, HEIGHT, LONGEST, WIDTH, Asked, BadRequestError, NotDrawnError
from workflow.people import team
from workflow.seat import Seat
from workflow.server.home import Home

NAME = kept(RECORDINGS["calls/0.wav"], "wav")


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
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
def test_parameters_are_read(query: dict[str, str], asked: Asked) -> None:
    assert Asked.of(query) == asked


@pytest.mark.parametrize(
    ("query", "words"),
    [
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
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(query: dict[str, str], words: str) -> None:
    with pytest.raises(BadRequestError) as refused:
        Asked.of(query)
    assert words in str(refused.value)


def test_the_same_picture_has_the_same_key_and_others_have_others() -> None:
    assert Asked(None, 3).key == Asked(0.0, 3.0).key
    keys = {
        one.key for one in (Asked(), Asked(1), Asked(1, 3), Asked(1, 3, "log"), Asked(1, 3.5), Asked(None, 3))
    }
    assert len(keys) == 6


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_a_tone_stands_where_its_frequency_is(seat: Seat, scale: str) -> None:
    drawn = spectrograms.draw(seat, NAME, Asked(4, 6, scale))
    grey, edges = grey_of(drawn), drawn.edges
    assert grey.shape == (HEIGHT, WIDTH)
    assert (edges.t0, edges.t1, edges.seconds) == (4 - AROUND, 6 + AROUND, 10)
    loudest = int(grey.astype(float).mean(axis=1).argmax())
    share = 1 - (loudest + 0.5) / HEIGHT
    frequency = (
        edges.f0 * (edges.f1 / edges.f0) ** share
        if scale == "log"
        else edges.f0 + share * (edges.f1 - edges.f0)
    )
    assert frequency == pytest.approx(3_000, rel=0.03)


def test_what_begins_late_is_drawn_to_the_right(home: Home, owner: int) -> None:
    late = tone(8, begins=5.0)
    files_project(home, owner, {"late.wav": late})
    drawn = spectrograms.draw(Seat(home, owner), kept(late, "wav"), Asked())
    row = grey_of(drawn).max(axis=0)
    first = int(np.flatnonzero(row > 128)[0])
    seconds = drawn.edges.t0 + first / WIDTH * (drawn.edges.t1 - drawn.edges.t0)
    assert seconds == pytest.approx(5, abs=0.05)


def test_of_a_long_recording_the_first_minute_is_drawn(home: Home, owner: int) -> None:
    long = tone(100, rate=2_000, hertz=500)
    files_project(home, owner, {"long.wav": long})
    seat = Seat(home, owner)
    whole = spectrograms.draw(seat, kept(long, "wav"), Asked()).edges
    assert (whole.t0, whole.t1, whole.seconds) == (0, LONGEST + AROUND, 100)
    part = spectrograms.draw(seat, kept(long, "wav"), Asked(10, 99)).edges
    assert (part.t0, part.t1) == (10 - AROUND, 10 + LONGEST + AROUND)
    end = spectrograms.draw(seat, kept(long, "wav"), Asked(70)).edges
    assert (end.t0, end.t1) == (70 - AROUND, 100)


def test_a_recording_made_for_bats_is_drawn_to_its_highest_frequency(home: Home, owner: int) -> None:
    bats, birds = tone(1, hertz=45_000, rate=192_000), tone(1, rate=48_000)
    files_project(home, owner, {"bats.wav": bats, "birds.wav": birds})
    tops = [spectrograms.draw(Seat(home, owner), kept(one, "wav"), Asked()).edges.f1 for one in (bats, birds)]
    assert tops == [96_000, spectrograms.HEARD]


def test_a_picture_is_drawn_once(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(4, 6)
    assert spectrograms.kept(seat, NAME, asked) is None
    drawn = spectrograms.draw(seat, NAME, asked)
    assert spectrograms.kept(seat, NAME, asked) == drawn
    monkeypatch.setattr(spectrograms, "_drawn", lambda *_: pytest.fail("drawn again"))
    assert spectrograms.draw(seat, NAME, asked) == drawn
    assert spectrograms.kept(seat, NAME, Asked(4, 6, "log")) is None


def test_whoever_may_not_have_the_file_gets_no_picture_kept_or_not(
    home: Home, owner: int, seat: Seat
) -> None:
    spectrograms.draw(seat, NAME, Asked())
    ada = team.redeem_link(home, team.make_link(seat, "Ada"))
    assert ada
    team.disable_person(seat, owner + 1)
    for act in (spectrograms.kept, spectrograms.draw):
        with pytest.raises(NotAllowed):
            act(Seat(home, owner + 1), NAME, Asked())
        with pytest.raises(NotFound):
            act(seat, kept(b"other", "wav"), Asked())
        with pytest.raises(NotFound):
            act(seat, f"../{NAME}", Asked())


@pytest.mark.parametrize(
    "data", [WAV, WAV[:30], b"RIFF\xff\xff\xff\xffWAVEfmt \xff\xff\xff\x7f" + bytes(40), tone(1)[:44]]
)
def test_what_cannot_be_decoded_is_said_and_not_kept(home: Home, owner: int, seat: Seat, data: bytes) -> None:
    path = home.media_dir / NAME[:2] / NAME
    path.write_bytes(data)
    with pytest.raises(NotDrawnError, match=r"\w+ .*\."):
        spectrograms.draw(seat, NAME, Asked())
    assert not cached(home)


def test_a_picture_is_no_recording(home: Home, owner: int) -> None:
    table = table_of(
        make_zip({"t.csv": b"candidates,image\na|b,x.png\nb|a,x.png\na,x.png\n", "x.png": picture(3)})
    )
    importing.create(Seat(home, owner), "pictures", table, LearnerSettings(n_neighbors=3))
    with pytest.raises(NotDrawnError):
        spectrograms.draw(Seat(home, owner), kept(picture(3)), Asked())


def test_a_segment_beyond_the_recording_is_said(seat: Seat) -> None:
    with pytest.raises(NotDrawnError, match="ends at 10 s"):
        spectrograms.draw(seat, NAME, Asked(11, 12))
    assert spectrograms.draw(seat, NAME, Asked(9, 12)).edges.t1 == 10


def test_many_at_once_leave_whole_pictures_alone(seat: Seat) -> None:
    asked = [Asked(float(n % 3), n % 3 + 2.0) for n in range(12)]
    with ThreadPoolExecutor(6) as threads:
        drawn = list(threads.map(lambda one: spectrograms.draw(seat, NAME, one), asked))
    assert drawn[:3] * 4 == drawn
    assert len(cached(seat.home)) == 3
    assert [spectrograms.kept(seat, NAME, one) for one in asked[:3]] == drawn[:3]


def test_the_cache_keeps_the_latest_that_fit(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    for second in range(4):
        spectrograms.draw(seat, NAME, Asked(second, second + 2))
        (latest,) = (path for path in cached(seat.home) if path.name.startswith(f"{NAME}-{second}.000-"))
        os.utime(latest, (1_000 + second, 1_000 + second))
    monkeypatch.setattr(spectrograms, "LEAST_COUNTED", 1)
    sizes = [path.stat().st_size for path in cached(seat.home)]
    monkeypatch.setattr(spectrograms, "MOST_KEPT", sum(sizes) - 1)
    spectrograms.draw(seat, NAME, Asked(4, 6))
    seconds = {path.name.split("-")[1] for path in cached(seat.home)}
    assert "0.000" not in seconds
    assert {"3.000", "4.000"} <= seconds
    assert spectrograms.kept(seat, NAME, Asked(0, 2)) is None


def test_pictures_of_silence_do_not_fill_the_cache_with_files(
    home: Home, owner: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    silence = tone(9)[:44] + bytes(len(tone(9)) - 44)
    files_project(home, owner, {"silence.wav": silence})
    monkeypatch.setattr(spectrograms, "MOST_KEPT", 3 * spectrograms.LEAST_COUNTED)
    for second in range(6):
        drawn = spectrograms.draw(Seat(home, owner), kept(silence, "wav"), Asked(second, second + 1))
    assert len(drawn.png) < spectrograms.LEAST_COUNTED / 4
    assert len(cached(home)) == 3


def test_a_damaged_picture_is_drawn_anew(seat: Seat) -> None:
    drawn = spectrograms.draw(seat, NAME, Asked())
    (path,) = cached(seat.home)
    for damage in (b"", b"{}\n", b"not json\nxx", b"[1]\nxx", b'{"t0": 1}\nxx'):
        path.write_bytes(damage)
        assert spectrograms.kept(seat, NAME, Asked()) is None
        assert spectrograms.draw(seat, NAME, Asked()) == drawn


def test_a_full_disk_keeps_nobody_from_looking(seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spectrograms, "_keep", full)
    assert spectrograms.draw(seat, NAME, Asked()).png
    assert not cached(seat.home)


@on_sqlite
def test_a_backup_leaves_out_what_can_be_drawn_again(seat: Seat, tmp_path: Path) -> None:
    spectrograms.draw(seat, NAME, Asked())
    making.make(seat.home, tmp_path / "backup.zip")
    with zipfile.ZipFile(tmp_path / "backup.zip") as made:
        assert "winnow.sqlite3" in made.namelist()
        assert not [name for name in made.namelist() if "cache" in name]
