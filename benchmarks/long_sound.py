"""An hour of sound in one WAV file of a gigabyte: memory and time to describe 3,600 segments, to import a folder with
them, and to draw some.

The file is written to a temporary folder. What is measured runs in a process of its own, so that its peak memory is its
own; beside it, what such a process takes that does nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import soundfile
from threadpoolctl import threadpool_limits

from benchmarks.report import write
from plcore.tables.sound import Sound, describe_sound, sound_facts, spectrogram, to_png
from workflow import importing
from workflow.home import open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

HOUR = 3600
RATE, CHANNELS = 48_000, 2
SUBTYPE = "PCM_24"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hour.wav"
        write_hour(path)
        lines = "".join(f"hour.wav,{s},{s + 1},{'tit' if s % 3 else 'wren'}|robin\n" for s in range(HOUR))
        (Path(folder) / "segments.csv").write_text(f"file,start,end,candidates\n{lines}")
        idle, described, drawn, imported = (
            measured(what, path) for what in ("nothing", "describe", "draw", "import")
        )
        body = table(path, idle, described, drawn, imported)
    write("long_sound", "An hour of sound", body, ("numpy", "scipy", "soundfile"))


def write_hour(path: Path) -> None:
    """Noise with a sweep in every second, a minute of it again and again."""
    rng = np.random.default_rng(0)
    t = np.arange(60 * RATE) / RATE
    sweep = 0.3 * np.sin(2 * np.pi * (2000 + 40 * t) * t) * (t % 1 < 0.3)
    minute = sweep[:, None] + 0.02 * rng.standard_normal((len(t), CHANNELS))
    with soundfile.SoundFile(path, "w", RATE, CHANNELS, SUBTYPE) as file:
        for _ in range(HOUR // 60):
            file.write(minute)


def table(path: Path, idle: dict, described: dict, drawn: dict, imported: dict) -> str:
    facts = sound_facts(path)
    return "\n".join(
        [
            f"One file: {path.stat().st_size / 1e9:.2f} GB, {facts.seconds:,.0f} s, {facts.rate:,} Hz, "
            f"{facts.channels} channels, {facts.subtype}.",
            "",
            "| what | peak memory, MB | of it the process alone, MB | CPU |",
            "|---|---:|---:|---:|",
            f"| {HOUR:,} segments of 1 s described | {described['peak']:.0f} | {idle['peak']:.0f} | "
            f"{described['seconds']:.1f} s |",
            f"| the folder imported as a project: read, described, kept | {imported['peak']:.0f} | "
            f"{idle['peak']:.0f} | {imported['seconds']:.1f} s |",
            *(
                f"| spectrogram and PNG, {name} | {drawn['peak']:.0f} | {idle['peak']:.0f} | {ms:.0f} ms |"
                for name, ms in drawn["ms"].items()
            ),
            "",
            "Spectrograms of 800 x 256 points up to 12 kHz, the file opened anew each time: the median of 5. Of the "
            "view of an hour not every window is looked at (`plcore/tables/sound/drawing.py`).",
        ]
    )


def measured(what: str, path: Path) -> dict:
    """What the process that does this says of itself."""
    command = [sys.executable, "-m", "benchmarks.long_sound", what, str(path)]
    return dict(json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout))


def inside(what: str, path: Path) -> dict:
    said: dict = {}
    if what == "describe":
        begun = time.process_time()
        with Sound(path) as sound:
            numbers = np.array([describe_sound(sound, second, second + 1) for second in range(HOUR)])
        assert np.all(np.linalg.norm(numbers, axis=1) > 0.8)
        said["seconds"] = time.process_time() - begun
    if what == "import":
        begun = time.process_time()
        import_folder(path.parent)
        said["seconds"] = time.process_time() - begun
    if what == "draw":
        views = {
            "1 s and 2 s around": (1800.0, 1801.0),
            "3 s and 2 s around": (1800.0, 1803.0),
            "5 minutes": (1800.0, 2100.0),
            "an hour": (None, None),
        }
        said["ms"] = {
            name: np.median([draw_ms(path, *view) for _ in range(5)]) for name, view in views.items()
        }
    return {**said, "peak": peak_memory()}


def import_folder(folder: Path) -> None:
    """As `winnow import FOLDER` does, into a home of its own."""
    with tempfile.TemporaryDirectory() as home_folder:
        home = open_home(Settings.from_environment({"WINNOW_HOME": home_folder}))
        owner = Seat(home, team.ensure_owner(home).id)
        upload, made = importing.read_as_named(folder, {})
        assert made.media.sounds is not None
        assert made.n_rows == HOUR
        importing.create(owner, "hour", made, upload=upload)
        home.close()


def peak_memory() -> float:
    """MB of this process; `getrusage` would say its parent's, where that was larger when it started this one."""
    (line,) = [
        line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")
    ]
    return int(line.split()[1]) / 1024


def draw_ms(path: Path, start: float | None, end: float | None) -> float:
    begun = time.process_time()
    to_png(spectrogram(path, start, end))
    return (time.process_time() - begun) * 1e3


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with threadpool_limits(1):
            print(json.dumps(inside(sys.argv[1], Path(sys.argv[2]))))
    else:
        main()
