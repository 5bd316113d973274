"""Time from an answer to the model version that has learnt from it, with a worker process started as by the
server."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from benchmarks import homes
from benchmarks.harness import ROOT, Table, benchmark, clocked, folder, page, sized
from plcore import Entry, LabelTable, LearnerSettings
from plcore.arrays import one_thread_for_good
from plcore.loop import MODEL_ENTRIES, Upkeep
from plcore.loop.one_label import OneLabelPool, Trainer
from tests.workflow.world import opened
from workflow.answering import loop
from workflow.projects import managing
from workflow.seat import Seat

ROWS, FEATURES, CLASSES = SIZE = sized((2_000, 768, 10), tiny=(120, 8, 4))
ANSWERS = sized(10, tiny=1)
PATIENCE = 120.0


def seconds_to_see(seat: Seat) -> float:
    """Return the wall seconds from an answer until the learner has adopted a version that includes it."""
    question = loop.next_question(seat)
    assert question is not None
    begun = time.perf_counter()
    saved = loop.submit_answer(seat, question.token, "is", [question.choices[0]])
    wait_for(seat, saved.seq)
    return time.perf_counter() - begun


def wait_for(seat: Seat, version: int) -> None:
    until = time.perf_counter() + PATIENCE
    while time.perf_counter() < until:
        with opened(seat.home, seat.person_id, seat.project_id) as learner:
            if learner.version_published is not None and learner.version_published >= version:
                return
        time.sleep(0.02)
    raise AssertionError(f"version {version} was not published within {PATIENCE} s")


def seconds_of_cpu(model: str, data: LabelTable) -> tuple[float, float]:
    """Return the CPU seconds of a model's first version, and the median of the versions after one more answer each."""
    pool = OneLabelPool(data, LearnerSettings(model=model, strategy="margin", control_share=0.08))
    trainer, begun = clocked(lambda: Trainer(pool))
    first, later = begun + clocked(trainer.train)[1], []
    for seq, row in enumerate([int(row) for row in pool.train if pool.is_open(row)][:3], 1):
        pool.apply(Entry(seq, "is", row, "ann", pool.names(pool.candidates[row])[:1]))
        later.append(clocked(trainer.train)[1])
    return first, float(np.median(later))


@benchmark("From an answer to the model that knows it")
def retraining() -> str:
    one_thread_for_good()
    table = Table("model | median s | longest s | CPU s, first version | CPU s, the next")
    # Like embeddings: a linear rule separates the classes to about nine in ten; a fifth of the labels are
    # false.
    data = homes.ambiguous_mixture(SIZE, 0.2, 0.15, "c")
    with folder() as place, homes.owner_of(place) as owner:
        worker = subprocess.Popen(
            [sys.executable, str(ROOT / "worker.py"), "--with-parent"],
            stdin=subprocess.PIPE,
            env={**os.environ, "WINNOW_HOME": str(place)},
        )
        try:
            for model in (one.name for one in MODEL_ENTRIES.values() if one.upkeep is Upkeep.TRAINED):
                settings = LearnerSettings(
                    model=model, strategy="margin", train_every=1, train_seconds=0.0, control_share=0.08
                )
                seat = owner.at(managing.create_project(owner, model, data, settings))
                wait_for(seat, 0)
                times = [seconds_to_see(seat) for _ in range(ANSWERS)]
                managing.archive_project(seat)
                figures = np.median(times), max(times), *seconds_of_cpu(model, data)
                table.add(model, *(f"{one:.2f}" for one in figures))
        finally:
            assert worker.stdin is not None
            worker.stdin.close()
            worker.wait(30)
    return page(
        f"""{ROWS:,} rows x {FEATURES} features, {CLASSES} classes, {ANSWERS} answers one after the other, each
trained at once by a worker process: wall seconds from the press of the key to the learner of the server having
adopted the version that has learnt the answer. No fit starts from the version before (docs/decisions/0009); the
options are those of `plcore.loop.MODEL_ENTRIES`. Target: 2 s. Next to them the CPU seconds, of one thread in this
process, of a project's first version and of the next ones: the kernel ridge chooses its settings and computes its
kernel for the first alone.""",
        table,
    )
