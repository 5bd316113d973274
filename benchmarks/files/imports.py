"""Imports of long tables, of many classes and of many columns."""

from __future__ import annotations

import logging
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from benchmarks import homes
from benchmarks.harness import (
    ROOT,
    Rows,
    Table,
    benchmark,
    clocked,
    command_of,
    folder,
    has,
    in_process,
    page,
    sized,
    trees,
)
from benchmarks.homes import drawn_graph
from benchmarks.processes import forget_peak, own_memory, peak, resident, watched
from plcore import ActiveLearner, Entry, LabelTable, LearnerSettings
from plcore.loop.one_label.pool import OneLabelPool
from plcore.tables import Roles, find_doubts, lacks_rows, read_stored, read_table, store_reading
from workflow import importing
from workflow.exporting import files
from workflow.files import limited
from workflow.rows import queue
from workflow.seat import Seat

ROWS, NUMBERS, CLASSES = sized((1_000_000, 64, 10), tiny=(2_000, 4, 4))
OTHER_ROWS = sized(5_000, tiny=500)
WARM = sized(60, tiny=4)
"""Answers of another person before the import begins; the second half of them is the baseline of an idle
server."""
AT_ONCE = 100_000


def write_table(path: Path, n: int) -> None:
    """Write numbers near their class's mean, candidates that include it, and the truth of one row in twenty."""
    rng = np.random.default_rng(0)
    names = np.array([f"class{number}" for number in range(CLASSES)])
    centres = rng.normal(size=(CLASSES, NUMBERS))
    with path.open("wb") as file:
        for start in range(0, n, AT_ONCE):
            rows = min(AT_ONCE, n - start)
            right, other = rng.integers(CLASSES, size=(2, rows))
            numbers = np.round(centres[right] + rng.normal(size=(rows, NUMBERS)), 5)
            pairs = np.char.add(np.char.add(names[right], "|"), names[other])
            table = {
                "item": [f"row{start + row}" for row in range(rows)],
                **{f"x{k}": pc.cast(pa.array(numbers[:, k]), pa.string()) for k in range(NUMBERS)},
                "candidates": np.where(right == other, names[right], pairs),
                "truth": np.where(rng.random(rows) < 0.05, names[right], ""),
            }
            options = pa.csv.WriteOptions(include_header=start == 0, quoting_style="none")
            pa.csv.write_csv(pa.table(table), file, options)


def create(seat: Seat, table: Any, upload: Any) -> int:
    """Create a project as the Import page does with default choices."""
    return importing.create(seat, "rows", table, importing.settings_for(table, {}), "", upload)


def by_polars(path: str) -> tuple[float, float]:
    """Return CPU seconds and peak MB of merely reading the same file."""
    import polars

    return clocked(lambda: polars.read_csv(path))[1], peak()


