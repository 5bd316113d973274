"""Cost of encoding an hour of sound: everything except the model.

No encoder of sounds is verified yet, so the model here gives the sum of each window and the sum of its squares, which
costs next to nothing. Everything else is as for any encoder: recordings are decoded, resampled and cut into windows by
limited processes. The windows are those of the catalogue. CPU and memory are of all processes; memory is what no file
holds, above that of the process that has the table. An encoder is to take 65 s of an idle core for the hour; the last
column says what is left of them for the model, for each window.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import soundfile

from benchmarks.harness import Table, benchmark, folder, in_process, load_average, met, page, sized
from benchmarks.processes import Watch, own_memory
from plcore.tables.encoders import read_catalogue
from tests.plcore.tables.encoders.models import encoder, energy
from workflow.importing import encoding
from workflow.importing.uploads import read_as_named

RATE, MINUTES = 48_000, sized(60, tiny=2)
SUBTYPES = {"FLAC": "PCM_16", "OGG": "VORBIS"}
TARGET, MOST = 65, 600
"""Target seconds for an hour, and MB."""
CASES = {
    "60 recordings of a minute, FLAC": ("FLAC", 1, None),
    "60 recordings of a minute, Ogg": ("OGG", 1, None),
    "one recording of an hour, FLAC, by the window": ("FLAC", MINUTES, "seconds"),
    "60 recordings of a minute, FLAC, a window each second": ("FLAC", 1, "hop"),
}
"""Format, minutes of a recording, and its windows: rows of one window each, windows with a hop, or uncut."""


def recordings(at: Path, form: str, minutes: int, seconds: float | None) -> Path:
    """Return a zip of noise recordings and their table. seconds : of a row; None: a row is a recording"""
    path = at / "sounds.zip"
    path.unlink(missing_ok=True)
    ending = form.lower()
    rng = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w") as archive:
        lines = ["id,candidates,call,start,end"] if seconds else ["id,candidates,call"]
        for number in range(MINUTES // minutes):
            name = f"{number}.{ending}"
            with soundfile.SoundFile(at / name, "w", RATE, 1, SUBTYPES[form]) as file:
                for _ in range(60 * minutes):
                    file.write((0.003 * rng.normal(size=RATE)).astype(np.float32))
            archive.write(at / name, name)
            (at / name).unlink()
            if seconds is None:
                lines.append(f"r{number},a|b,{name}")
                continue
            begins = np.arange(int(60 * minutes / seconds)) * seconds
            lines += [f"r{number}-{one:g},a|b,{name},{one:g},{one + seconds:g}" for one in begins]
        archive.writestr("sounds.csv", "\n".join(lines))
    return path


def cost_of(key: str, case: str, at: str) -> list[float]:
    """Return windows, CPU seconds, MB of all processes above the initial ones, from a separate process."""
    form, minutes, cut = CASES[case]
    about = dict(read_catalogue()[key].preparation)
    if cut == "hop":
        about |= {"hop": 1, "windows": 60}
    seconds = about["seconds"] if cut == "seconds" else None
    path = recordings(Path(at), form, minutes, seconds)
    samples = round(about["rate"] * about["seconds"])
    made = encoder(Path(at) / key, about, energy(samples))
    columns = {"audio": "call"} | ({"start": "start", "end": "end"} if seconds else {})
    _, table = read_as_named(path, columns)
    before = own_memory()
    with Watch() as watch:
        encoding.encode_to(Path(at) / "vectors.npz", table, encoding.Encoder(made))
    rows = len(np.load(Path(at) / "vectors.npz")["ids"])
    length = 60 * minutes if seconds is None else seconds
    hop = about.get("hop") or about["seconds"]
    windows = min(about["windows"], 1 + int((length - about["seconds"]) / hop))
    return [rows * windows, watch.cpu, watch.peak - before]


@benchmark("An hour of sound on its way to an encoder", packages=("onnxruntime", "soundfile"))
def meaning_sound() -> str:
    table = Table("rows | windows as of | windows | CPU s | memory above, MB |  | ms left for a window")
    with folder(large=True) as at:
        for case in CASES:
            for key in ("perch2", "birdnet24"):
                windows, seconds, memory = in_process(cost_of, key, case, str(at))
                left = 1000 * (TARGET * MINUTES / 60 - seconds) / windows
                table.add(
                    case, key, int(windows), f"{seconds:.1f}", f"{memory:.0f}",
                    met(seconds <= TARGET and memory <= MOST), f"{left:.0f}",
                )  # fmt: skip
    return page((__doc__ or "").split("\n\n", 1)[1], load_average(), table)
