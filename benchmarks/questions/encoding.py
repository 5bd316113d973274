"""Costs of encoding: in the worker, for sound, and for those who answer meanwhile."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import soundfile
from PIL import Image
from sqlalchemy import text

from benchmarks import homes
from benchmarks.answering.presses import presses
from benchmarks.harness import (
    Rows,
    Table,
    benchmark,
    data_folder,
    folder,
    in_process,
    met,
    page,
    percentiles,
    sized,
    with_interval,
)
from benchmarks.processes import Watch, cpu_of, family, memory, own_memory
from plcore import LabelTable, LearnerSettings, Roles
from plcore.tables.encoders import read_catalogue
from tests.plcore.tables.encoders.models import encoder, energy
from tests.plcore.tables.encoders.wheels import build_encoder
from web.lifespan import HELD_AT_MOST
from workflow.importing import encoding, encoding_requests
from workflow.importing.uploads import read_as_named
from workflow.models.encoders import offers
from workflow.projects import managing
from workflow.seat import Seat

TEXTS, ROUNDS, PRESSED, IMPORTED = sized((10_000, 40, 15, 1_000), tiny=(600, 1, 2, 50))
JOINED = 5  # questions of bank customers per text
PAUSE = 0.05  # seconds between presses
DRAWS = 2_000
SETTINGS = LearnerSettings(model="plknn", control_share=0.08)  # so the worker trains no model
STATES = {
    "worker stopped": (False, False),
    "worker encodes": (True, False),
    "worker stopped, imports": (False, True),
    "worker encodes, imports": (True, True),
}
"""Whether the worker runs, and whether projects are created meanwhile."""


def long_texts() -> pd.DataFrame:
    """Return the rows: all texts differ."""
    found = pd.read_csv(data_folder() / "meaning" / "banking77.csv.gz")["text"].tolist()
    rng = np.random.default_rng(0)
    joined = [f"{' '.join(rng.choice(found, JOINED))} {number}" for number in range(TEXTS)]
    sets = ["|".join(f"class{k}" for k in rng.choice(20, 4, replace=False)) for _ in range(TEXTS)]
    return pd.DataFrame({"candidates": sets, "text": joined})


def rounds_of_presses(at: str) -> dict[str, list[list[float]]]:
    """Return wall ms of each round's answers by state, of the imports, and the worker's MB, from a separate process."""
    sys.setswitchinterval(HELD_AT_MOST)  # as the server does
    with homes.owner_of(Path(at) / "home") as owner:
        cells = long_texts()
        table = LabelTable.from_cells(cells, Roles(candidates="candidates", text="text"))
        seat = owner.at(managing.create_project(owner, "texts", table, SETTINGS))
        few = LabelTable.from_cells(cells.head(IMPORTED), table.roles)
        build_encoder("minilm", owner.home.encoders_dir)
        wall_of(seat, PRESSED)  # warm up
        offers.ask(seat, "minilm")
        with homes.working(owner.home.settings.home, start_new_session=True) as worker:
            return blocks(seat, few, worker.pid)


def blocks(seat: Seat, few: LabelTable, worker: int) -> dict[str, list[list[float]]]:
    """Answer in rounds until there are enough, or all rows are encoded; an incomplete last round is dropped."""
    found: dict[str, list[list[float]]] = {name: [] for name in [*STATES, "imports", "shares"]}
    memories, order = list[float](), np.random.default_rng(0)
    while not is_encoding(seat):
        time.sleep(0.02)
    for _ in range(ROUNDS):
        one: dict[str, list[float]] = {}
        for name in order.permutation(list(STATES)).tolist():
            runs, imports = STATES[name]
            with stopped(seat, worker, not runs), creating(seat, few, imports) as walls:
                begun, used = time.perf_counter(), cpu_of(worker)
                one[name] = wall_of(seat, PRESSED)
                share = (cpu_of(worker) - used) / (time.perf_counter() - begun)
            one.setdefault("imports", []).extend(walls)
            one.setdefault("shares", []).extend([share] * runs)
            memories.append(memory(worker).get("Anonymous", 0.0))
            if not is_encoding(seat):
                return found | {"memory": [[max(memories)]]}
        for name, walls in one.items():
            found[name].append(walls)
    return found | {"memory": [[max(memories)]]}


def is_encoding(seat: Seat) -> bool:
    now = encoding_requests.encoders(seat)
    if now.failed is not None:
        raise RuntimeError(now.failed)
    return now.running is not None and now.running.done > 0


@contextmanager
def stopped(seat: Seat, worker: int, is_stopped: bool) -> Iterator[None]:
    """Stop the worker and its descendants, but never while it writes to the database."""
    if not is_stopped:
        yield
        return
    with seat.home.database.write() as session:  # so that it is not writing
        session.execute(text("SELECT 1"))
        pids = family(worker)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


@contextmanager
def creating(seat: Seat, table: LabelTable, wanted: bool) -> Iterator[list[float]]:
    """Create projects from a loaded table, one after the other; yield wall ms of each."""
    walls, over = list[float](), threading.Event()

    def make() -> None:
        while not over.is_set():
            begun = time.perf_counter()
            managing.create_project(seat, f"more {begun}", table, SETTINGS)
            walls.append(1_000 * (time.perf_counter() - begun))

    thread = threading.Thread(target=make)
    if wanted:
        thread.start()
    try:
        yield walls
    finally:
        over.set()
        if wanted:
            thread.join()


def wall_of(seat: Seat, number: int) -> list[float]:
    """Return wall ms of answers with a pause before each, so that caches are equally cold in all states."""
    walls = []
    for _ in range(number):
        time.sleep(PAUSE)
        walls += [wall for _, _, wall in presses(seat, 1)]
    return walls


def ratio(above: list[list[float]], below: list[list[float]], at: float) -> str:
    """Return the ratio of two percentiles, and its 95% interval by resampling rounds."""

    def of(chosen: np.ndarray) -> float:
        first, second = (np.concatenate([runs[k] for k in chosen]) for runs in (above, below))
        return float(np.percentile(first, at) / np.percentile(second, at))

    return "{:.2f} ({:.2f} to {:.2f})".format(*with_interval(of, len(above), DRAWS))


@benchmark("Answering while a worker encodes", packages=("onnxruntime", "tokenizers"))
def meaning_presses() -> str:
    """A project has 10,000 texts of about 60 words, PL-KNN, on SQLite. A worker, started as the server starts it,
    encodes the rows by MiniLM while one person answers: a press is the answer, stored, and the next question, without a
    browser. Each round has four short blocks of presses, in an order drawn each time. In two the worker is stopped
    (SIGSTOP), in two it runs; in one of each a second thread makes projects of 1,000 texts, one after the other, as the
    server does at the end of an import. Other load on the machine affects both blocks of a pair alike.

    The ratio is that of all presses while the worker runs to all while it is stopped. Its 95% interval is from a
    bootstrap over the rounds. The ratio of imports compares blocks with imports to those without, in the same way.
    """
    with folder(large=True) as at:
        found = in_process(rounds_of_presses, str(at))
    most, walls = found.pop("memory")[0][0], np.concatenate(found.pop("imports"))
    shares = np.concatenate(found.pop("shares"))
    table = Table("presses | number | p50 ms | p95 ms | max ms")
    for name, runs in found.items():
        table.add(name, sum(map(len, runs)), *percentiles(np.concatenate(runs), digits=1))
    ratios = Table("ratio | p50 | p95")
    still, encodes, imports, both = (found[name] for name in STATES)
    for name, above, below in (
        ("encoding, no imports", encodes, still),
        ("encoding, imports", both, imports),
        ("imports, worker stopped", imports, still),
        ("imports, worker encodes", both, encodes),
    ):
        ratios.add(name, ratio(above, below, 50), ratio(above, below, 95))
    return page(
        f"{len(still)} rounds of {PRESSED} presses a block. {len(walls):,} projects were made, each in "
        f"{np.median(walls):.0f} ms at the median. The worker has at most {most:,.0f} MB of its own, and while it runs "
        f"it has {np.mean(shares):.0%} of a core.",
        table,
        ratios,
    )


# Sound

RATE, MINUTES = 48_000, sized(60, tiny=2)
SUBTYPES = {"FLAC": "PCM_16", "OGG": "VORBIS"}
TARGET = 65
"""Target seconds for an hour."""
RECORDINGS = {
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


def cost_of_sound(key: str, case: str, at: str) -> list[float]:
    """Return windows, CPU seconds, MB of all processes above the initial ones, from a separate process."""
    form, minutes, cut = RECORDINGS[case]
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


@benchmark(
    "Preparing an hour of sound for an encoder",
    head="rows | windows as for | windows | CPU s | memory above, MB |  | ms left for a window",
    packages=("onnxruntime", "soundfile"),
)
def meaning_sound() -> Rows:
    """No encoder of sounds is verified yet, so the model here gives the sum of each window and the sum of its squares,
    which takes almost no time. Everything else is as for any encoder: recordings are decoded, resampled and cut into
    windows by limited processes. The windows are those of the catalogue. CPU and memory are of all processes; memory
    is anonymous memory, above that of the process with the table. Target: at most 65 s of an idle core for the hour;
    the last column is the part of them left for the model, per window. {load}"""
    with folder(large=True) as at:
        for case, key in product(RECORDINGS, ("perch2", "birdnet24")):
            windows, seconds, memory = in_process(cost_of_sound, key, case, str(at))
            left = 1000 * (TARGET * MINUTES / 60 - seconds) / windows
            verdict = met(seconds <= TARGET and memory <= MOST)
            yield case, key, int(windows), f"{seconds:.1f}", f"{memory:.0f}", verdict, f"{left:.0f}"


# The worker

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
    """Return CPU seconds to encode and to store; MB of the worker before, while it encodes, and while it stores; from a
    separate process."""
    _, kind, _ = CASES[key]
    with homes.owner_of(Path(at) / f"home {key}") as owner:
        _, table = read_as_named((texts if kind == "text" else photos)(Path(at)), {kind: kind})
        seat = owner.at(managing.create_project(owner, key, table, LearnerSettings(model="plknn")))
        build_encoder(key, owner.home.encoders_dir)
        with homes.working(owner.home.settings.home) as worker:
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


@benchmark(
    "Ten thousand rows through the worker",
    head="rows | encoder | encoding, CPU s | target | MB above | storing, CPU s | MB above | ",
    packages=("onnxruntime", "tokenizers"),
)
def meaning_worker() -> Rows:
    """A project has 10,000 texts, or 10,000 photos of 480 x 360 points: about what a zip of 200 MB holds, and no two
    files are alike. A worker starts like on a server, an owner requests an encoder, and the worker encodes the rows,
    stores the vectors, and builds the learner that uses them. Training the first model beforehand is not counted. CPU
    and memory are the sum of the worker and of its decoding processes; memory is anonymous memory, above that of the
    worker before. Targets on an idle core: the texts in 60 s by
    MiniLM and 2 s by WordLlama, and the photos in 300 s, with at most 600 MB. {load}"""
    with folder(large=True) as at:
        for key, (title, kind, target) in CASES.items():
            encoding, storing, before, *most = in_process(cost_of, key, str(at))
            rows, above = f"{ENCODED:,} {'texts' if kind == 'text' else 'photos'}", [one - before for one in most]
            verdict = met(encoding <= target and max(above) <= MOST)
            costs = f"{encoding:.1f}", target, f"{above[0]:.0f}", f"{storing:.1f}", f"{above[1]:.0f}"
            yield rows, title, *costs, verdict
