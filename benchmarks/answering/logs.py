"""Costs by size of tables and logs: an answer, a restart, opening, many projects in memory, a commit."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from sqlalchemy import event

from benchmarks import homes
from benchmarks.answering.presses import presses
from benchmarks.harness import (
    Rows,
    Table,
    benchmark,
    clocked,
    folder,
    in_process,
    in_turns,
    page,
    size_of,
    sized,
    trees,
)
from benchmarks.processes import peak
from db import people
from db.engine import Database
from db.identity import Note
from plcore import ActiveLearner, Entry, LearnerSettings
from plcore.loop.label_vectors import BMLCS, LabelVectorSettings
from plcore.loop.one_label.pool import OneLabelPool
from workflow.answering import loop
from workflow.exporting import files
from workflow.projects import managing, progress
from workflow.server.shelf import own_memory

RUNS, CLASSES, K = sized(3, tiny=1), 10, 10


def paired_table(
    first: str, unit: str, what: tuple[str, ...], call: object, sizes: tuple[int, ...], form: str
) -> Table:
    """Return a line for each figure of a call and each size; with two trees also the earlier figure and the ratio."""
    table = Table(f"{first} | what | {unit}" + " | before | times less" * (len(trees()) > 1), form)
    for size in sizes:
        least = in_turns(RUNS, lambda tree, size=size: in_process(call, size, tree=tree))
        for place, one in enumerate(what):
            now, *before = (figures[place] for figures in reversed(least.values()))
            table.add(size, one, now, *(cell for old in before for cell in (old, f"{old / now:.1f}")))
    return table


# By the size of the table

TABLES = sized((10_000, 100_000, 1_000_000), tiny=(2_000,))
ANSWERS, QUESTIONS = sized((1_000, 100), tiny=(20, 5))


class CandidateTable:
    """A table of candidates only: the neighbours are given. Three candidates per row, three rows in ten with a
    truth."""

    candidate_weights = None

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.right = rng.integers(CLASSES, size=n)
        self.candidates = np.zeros((n, CLASSES), dtype=bool)
        for labels in (self.right, *rng.integers(CLASSES, size=(2, n))):
            self.candidates[np.arange(n), labels] = True
        self.classes = tuple(f"class {number}" for number in range(CLASSES))
        self.truth = np.where(rng.random(n) < 0.3, self.right, -1)


def answer_rows(n: int) -> list[float]:
    """Measure the learner's CPU time and the memory, in a separate process."""
    table = CandidateTable(n)
    settings = LearnerSettings(n_neighbors=K, test_share=0.2)
    pool = OneLabelPool(table, settings)
    graph = homes.drawn_graph(len(pool.train), len(pool.held), K)
    learner, built = clocked(lambda: ActiveLearner(table, settings, graph))
    found = [built]
    ambiguous = pool.train[pool.sizes[pool.train] >= 2]
    rows = iter(np.random.default_rng(1).permutation(ambiguous)[: 4 + ANSWERS + 2 * QUESTIONS].tolist())
    shown = frozenset(next(rows) for _ in range(4))
    learner.next_question("ann")  # the order is computed once
    for times, others in ((ANSWERS, None), (QUESTIONS, frozenset()), (QUESTIONS, shown)):
        begun = time.process_time()
        for _ in range(times):
            row = next(rows)
            learner.apply(Entry(learner.seq + 1, "is", row, "ann", (learner.classes[table.right[row]],)))
            if others is not None:
                learner.next_question("ann", others)
        found.append((time.process_time() - begun) / times * 1e3)
    return [*found, peak()]


@benchmark("An answer, by the size of the table")
def growing() -> str:
    """CPU time of the process, of the learner alone: without database and page. PL-KNN with {K} given neighbours;
    {CLASSES} classes, three candidates a row, a fifth of the rows with a truth held out. {ANSWERS:,} entries,
    then {QUESTIONS} with the next question each. Least of {RUNS} runs."""
    what = ("to build, s", "an entry, ms", "an entry and the next question, ms", "the same with 4 other people, ms")
    return paired_table("rows", "now", (*what, "peak resident, MB"), answer_rows, TABLES, ",.2f")


# By the length of the log

LENGTHS, PRESSES = sized(((20_000, 200_000), 20), tiny=((50,), 2))


def restart_at(length: int) -> list[float]:
    """Measure the CPU seconds of each step, in a separate process."""
    with folder() as place:
        with homes.owner_of(place) as owner:
            number = homes.project(owner, "long", length).project_id or 0
        with homes.owner_of(place) as owner:
            seat = owner.at(number)
            choice = files.ExportChoice("log", files.ALL, files.ABOVE)
            steps: tuple[Callable[[], object], ...] = (
                lambda: loop.next_question(seat),
                lambda: progress.read_progress(seat),
                lambda: progress.read_progress(seat),
                lambda: files.take(seat, choice).write(io.BytesIO(), lambda _done: None),
            )
            found = [clocked(step)[1] for step in steps]
            found.append(float(np.median([sum(one[:2]) for one in presses(seat, PRESSES)])) / 1e3)

        def again() -> None:
            with homes.owner_of(place) as owner:
                loop.next_question(owner.at(number))

        return [*found, clocked(again)[1]]


