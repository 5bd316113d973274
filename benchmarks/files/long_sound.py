"""An hour of sound in one WAV file of a gigabyte: memory and time to describe 3,600 segments, to import a folder with
them, and to draw some. What is measured runs in a process of its own, so that its peak memory is its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from benchmarks import homes
from benchmarks.harness import Table, clocked, folder, in_process, page, sized
from benchmarks.processes import peak
from plcore.tables.media.sound import Sound, describe_sound, sound_facts, spectrogram, to_png
from workflow import importing

TITLE = "An hour of sound"
PACKAGES = ("numpy", "scipy", "soundfile")
HOUR = sized(3600, tiny=120)
RATE, CHANNELS, SUBTYPE = 48_000, 2, "PCM_24"
MIDDLE = HOUR / 2
VIEWS = {
    "1 s and 2 s around": (MIDDLE, MIDDLE + 1),
    "3 s and 2 s around": (MIDDLE, MIDDLE + 3),
    "5 minutes": (MIDDLE, MIDDLE + HOUR / 12),
    "an hour": (None, None),
}


def write_hour(path: Path) -> None:
    """Write noise with a sweep in every second, a minute of it again and again."""
    rng = np.random.default_rng(0)
    t = np.arange(60 * RATE) / RATE
    sweep = 0.3 * np.sin(2 * np.pi * (2000 + 40 * t) * t) * (t % 1 < 0.3)
    minute = sweep[:, None] + 0.02 * rng.standard_normal((len(t), CHANNELS))
    with soundfile.SoundFile(path, "w", RATE, CHANNELS, SUBTYPE) as file:
        for _ in range(HOUR // 60):
            file.write(minute)


def nothing(_path: str) -> tuple[float, None]:
    return peak(), None


def describe(path: str) -> tuple[float, float]:
    def all_of_it() -> np.ndarray:
        with Sound(Path(path)) as sound:
            return np.array([describe_sound(sound, second, second + 1) for second in range(HOUR)])

    numbers, seconds = clocked(all_of_it)
    assert np.all(np.linalg.norm(numbers, axis=1) > 0.8)
    return peak(), seconds


def import_folder(path: str) -> tuple[float, float]:
    """As `winnow import FOLDER` does, into a home of its own."""

    def all_of_it() -> None:
        with folder() as place, homes.owner_of(place) as owner:
            upload, made = importing.read_as_named(Path(path).parent, {})
            assert made.media.sounds is not None
            assert made.n_rows == HOUR
            importing.create(owner, "hour", made, upload=upload)

    seconds = clocked(all_of_it)[1]
    return peak(), seconds


def draw(path: str) -> tuple[float, list[float]]:
    def of_view(view: tuple[Any, Any]) -> float:
        times = [clocked(lambda: to_png(spectrogram(Path(path), *view)))[1] for _ in range(5)]
        return 1e3 * float(np.median(times))

    times = [of_view(view) for view in VIEWS.values()]
    return peak(), times


def measure() -> str:
    table = Table("what | peak memory, MB | of it the process alone, MB | CPU")
    with folder() as place:
        write_hour(path := place / "hour.wav")
        lines = "".join(f"hour.wav,{s},{s + 1},{'tit' if s % 3 else 'wren'}|robin\n" for s in range(HOUR))
        (place / "segments.csv").write_text(f"file,start,end,candidates\n{lines}")
        facts, size = sound_facts(path), path.stat().st_size / 1e9
        idle, _ = in_process(nothing, str(path))
        for what, call in (
            (f"{HOUR:,} segments of 1 s described", describe),
            ("the folder imported as a project: read, described, kept", import_folder),
        ):
            most, seconds = in_process(call, str(path))
            table.add(what, f"{most:.0f}", f"{idle:.0f}", f"{seconds:.1f} s")
        most, times = in_process(draw, str(path))
        for name, ms in zip(VIEWS, times, strict=True):
            table.add(f"spectrogram and PNG, {name}", f"{most:.0f}", f"{idle:.0f}", f"{ms:.0f} ms")
    return page(
        f"""One file: {size:.2f} GB, {facts.seconds:,.0f} s, {facts.rate:,} Hz, {facts.channels} channels,
{facts.subtype}.""",
        table,
        """Spectrograms of 800 x 256 points up to 12 kHz, the file opened again each time: the median of 5. Of the
view of an hour not every window is looked at (`plcore/tables/media/sound/drawing.py`).""",
    )
