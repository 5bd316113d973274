"""Ten thousand rows encoded by the worker: CPU, wall time and memory until the vectors are stored.

A project has 10,000 texts, or 10,000 photos of 480 x 360 points: about what a zip of 200 MB holds, and no two files are
alike. A worker is started as the server starts it, an owner asks for an encoder, and the worker encodes the rows and
stores the vectors, for which it builds the learner that asks by them. It trains the first model before, which is not
counted. CPU and memory are of the worker and of the limited processes that decode for it, all at once; memory is what
no file holds, above that of the worker before. An idle core is to encode the texts in 60 s by MiniLM and 2 s by
WordLlama, and the photos in 300 s, with at most 600 MB.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from benchmarks import homes
from benchmarks.harness import ROOT, Table, benchmark, data_folder, folder, in_process, load_average, met, page, sized
from benchmarks.processes import Watch
from plcore import LearnerSettings
from tests.plcore.tables.encoders.wheels import build_encoder
from workflow.importing import encoding_requests
from workflow.importing.uploads import read_as_named
from workflow.models.encoders import offers
from workflow.projects import managing

ENCODED = sized(10_000, tiny=40)
SIZE, QUALITY = (480, 360), 60
CASES = {
    "minilm": ("MiniLM", "text", 60),
    "wordllama": ("WordLlama", "text", 2),
    "efflite0": ("EfficientNet-Lite0", "image", 300),
}
"""Title of each encoder, its input, and target seconds for all rows on an idle core."""
MOST = 600
"""Target MB above those of the worker before."""


def texts(at: Path) -> Path:
    """Return a table of bank customers' questions, numbered so that all differ."""
    frame = pd.read_csv(data_folder() / "meaning" / "banking77.csv.gz")
    found = [f"{text} {number}" for number, text in zip(range(ENCODED), frame["text"].tolist(), strict=False)]
    path = at / "texts.csv"
    pd.DataFrame({"id": range(ENCODED), "candidates": "a|b", "text": found}).to_csv(path, index=False)
    return path


def photos(at: Path) -> Path:
    """Return a zip of enlarged photos of clothes, each with different grain, and their table."""
    rng, path = np.random.default_rng(0), at / "photos.zip"
    with zipfile.ZipFile(data_folder() / "meaning" / "clothing_600.zip") as given, zipfile.ZipFile(path, "w") as made:
        names = [name for name in given.namelist() if name.endswith(".jpg")]
        for number in range(ENCODED):
            with Image.open(io.BytesIO(given.read(names[number % len(names)]))) as photo:
                points = np.asarray(photo.convert("RGB").resize(SIZE), dtype=np.int16)
            grain = rng.integers(-4, 5, size=points.shape[:2])[..., None]
            file = io.BytesIO()
            Image.fromarray(np.clip(points + grain, 0, 255).astype(np.uint8)).save(file, "JPEG", quality=QUALITY)
            made.writestr(f"{number}.jpg", file.getvalue())
        lines = [f"{number},a|b,{number}.jpg" for number in range(ENCODED)]
        made.writestr("photos.csv", "\n".join(["id,candidates,image", *lines]))
    return path


def cost_of(key: str, at: str) -> list[float]:
    """Return CPU seconds to encode and to store; MB of the worker before, while it encodes, and while it
    stores; from a separate process."""
    _, kind, _ = CASES[key]
    with homes.owner_of(Path(at) / f"home {key}") as owner:
        _, table = read_as_named((texts if kind == "text" else photos)(Path(at)), {kind: kind})
        seat = owner.at(managing.create_project(owner, key, table, LearnerSettings(model="plknn")))
        build_encoder(key, owner.home.encoders_dir)
        command = [sys.executable, str(ROOT / "worker.py"), "--with-parent"]
        environment = {**os.environ, "WINNOW_HOME": str(owner.home.settings.home)}
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as worker:
            assert worker.stdin is not None
            with worker.stdin:
                offers.ask(seat, key)
                with Watch(worker.pid) as before:
                    while (running := encoding_requests.encoders(seat).running) and not running.begun:
                        time.sleep(0.02)
                with Watch(worker.pid) as encoding:
                    while (running := encoding_requests.encoders(seat).running) and running.done < ENCODED:
                        time.sleep(0.05)
                with Watch(worker.pid) as storing:
                    while encoding_requests.encoders(seat).running:
                        time.sleep(0.05)
        if (failed := encoding_requests.encoders(seat).failed) is not None:
            raise RuntimeError(failed)
    return [encoding.cpu, storing.cpu, before.peak, encoding.peak, storing.peak]


@benchmark("Ten thousand rows through the worker", packages=("onnxruntime", "tokenizers"))
def meaning_worker() -> str:
    table = Table("rows | encoder | encoding, CPU s | target | MB above | storing, CPU s | MB above | ")
    with folder(large=True) as at:
        for key, (title, kind, target) in CASES.items():
            encoding, storing, before, *most = in_process(cost_of, key, str(at))
            rows = f"{ENCODED:,} {'texts' if kind == 'text' else 'photos'}"
            table.add(
                rows, title, f"{encoding:.1f}", target, f"{most[0] - before:.0f}",
                f"{storing:.1f}", f"{most[1] - before:.0f}",
                met(encoding <= target and max(most) - before <= MOST),
            )  # fmt: skip
    return page((__doc__ or "").split("\n\n", 1)[1], load_average(), table)