@benchmark("After a restart with a long log")
def restart() -> str:
    """CPU seconds of the process; one label, PL-KNN, {homes.LONG_ROWS:,} rows, three candidates each. Most of the
    200,000 entries answer a row again. Least of three runs. *A press*: the median of {PRESSES}, with the next question
    and the other queries of the page. *Another restart*: the first has left a checkpoint. {load}"""
    what = "first question", "Progress", "Progress, second visit", "Export: the answer log", "a press"
    steps = *what, "first question after another restart"
    return paired_table("entries", "CPU seconds", steps, restart_at, LENGTHS, ".3f")


# Opening

LONG, ENTRIES = sized(((100_000, 1_000_000), 100_000), tiny=((3_000,), 100))
VECTOR_ROWS, VECTOR_ENTRIES, LABELS = sized((100_000, 20_000, 10), tiny=(200, 30, 3))
TARGETS = {100_000: (30, 3), 1_000_000: (120, 15)}  # CPU s without a checkpoint, and with
STATES = "no checkpoint", "with a checkpoint of its last entry"


def make_long(place: str, rows: int) -> None:
    """In a separate process, create a project of this many rows with an empty log."""
    homes.draw_neighbors()
    with homes.owner_of(place) as seat:
        project = managing.create_project(seat, "long", *homes.long_table(rows))
        homes.find_neighbors(seat.at(project))


