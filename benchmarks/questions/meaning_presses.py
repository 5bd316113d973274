"""Answering while a worker encodes, in pairs: intervals with the worker running and with it stopped.

A project has 10,000 texts of about 60 words, PL-KNN, on SQLite. A worker, started as the server starts it, encodes the
rows by MiniLM while one person answers: a press is the answer, stored, and the next question, without a browser. Each
round has four short blocks of presses, in an order drawn each time. In two the worker is stopped (SIGSTOP), in two it
runs; in one of each a second thread makes projects of 1,000 texts, one after the other, as the server does at the end
of an import. What else keeps the machine busy is in both blocks of a pair alike.

The ratio is that of all presses while the worker runs to all while it is stopped. Its 95% interval is from a bootstrap
over the rounds. The ratio of imports compares blocks with imports to those without, in the same way.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
from sqlalchemy import text

from benchmarks import homes
from benchmarks.answering.press import presses
from benchmarks.harness import (
    ROOT,
    Table,
    benchmark,
    data_folder,
    folder,
    in_process,
    load_average,
    page,
    percentiles,
    sized,
)
from benchmarks.processes import TICK, family, memory
from plcore import LabelTable, LearnerSettings, Roles
from tests.plcore.tables.encoders.wheels import build_encoder
from web.lifespan import HELD_AT_MOST
from workflow.importing import encoding_requests
from workflow.models.encoders import offers
from workflow.projects import managing
from workflow.seat import Seat

ENCODED, ROUNDS, PRESSED, IMPORTED = sized((10_000, 40, 15, 1_000), tiny=(600, 1, 2, 50))
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


def texts() -> pd.DataFrame:
    """Return the rows: all texts differ."""
    found = pd.read_csv(data_folder() / "meaning" / "banking77.csv.gz")["text"].tolist()
    rng = np.random.default_rng(0)
    joined = [f"{' '.join(rng.choice(found, JOINED))} {number}" for number in range(ENCODED)]
    sets = ["|".join(f"class{k}" for k in rng.choice(20, 4, replace=False)) for _ in range(ENCODED)]
    return pd.DataFrame({"candidates": sets, "text": joined})


def rounds_of_presses(at: str) -> dict[str, list[list[float]]]:
    """Return wall ms of each round's answers by state, of the imports, and the worker's MB, from a separate
    process."""
    sys.setswitchinterval(HELD_AT_MOST)  # as the server does
    with homes.owner_of(Path(at) / "home") as owner:
        cells = texts()
        table = LabelTable.from_cells(cells, Roles(candidates="candidates", text="text"))
        seat = owner.at(managing.create_project(owner, "texts", table, SETTINGS))
        few = LabelTable.from_cells(cells.head(IMPORTED), table.roles)
        build_encoder("minilm", owner.home.encoders_dir)
        wall_of(seat, PRESSED)  # warm up
        offers.ask(seat, "minilm")
        command = [sys.executable, str(ROOT / "worker.py"), "--with-parent"]
        environment = {**os.environ, "WINNOW_HOME": str(owner.home.settings.home)}
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, start_new_session=True) as worker:
            assert worker.stdin is not None
            with worker.stdin:
                return blocks(seat, few, worker.pid)


def blocks(seat: Seat, few: LabelTable, worker: int) -> dict[str, list[list[float]]]:
    """Answer in rounds until there are enough, or all rows are encoded; an incomplete last round is
    dropped."""
    found: dict[str, list[list[float]]] = {name: [] for name in [*STATES, "imports", "shares"]}
    memories, order = list[float](), np.random.default_rng(0)
    while not is_encoding(seat):
        time.sleep(0.02)
    for _ in range(ROUNDS):
        one: dict[str, list[float]] = {}
        for name in order.permutation(list(STATES)).tolist():
            runs, imports = STATES[name]
            with stopped(seat, worker, not runs), importing(seat, few, imports) as walls:
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


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process so far."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(stat[11]) + int(stat[12])) / TICK


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
def importing(seat: Seat, table: LabelTable, wanted: bool) -> Iterator[list[float]]:
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
    rng, n = np.random.default_rng(0), len(above)

    def of(chosen: np.ndarray) -> float:
        first, second = (np.concatenate([runs[k] for k in chosen]) for runs in (above, below))
        return float(np.percentile(first, at) / np.percentile(second, at))

    low, high = np.percentile([of(rng.integers(n, size=n)) for _ in range(DRAWS)], (2.5, 97.5))
    return f"{of(np.arange(n)):.2f} ({low:.2f} to {high:.2f})"


@benchmark("Answering while a worker encodes", packages=("onnxruntime", "tokenizers"))
def meaning_presses() -> str:
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
        (__doc__ or "").split("\n\n", 1)[1],
        f"{len(still)} rounds of {PRESSED} presses a block. {len(walls):,} projects were made, each in "
        f"{np.median(walls):.0f} ms at the median. The worker has at most {most:,.0f} MB of its own, and while it runs "
        f"it has {np.mean(shares):.0%} of a core.",
        load_average(),
        table,
        ratios,
    )