def imported(path: str) -> dict[str, Any]:
    """Read, check and store a file as a server does; then create the project with drawn neighbours."""
    jobs: dict[str, tuple[float, float]] = {}

    class Costs(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if isinstance(record.args, tuple) and len(record.args) == 3:
                name, cpu, megabytes = record.args
                jobs[str(name)] = (float(str(cpu)), float(str(megabytes)))

    logger = logging.getLogger("winnow")
    logger.setLevel(logging.DEBUG)
    logger.addHandler(Costs())
    limited.start()
    where = Path(path).parent
    with homes.owner_of(where / "home") as seat:
        write_table(small := where / "small.csv", 1_000)
        first = importing.read_upload(small)
        warm = importing.check(first, first.suggest_roles())  # everything is loaded after this
        before = np.array([resident(), own_memory()])
        upload, read = clocked(lambda: importing.read_upload(Path(path)))
        checked, check = clocked(lambda: importing.check(upload, upload.suggest_roles()))
        assert checked.table is not None
        assert warm.table is not None
        _, store = clocked(lambda: seat.home.store_table(checked.table))
        grown = np.array([resident(), own_memory()]) - before
        costs = {name: jobs[name] for name in ("read", "check")}
        homes.draw_neighbors()
        project, making = clocked(lambda: create(seat, checked.table, upload))
    return {
        "jobs": costs, "own": read + check + store, "mapped": grown[0], "grown": grown[1], "create": making,
        "project": project,
    }  # fmt: skip


def opened(where: str, project: int) -> dict[str, Any]:
    """Open, search and export the project in a new process."""
    found: dict[str, Any] = {}
    with homes.owner_of(Path(where) / "home") as owner:
        seat = owner.at(project)
        found["before"] = own_memory()

        def open_it() -> None:
            with seat.learner():
                pass

        found["cpu"] = clocked(open_it)[1]
        found |= {"resident": resident(), "now": own_memory(), "most": peak()}
        queue.list_queue(seat)
        view, found["search"] = clocked(lambda: queue.list_queue(seat, "row77 class3"))
        found["matching"] = view.matching
        begun = time.process_time()
        taken = files.take(seat, files.ExportChoice("csv"))

        class Sink:
            """Records when the first bytes arrive."""

            def __init__(self, file: Any) -> None:
                self._file = file

            def write(self, data: bytes) -> int:
                found.setdefault("first", time.process_time() - begun)
                return int(self._file.write(data))

        with (Path(where) / "export.csv").open("wb") as file:
            taken.write(Sink(file), lambda _: None)
        found |= {"export": time.process_time() - begun, "after": own_memory()}
    return found


def answered_beside(path: str) -> dict[str, Any]:
    """Return ms of each answer in another project while the file is read and checked."""
    place = Path(path).parent / "other"
    place.mkdir()
    waits: list[float] = []
    warm, stop = threading.Event(), threading.Event()

    def answering(view: Any) -> None:
        while not stop.wait(0.1):
            said, waited = homes.pressed(view)
            waits.append(waited)
            if not said.startswith("Saved"):
                raise RuntimeError(said)
            if len(waits) == WARM:
                warm.set()

    limited.start()
    with ExitStack() as stack:
        seat = stack.enter_context(homes.owner_of(place / "home"))
        write_table(small := place / "other.csv", OTHER_ROWS)
        upload, table = importing.read_as_named(small, {})
        project = create(seat, table, upload)
        server = stack.enter_context(homes.serving(place / "home"))
        view = homes.open_page(stack, server, homes.sign_ins(seat, 1, [project])[0], project)
        with ThreadPoolExecutor(1) as person:
            done = person.submit(answering, view)
            stack.callback(stop.set)
            if not warm.wait(60):
                raise RuntimeError("Nobody answers.")
            alone, before = waits[WARM // 2 : WARM], len(waits)
            upload = importing.read_upload(Path(path))
            importing.check(upload, upload.suggest_roles())
            stop.set()
            done.result()
    return {"alone": alone, "meanwhile": waits[before:]}


@benchmark("A million rows: import, opening, search, export", peers=("polars",))
def import_rows() -> str:
    with folder() as place:
        write_table(path := place / "rows.csv", ROWS)
        size = path.stat().st_size / 1e6
        bare = in_process(by_polars, str(path)) if has("polars") else (np.nan, np.nan)
        came = in_process(imported, str(path))
        there = in_process(opened, str(place), came["project"])
        people = in_process(answered_beside, str(path))
    jobs = came["jobs"]
    whole = sum(cpu for cpu, _ in jobs.values()) + came["own"]
    table, most = Table("what | measured | target"), max(mb for _, mb in jobs.values())
    late = np.percentile(people["meanwhile"], 95)
    for what, figure, target in (
        (
            "from reading to stored project, relative to polars' bare read, CPU",
            f"{whole / bare[0]:.1f} times",
            "5 times",
        ),
        ("peak of the process that reads and checks", f"{most:,.0f} MB", "1,500 MB"),
        ("memory growth of the server, without mapped pages", f"{came['grown']:,.0f} MB", "50 MB"),
        ("someone else's answers in that time, p95 wall time", f"{late:,.0f} ms", "150 ms"),
        ("resident memory after opening, after a restart", f"{there['resident']:,.0f} MB", "1,200 MB"),
        ("queue search, CPU", f"{1e3 * there['search']:,.0f} ms", "300 ms"),
        ("export as CSV, CPU", f"{there['export']:.1f} s", "30 s"),
        ("CPU until its first byte", f"{there['first']:.2f} s", "1 s"),
    ):
        table.add(what, figure, f"at most {target}")
    parts = ", ".join(f"{name} {cpu:.1f} s and {most:,.0f} MB" for name, (cpu, most) in jobs.items())
    return page(
        f"""A CSV file of {ROWS:,} rows, {size:,.0f} MB: {NUMBERS} columns of numbers, an id, candidates among {CLASSES}
classes, some truths. Each step in its own process; CPU seconds.""",
        table,
        f"""polars {bare[0]:.1f} s, {bare[1]:,.0f} MB. The limited processes: {parts}. The server meanwhile
{came["own"]:.1f} s; with mapped pages, which the system takes back at will, it has {came["mapped"]:,.0f} MB more.
Someone answers in another project at a server of the same machine, a tenth of a second after each question, while the
file is read and checked: {len(people["meanwhile"])} answers, half within {np.median(people["meanwhile"]):,.0f} ms; at
rest p95 is {np.percentile(people["alone"], 95):,.0f} ms. Making the project of the stored table, with neighbours drawn
(finding them: `neighbors`): {came["create"]:.0f} s. Opening it after a restart: {there["cpu"]:.1f} s, at most
{there["most"]:,.0f} MB; then {there["now"]:,.0f} MB without mapped pages, {there["before"]:,.0f} MB before. The search
finds {there["matching"]:,} rows. After the export {there["after"]:,.0f} MB without mapped pages.""",
    )


# Growing files

SIZES = sized((250_000, 500_000, 1_000_000, 2_000_000, 9_000_000), tiny=(1_000, 2_000))
FILE_GB = 5


def import_drawn(path: str, home: str) -> None:
    """Do what `winnow import` does, with drawn neighbours, in a separate process."""
    with homes.owner_of(home) as seat:
        upload, table = importing.read_as_named(Path(path), {})
        print("checked", flush=True)
        homes.draw_neighbors()
        print(f"Project {create(seat, table, upload)}: {table.n_rows} rows")


@benchmark("Larger and larger files: memory of an import")
def large_import() -> str:
    """{NUMBERS} columns of numbers, an id, candidates among {CLASSES} classes, some truths. A process does the work of
    `winnow import`, except the search: neighbours are drawn (finding them: `neighbors`). Memory is without pages of
    files, sampled every 0.1 s; shared memory counts once, except in the worker's figure. The last column includes pages
    of mapped files, which the system reclaims at will."""
    head = "rows | file | reading and checking: worker | all processes | making the project | with pages"
    table, own, size = Table(head), [], 0.0
    for rows in SIZES:
        with folder() as place:
            write_table(path := place / "rows.csv", rows)
            _, watch = watched(command_of(import_drawn, path, place / "home"), ("check", "make"))
            size = path.stat().st_size / 1e6
        own.append([watch.own.get("check", 0.0), watch.own.get("make", 0.0)])
        table.add(rows, *(f"{one:,.0f} MB" for one in (size, watch.worker, *own[-1], watch.mapped)))
    (checking, making), (_, start) = np.polyfit(SIZES, own, 1)
    rows = FILE_GB * 1e3 / (size / SIZES[-1])
    return page(
        table,
        f"""Each further row takes {1e6 * checking:,.0f} bytes up to the checked table, and {1e6 * making:,.0f} while
        the
project is made (straight lines through the figures). So a file of {FILE_GB} GB, {rows / 1e6:.1f} million rows, takes
about {start + making * rows:,.0f} MB to become a project, where 2,000 MB are the target, without the search for
neighbours. Features and neighbours of all rows are in files, as are the lists of whose neighbours they are.""",
    )


# Many classes

CANDIDATES, K, FEATURES = 5, 10, 4
WIDE_ROWS, SMALL, ANSWERS = sized((100_000, 1_000, 200), tiny=(300, 100, 5))
MANY = sized((1_000, 10_000, 100_000), tiny=(30, 60))
WHAT = (
    "CPU s to import", "peak MB, import", "MB before anything is opened", "CPU s to open",
    "CPU s to the first question",
    "CPU ms an answer and the next question", "peak MB", "MB after",
)  # fmt: skip


def make(path: str, n: int, m: int) -> list[float]:
    """Import a table of lists of labels as the shell does, and store it, in a separate process."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(m, size=(n, CANDIDATES))
    cells = {f"x{place}": rng.random(n).round(4).astype(str) for place in range(FEATURES)}
    columns = tuple(cells)
    cells["labels"] = ["|".join(f"class {number:05d}" for number in row) for row in numbers.tolist()]
    frame = pd.DataFrame(cells, dtype="str")
    roles = Roles(numbers=columns, candidates="labels", separator="|")
    _, spent = clocked(lambda: LabelTable.from_cells(frame, roles).write(path))
    return [spent, peak()]


def ask(path: str) -> list[float]:
    """Open the stored table and answer, with given neighbours, in a separate process."""
    empty = resident()
    forget_peak()
    begun = time.process_time()
    table = LabelTable.read(path)
    settings = LearnerSettings(n_neighbors=K, control_share=0.1)
    pool = OneLabelPool(table, settings)
    learner = ActiveLearner(table, settings, drawn_graph(len(pool.train), len(pool.held), K))
    del pool
    opened = time.process_time()
    question = learner.next_question("ann")
    asked = time.process_time()
    for _ in range(ANSWERS):
        assert question is not None
        learner.apply(Entry(learner.seq + 1, "is", question.row, "ann", question.choices[:1]))
        question = learner.next_question("ann")
    an_answer = (time.process_time() - asked) / ANSWERS * 1e3
    return [empty, opened - begun, asked - begun, an_answer, peak(), resident()]


@benchmark("Candidates among many classes", head=["rows", "classes", "", *WHAT], form=",.1f")
def wide_sets() -> Rows:
    """{CANDIDATES} candidates in each row, {FEATURES} numbers, PL-KNN with {K} given neighbours, a tenth of
    the rows as blind checks. Import: from cells to the stored table. Then, in another process: the table is read, the
    learner built, a question asked, and {ANSWERS} answers follow, each with the next question. Memory is the resident
    memory of the whole process, with modules and machine code: the figure at {SMALL:,} rows is mostly the program. No
    database and no
    page. Targets at {WIDE_ROWS:,} rows: with 1,000 classes at most 400 MB, with 10,000 at most 1,000 MB and 5 CPU s to
    the first question."""
    with folder() as place:
        path = str(place / "table.parquet")
        in_process(make, path, SMALL, MANY[0])
        for tree in trees().values():  # compile everything first
            in_process(ask, path, tree=tree)
        for n, m in ((SMALL, MANY[0]), *((WIDE_ROWS, m) for m in MANY)):
            for name, tree in (trees() if m == MANY[0] else {"now": ROOT}).items():
                found = in_process(make, path, n, m, tree=tree) + in_process(ask, path, tree=tree)
                yield n, m, name, *map(float, found)


# Many columns

WIDE = sized(((3, 4_000), (3, 10_000), (100, 4_000), (1_000, 1_000)), tiny=((3, 40),))
COLUMNS, RUNS = 4, sized(3, tiny=1)  # of the long table, in bytes


def csv(rows: int, columns: int) -> bytes:
    """Return a table of numbers with ids and candidates."""
    numbers = np.random.default_rng(0).normal(size=(rows, columns)).round(4).tolist()
    head = ",".join(["id", "labels", *(f"e{place}" for place in range(columns))])
    lines = (f"r{row},{'ab'[row % 2]}|c,{','.join(map(str, one))}" for row, one in enumerate(numbers))
    return "\n".join([head, *lines, ""]).encode()


def taken(data: bytes) -> float:
    """Return CPU seconds to import bytes as a stored table and to load it again, roles guessed, every cell checked."""
    with folder() as place:
        begun = time.process_time()
        reading = read_table(data, "t.csv")
        store_reading(reading, place)
        roles = reading.suggest_roles()
        lacks_rows(reading, roles)
        table = LabelTable.from_cells(read_stored(place).cells, roles)
        find_doubts(table)
        table.write(place / "table.parquet")
        LabelTable.read(place / "table.parquet")
        return time.process_time() - begun


@benchmark("Tables of many columns")
def wide_tables() -> str:
    taken(csv(10, COLUMNS))  # the first file loads modules
    head = "rows x columns of numbers | CPU s | ms a column | CPU s of the same number of cells in four columns | ratio"
    table = Table(head, ".2f")
    for rows, columns in WIDE:
        wide, long = csv(rows, columns), csv(rows * columns // COLUMNS, COLUMNS)
        pairs = [(taken(wide), taken(long)) for _ in range(RUNS)]
        seconds, others = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = f"{seconds / others:.1f}"
        table.add(f"{rows:,} x {columns:,}", seconds, 1000 * seconds / columns, others, ratio)
    return page(table, "The target is 2 s for 4,000 columns, as the embeddings of a large model have; it took 12 s.")