def make_vectors(place: str) -> None:
    """Create a project of label vectors, two cells in three unknown, with a log of yes and no answers about single
    labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(VECTOR_ROWS, homes.FEATURES))
    truth = X @ rng.normal(size=(homes.FEATURES, LABELS)) > 0
    cells = np.where(rng.random(truth.shape) < 1 / 3, truth.astype(int).astype(str), "")
    labels = [f"label{k}" for k in range(LABELS)]
    with homes.owner_of(place) as owner:
        table = homes.vectors(X, cells, labels)
        seat = owner.at(managing.create_project(owner, "vectors", table, LabelVectorSettings(model=BMLCS)))
        lines = []
        for seq, (row, column) in enumerate(np.argwhere(cells == "")[:VECTOR_ENTRIES].tolist(), start=1):
            yes, name = int(truth[row, column]), labels[column]
            what = {"kind": ("no", "yes")[yes], "row": row, "label": name, "labels": [name]}
            how = {"token": f"{row}.{column}", "before": [""], "after": [str(yes)], "strategy": "information"}
            lines.append(homes.entry(seat, seq, VECTOR_ENTRIES, **what, **how))
        homes.write_log(seat, lines)


def fill(place: str) -> None:
    """Fill the log to its length."""
    with homes.owner_of(place) as owner:
        (project,) = managing.list_projects(owner)
        table = owner.home.read_table(next(owner.home.tables_dir.glob("*.parquet")).stem)
        homes.fill_log(owner.at(project.id), ENTRIES, table)


def visit(place: str, whose: str) -> tuple[float, float]:
    """Return CPU seconds from opening the home to the first question, and peak MB. whose : "thread": a model is fitted
    at the same time"""
    clock = time.thread_time if whose == "thread" else time.process_time
    begun = clock()
    with homes.owner_of(place) as owner:
        (project,) = managing.list_projects(owner)
        loop.next_question(owner.at(project.id))
        return clock() - begun, peak()


def checkpoint_of(place: str) -> str:
    """Say how large the checkpoint is; a log of few answers has none."""
    return f"the checkpoint's file: {size_of(Path(place), 'cache/checkpoints/*')[0]:.1f} MB"


@benchmark("Opening a project with a long log")
def opening() -> str:
    """CPU seconds of a new process from opening the home to the first question, and its peak memory, imports included.
    One label, PL-KNN, {homes.FEATURES} features, {homes.CLASSES} classes, three candidates a row; the
    neighbours are drawn, and read from their file; a log of {ENTRIES:,} entries, written by one person. Memory target
    with a checkpoint: 1,500 MB."""
    table = Table(f"rows | {ENTRIES:,} entries | CPU s | target | peak MB", ".1f")
    for rows in LONG:
        with folder() as where:
            place = str(where / "home")
            in_process(make_long, place, rows)
            for state, target in zip(("no entries", *STATES), ("", *TARGETS.get(rows, ("", ""))), strict=True):
                if state == STATES[0]:  # the first visit to a log makes its checkpoint
                    in_process(fill, place)
                spent, most = in_process(visit, place, "process")
                table.add(rows, state, spent, target, f"{most:,.0f}")
            table.add(rows, checkpoint_of(place))
    vectors = Table(f"{VECTOR_ENTRIES:,} entries | CPU s | peak MB", ".1f")
    with folder() as where:
        place = str(where / "home")
        in_process(make_vectors, place)
        for state in STATES:
            spent, most = in_process(visit, place, "thread")
            vectors.add(state, spent, f"{most:,.0f}")
        vectors.add(checkpoint_of(place))
    return page(
        table,
        "## Label vectors",
        f"""{VECTOR_ROWS:,} rows, {LABELS} labels, two cells in three not known, {homes.FEATURES} features; a log of
{VECTOR_ENTRIES:,} answers about one label each. CPU seconds of the thread that opens the project; BML-CS is fitted in
another thread, as at every start, and the first question does not wait for it.""",
        vectors,
    )


# Many projects

PROJECTS, ROWS, ROUNDS = sized((20, 100_000, 2), tiny=(2, 500, 2))
LIMITS = 2_000, 450  # MB: all stay in memory; some are unloaded


def make_many(place: str) -> None:
    """In a separate process, create the projects, all from one table."""
    table, settings = homes.long_table(ROWS)
    with homes.owner_of(place) as seat:
        for number in range(PROJECTS):
            managing.create_project(seat, f"project {number}", table, settings)


def visit_many(place: str, limit: int) -> list[tuple[float, ...]]:
    """Return for each visit: CPU and wall seconds to the first question, MB in memory, projects open afterwards."""
    visits = []
    with homes.owner_of(place, WINNOW_MEMORY_MB=str(limit)) as seat:
        for number in sorted(one.id for one in managing.list_projects(seat)) * ROUNDS:
            cpu, wall = time.process_time(), time.perf_counter()
            loop.next_question(seat.at(number))
            taken = (own_memory() or 0) / 1e6
            spent = time.process_time() - cpu, time.perf_counter() - wall
            visits.append((*spent, taken, seat.home.shelf.n_open()))
    return visits


@benchmark(
    "Many projects under a memory limit",
    head="limit, MB | most MB | projects in memory at the end | back: CPU s p50 | most | clock s most",
    form=".2f",
)
def put_away() -> Rows:
    """{PROJECTS} projects of {ROWS:,} rows, 16 features and 10 classes, PL-KNN, few answers, opened in turn {ROUNDS}
    times in one process with `WINNOW_MEMORY_MB`; each visit opens the project if it is not in memory, and asks for a
    question. Memory is the private memory of the process, without pages of files, after each visit. Target: never above
    2,000 MB; each project is reopened within 2 s."""
    with folder() as where:
        place = str(where / "home")
        in_process(make_many, place)
        for limit in LIMITS:
            visits = np.array(in_process(visit_many, place, limit))
            cpu, wall = visits[PROJECTS:, 0], visits[PROJECTS:, 1]
            held = f"{visits[:, 2].max():,.0f}", f"{visits[-1, 3]:.0f}"
            yield limit, *held, np.median(cpu), cpu.max(), wall.max()


# A commit

TURNS, COMMITS = sized((15, 100), tiny=(2, 3))


def commit(database: Database, turn: int) -> float:
    """Commit COMMITS lines and return the CPU seconds of one."""
    begun = time.process_time()
    for number in range(COMMITS):
        with database.write() as session:
            people.add(session, f"person {turn * COMMITS + number}", "annotator", datetime.now(UTC))
    return (time.process_time() - begun) / COMMITS


@benchmark("Checks after every commit")
def commit_checks() -> str:
    """{TURNS} rounds of {COMMITS} commits of one line to SQLite, alternately with and without the checks of file, log
    and header and the record outside the database; CPU time, the medians."""
    with folder() as place:
        database = Database(f"sqlite:///{place}/winnow.sqlite3", Note(place / "database.seen"))
        plain = Database(f"sqlite:///{place}/plain.sqlite3")
        for one in (database, plain):
            one.migrate()
        event.remove(plain._writer, "commit", plain._count)
        for name in ("check_file", "_check_before_commit", "_after_commit"):  # the functions measured
            setattr(plain, name, lambda: None)
        # Alternate, so that other load on the machine affects both.
        bare, whole = np.median([[commit(one, at) for one in (plain, database)] for at in range(TURNS)], axis=0)
        for one in (database, plain):
            one.close()
    table = Table("commit | CPU µs | ratio", ".2f")
    table.add("without", f"{bare * 1e6:.0f}", 1)
    table.add("looked after", f"{whole * 1e6:.0f}", whole / bare)
    return page(table, f"It adds {(whole - bare) * 1e3:.3f} ms; at most 0.2 ms was asked for.")
