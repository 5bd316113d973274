"""From an answer to the model version that has learnt it, with a worker process as the server starts it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import report
from plcore import Entry, LabelTable, LearnerSettings, Roles
from plcore.common import one_thread_for_good
from plcore.loop import MODEL_ENTRIES, Upkeep
from plcore.loop.one_label import OneLabelPool, Trainer
from tests.workflow.world import opened
from workflow import answering, projects
from workflow.home import Home, open_home
from workflow.people import team
from workflow.seat import Seat
from workflow.settings import Settings

ROWS, FEATURES, CLASSES = 2_000, 768, 10
ANSWERS = 10
PATIENCE = 120.0
PROGRAM = Path(__file__).parents[1] / "worker.py"


def table() -> LabelTable:
    """Embedding-like rows: ten classes that a linear rule tells apart to about nine in ten, a fifth of false labels."""
    rng = np.random.default_rng(0)
    truth = rng.integers(CLASSES, size=ROWS)
    X = 0.15 * rng.normal(size=(CLASSES, FEATURES))[truth] + rng.normal(size=(ROWS, FEATURES))
    sets = rng.random((ROWS, CLASSES)) < 0.2
    sets[np.arange(ROWS), truth] = True
    frame = pd.DataFrame(X.round(4), columns=[f"e{k:03d}" for k in range(FEATURES)])
    frame.insert(0, "candidates", ["|".join(f"c{k}" for k in np.flatnonzero(row)) for row in sets])
    return LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=tuple(frame.columns[1:])))


def seconds_to_see(home: Home, owner: int, project: int) -> float:
    """Wall seconds from an answer to the learner that has adopted a version which knows it."""
    question = answering.next_question(Seat(home, owner, project))
    assert question is not None
    begun = time.perf_counter()
    saved = answering.submit_answer(Seat(home, owner, project), question.token, "is", [question.choices[0]])
    wait_for(home, owner, project, saved.seq)
    return time.perf_counter() - begun


def wait_for(home: Home, owner: int, project: int, version: int) -> None:
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        with opened(home, owner, project) as learner:
            if learner.version_published is not None and learner.version_published >= version:
                return
        time.sleep(0.02)
    raise AssertionError(f"version {version} was not published within {PATIENCE} s")


def seconds_of_cpu(model: str, data: LabelTable) -> tuple[float, float]:
    """CPU seconds of the first version of a model, features of the table and all that is done once included; median of
    the versions after one more answer each."""
    pool = OneLabelPool(data, LearnerSettings(model=model, strategy="margin", control_share=0.08))
    begun = time.process_time()
    trainer = Trainer(pool)
    trainer.train()
    first, later = time.process_time() - begun, []
    for seq, row in enumerate([int(row) for row in pool.train if pool.is_open(row)][:3], 1):
        pool.apply(Entry(seq, "is", row, "ann", pool.names(pool.candidates[row])[:1]))
        begun = time.process_time()
        trainer.train()
        later.append(time.process_time() - begun)
    return first, float(np.median(later))


def main() -> None:
    one_thread_for_good()
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Settings.from_environment({"WINNOW_HOME": folder}))
        owner, data = team.ensure_owner(home).id, table()
        worker = subprocess.Popen(
            [sys.executable, str(PROGRAM), "--with-parent"],
            stdin=subprocess.PIPE,
            env={**os.environ, "WINNOW_HOME": folder},
        )
        try:
            for model in (one.name for one in MODEL_ENTRIES.values() if one.upkeep is Upkeep.TRAINED):
                settings = LearnerSettings(
                    model=model, strategy="margin", train_every=1, train_seconds=0.0, control_share=0.08
                )
                project = projects.create_project(Seat(home, owner), model, data, settings)
                wait_for(home, owner, project, 0)
                times = [seconds_to_see(home, owner, project) for _ in range(ANSWERS)]
                projects.archive_project(Seat(home, owner, project))
                cpu = seconds_of_cpu(model, data)
                lines.append(
                    f"| {model} | {np.median(times):.2f} | {max(times):.2f} | {cpu[0]:.2f} | {cpu[1]:.2f} |"
                )
        finally:
            assert worker.stdin is not None
            worker.stdin.close()
            worker.wait(30)
            home.close()
    report.write(
        "retraining",
        "From an answer to the model that knows it",
        f"""
{ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers one after the other, each trained at once by a
worker process: wall seconds from the press of the key to the learner of the server having adopted the version that has
learnt the answer. No fit starts from the version before (docs/decisions/0009); the options are those of
`plcore.loop.MODEL_ENTRIES`. Target: 2 s. Beside them the CPU seconds, of one thread in this process, of a project's
first version and of the next ones: the kernel ridge chooses its settings and computes its kernel for the first alone.

| model | median s | longest s | CPU s, first version | CPU s, the next |
|---|---|---|---|---|
"""
        + "\n".join(lines)
        + "\n",
        ("numpy", "scipy", "scikit-learn", "numba"),
    )


if __name__ == "__main__":
    main()
