"""Code shared by all benchmarks: arguments, clocks, tables, subprocesses, and the result page.

A benchmark is a function marked by `benchmark`. Its name is that of its page, and an argument of `python -m
benchmarks`. The page begins with its docstring, in which `{NAME}` is a name of its file and `{load}` the load average;
what it returns, or the table of the rows that it yields, follows. The arguments are set as environment variables before
its file is imported, so that every process it starts knows them.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PARTS = ROOT / ".cache" / "benchmarks"
CLOCK_GFLOPS = 47  # of the machine for which targets in seconds were set

Result = TypeVar("Result")
Sizes = TypeVar("Sizes")


# Arguments


def parse(words: Sequence[str]) -> list[str]:
    """Set the environment from the command line and return the names asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help="benchmarks to run; none: all that take less than half an hour")
    parser.add_argument("--full", action="store_true", help="at every size, into NAME_full.md; takes hours")
    parser.add_argument("--try", action="store_true", dest="tiny", help=argparse.SUPPRESS)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="these parts; nothing is written")
    parser.add_argument("--before", type=Path, metavar="TREE", help="measure this checkout too, in turns")
    parser.add_argument("--folder", type=Path, help="keep what is made here: the same command then goes on")
    asked = parser.parse_args(words)
    os.environ["BENCHMARKS_MODE"] = "try" if asked.tiny else "full" if asked.full else ""
    os.environ["BENCHMARKS_ONLY"] = json.dumps(asked.only)
    os.environ["BENCHMARKS_BEFORE"] = str(asked.before.resolve()) if asked.before else ""
    os.environ["BENCHMARKS_FOLDER"] = str(asked.folder.resolve()) if asked.folder else ""
    return list(asked.names)


def mode() -> str:
    """Return "", "full" or "try"."""
    return os.environ.get("BENCHMARKS_MODE", "")


def sized(normal: Sizes, *, tiny: Sizes, full: Sizes | None = None) -> Sizes:
    """Return the size to measure at: `tiny` checks within seconds that a benchmark still runs, `full` is for
    `--full`."""
    return tiny if mode() == "try" else full if mode() == "full" and full is not None else normal


def only(parts: Iterable[Result]) -> list[Result]:
    """Return the parts that `--only` names, or all of them."""
    asked = json.loads(os.environ.get("BENCHMARKS_ONLY") or "[]")
    every = list(parts)
    return [one for one in every if str(one) in asked] or every


def trees() -> dict[str, Path]:
    """Return the checkouts to measure alternately: "before" (of `--before`), if there is one, and "now"."""
    before = os.environ.get("BENCHMARKS_BEFORE")
    return {**({"before": Path(before)} if before else {}), "now": ROOT}


@contextmanager
def folder(*, large: bool = False) -> Iterator[Path]:
    """Yield a temporary folder. large : for gigabytes, on the disk of the checkout; kept with `--folder`"""
    kept_at = os.environ.get("BENCHMARKS_FOLDER")
    if large and kept_at:
        Path(kept_at).mkdir(parents=True, exist_ok=True)
        yield Path(kept_at)
        return
    place = PARTS if large else None
    PARTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def kept(benchmark: str, part: str, measure: Callable[[], Any], place: Path | None = None) -> Any:
    """Return the result of `measure` for this part, from this or an earlier run: plain JSON values.

    An interrupted long benchmark continues this way. Remove `.cache/benchmarks/NAME`, or the folder `place`, to measure
    again.
    """
    if mode() == "try":
        return json.loads(json.dumps(measure()))
    path = (place or PARTS / benchmark) / (re.sub(r"[^A-Za-z0-9.=-]+", "_", part) + ".json")
    if not path.exists():
        found = json.dumps(measure())
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_suffix(".part")
        aside.write_text(found)
        aside.replace(path)
    return json.loads(path.read_text())


def kept_runs(benchmark: str, run: Callable[..., Any], *cell: object, seeds: int) -> list[Any]:
    """Return the result of `run(*cell, seed)` for each seed, from this or an earlier run."""
    called = " ".join(map(str, cell))
    return [kept(benchmark, f"{called} {seed}", lambda seed=seed: run(*cell, seed)) for seed in range(seeds)]


# Clocks


def clocked(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of a call and the CPU seconds that it took in this process."""
    begun = time.process_time()
    result = call()
    return result, time.process_time() - begun


def cpu(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the minimum CPU seconds of some calls."""
    return min(clocked(call)[1] for _ in range(repeats))


def cpu_of_children() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def percentiles(values: Sequence[float] | np.ndarray, *at: float, digits: int = 0) -> list[str]:
    """Return percentiles of times as cells: by default the median, the 95th and the maximum."""
    return [f"{np.percentile(values, one):.{digits}f}" for one in at or (50, 95, 100)]


def with_interval(figure: Callable[[np.ndarray], float], n: int, draws: int = 1000) -> tuple[float, float, float]:
    """Return a figure of n runs, and the interval that holds 95% of its bootstrap draws. figure : takes run numbers"""
    rng = np.random.default_rng(0)
    low, high = np.percentile([figure(rng.integers(n, size=n)) for _ in range(draws)], [2.5, 97.5], method="nearest")
    return figure(np.arange(n)), float(low), float(high)


def matrix_product_speed() -> float:
    """Return this machine's dgemm speed on one core in GFLOP/s, to put absolute seconds in proportion."""
    n = sized(1500, tiny=100)
    a = np.random.default_rng(0).normal(size=(n, n))
    with threadpool_limits(1):
        begun = [time.perf_counter()]
        for _ in range(6):
            a @ a
            begun.append(time.perf_counter())
    return 2 * n**3 / float(np.diff(begun)[1:].min()) / 1e9


def load_average() -> str:
    """Say how busy the machine was, and the benchmark's niceness."""
    nice = f" Niceness of this benchmark: {os.nice(0)}." if os.nice(0) else ""
    return f"Load average of the machine over 15 minutes: {os.getloadavg()[2]:.1f}.{nice}"


# Words and tables


def met(is_met: bool) -> str:
    return "met" if is_met else "**missed**"


class Table:
    """A Markdown table whose rows are printed as they are measured.

    head : titles, or one string with " | " between them      form : format of cells that are floats; nan is
    an empty cell
    """

    def __init__(self, head: str | Sequence[str], form: str = ".3f") -> None:
        self.head = head.split(" | ") if isinstance(head, str) else list(head)
        self.form = form
        self.rows: list[list[str]] = []

    def add(self, *cells: object) -> None:
        row = [self._text(cell) for cell in cells]
        if len(row) > len(self.head):
            raise ValueError(f"{len(row)} cells under {len(self.head)} titles: {row}")
        self.rows.append(row + [""] * (len(self.head) - len(row)))
        print("  ", " | ".join(row), flush=True)

    def _text(self, cell: object) -> str:
        if isinstance(cell, float | np.floating):
            return "" if np.isnan(cell) else f"{cell:{self.form}}"
        is_count = isinstance(cell, int | np.integer) and not isinstance(cell, bool)
        return f"{cell:,}" if is_count else str(cell)

    def __str__(self) -> str:
        lines = (self.head, ["---"] * len(self.head), *self.rows)
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


Rows = Iterator[tuple[Any, ...]]
"""Cells of a table, line by line."""


def tabled(head: str | Sequence[str], form: str = ".3f") -> Callable[[Callable[..., Rows]], Callable[..., Table]]:
    """Mark a function that yields the rows of a `Table`: it returns the table."""

    def mark(rows: Callable[..., Rows]) -> Callable[..., Table]:
        @wraps(rows)
        def measure(*arguments: Any) -> Table:
            table = Table(head, form)
            for row in rows(*arguments):
                table.add(*row)
            return table

        return measure

    return mark


def counted(words: Iterable[object], between: str = ", ", most: int | None = None) -> str:
    """Say how often each of these was there, the most frequent first, such as "a x3, b x1"."""
    return between.join(f"{word} x{count}" for word, count in Counter(words).most_common(most))


def page(*parts: object) -> str:
    """Return paragraphs and tables, separated by empty lines."""
    return "\n\n".join(text for part in parts if (text := str(part).strip()))


# Processes


def in_process(call: Callable[..., Any], *arguments: Any, tree: Path = ROOT, **environment: str) -> Any:
    """Run a function of a benchmark in a separate process with one BLAS thread and return its result; JSON both ways.

    tree : the checkout whose code it uses; the benchmarks are those of this one
    """
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "benchmarks").symlink_to(RESULTS.parent)
        run = subprocess.run(
            command_of(call, *arguments),
            cwd=place,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join((place, str(tree))),
                 "WINNOW_DATA": str(data_folder()), **environment},
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    return json.loads(run.stdout.splitlines()[-1])


def command_of(call: Callable[..., Any], *arguments: Any) -> list[str]:
    """Return the command that runs a function of a benchmark and prints its result as the last line, JSON both ways."""
    code = "from benchmarks.harness import child; child()"
    return [sys.executable, "-c", code, call.__module__, call.__name__, json.dumps(arguments, default=str)]


def in_turns(runs: int, measure: Callable[[Path], Sequence[float]]) -> dict[str, np.ndarray]:
    """Return the minimum of each figure over some runs, by tree. measure : takes a tree; the trees alternate"""
    found: dict[str, list[Sequence[float]]] = {name: [] for name in trees()}
    for name, tree in list(trees().items()) * runs:
        found[name].append(measure(tree))
    return {name: np.min(figures, axis=0) for name, figures in found.items()}


def child() -> None:
    """Run the function that `in_process` names, and exit at once."""
    warnings.simplefilter("ignore")
    module, name, arguments = sys.argv[1:]
    found = getattr(importlib.import_module(module), name)(*json.loads(arguments))
    print("\n" + json.dumps(found, default=float), flush=True)
    os._exit(0)


def data_folder() -> Path:
    """Return the folder of the public data sets."""
    return Path(os.environ.get("WINNOW_DATA") or ROOT / ".." / "shared" / "data").resolve()


def in_parallel(call: Callable[[Any], Result], cells: Sequence[Any], *, chunk: int = 1) -> Iterator[tuple[Any, Result]]:
    """Yield each cell with the call's result, as two processes finish them."""
    jobs = [(call, cell) for cell in cells]
    if mode() == "try":
        yield from map(_one_job, jobs)
        return
    with get_context("spawn").Pool(min(2, os.cpu_count() or 1)) as workers:
        for done, found in enumerate(workers.imap_unordered(_one_job, jobs, chunksize=chunk), start=1):
            print(f"{done} of {len(cells)}", flush=True)
            yield found


def in_frame(call: Callable[[Any], Iterable[dict[str, Any]]], cells: Sequence[Any], names: str, chunk: int = 1) -> Any:
    """Return a data frame of the lines that the call returns for each cell. names : of the parts of a cell"""
    parts = names.split()
    return pd.DataFrame(
        [
            dict(zip(parts, cell, strict=True)) | line
            for cell, lines in in_parallel(call, cells, chunk=chunk)
            for line in lines
        ]
    )


def _one_job(job: tuple[Callable[[Any], Result], Any]) -> tuple[Any, Result]:
    call, cell = job
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        return cell, call(cell)


# The benchmarks and their pages


PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "pyarrow", "SQLAlchemy", "streamlit")
"""Packages whose versions every page names."""


def benchmark(
    title: str, *, head: str | Sequence[str] = (), form: str = ".3f", packages: Sequence[str] = (),
    peers: Sequence[str] = (), cpu: bool = False, full: bool = False, long: bool = False,
) -> Callable[[Callable[[], object]], Callable[[], object]]:  # fmt: skip
    """Mark a benchmark.

    head, form : of its `Table`, if it yields rows      packages : further packages whose versions are named
    peers : those it compares with, if installed
    cpu : its page ends with the CPU seconds of all of it
    full : it has a larger `--full` mode      long : it takes half an hour or more, and runs only if named
    """

    def mark(measure: Callable[[], Any]) -> Callable[[], object]:
        made = tabled(head, form)(measure) if head else measure
        vars(made).update(title=title, packages=packages, peers=peers, cpu=cpu)
        return made

    return mark


class Listed(NamedTuple):
    """module : to import      marks : "full", "long", or both"""

    module: str
    marks: set[str]


def listed() -> dict[str, Listed]:
    """Return all benchmarks by name, without importing their files."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*/*.py")):
        for one in ast.parse(path.read_text()).body:
            for mark in getattr(one, "decorator_list", ()):
                if isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "benchmark":
                    marks = {str(keyword.arg) for keyword in mark.keywords}
                    found[one.name] = Listed(f"benchmarks.{path.parent.name}.{path.stem}", marks)
    return found


def size_of(where: Path, pattern: str = "**/*") -> tuple[float, int]:
    """Return MB and number of the files below a folder."""
    sizes = [path.stat().st_size for path in where.glob(pattern) if path.is_file()]
    return sum(sizes) / 1e6, len(sizes)


def has(distribution: str) -> bool:
    """Return whether a package to compare with is installed."""
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def run(name: str) -> None:
    """Run a benchmark; write its page unless it is a trial or measures only parts."""
    module = importlib.import_module(listed()[name].module)
    measure = getattr(module, name)
    warnings.simplefilter("ignore")  # about data and settings that are hard by design
    begun = time.process_time() + cpu_of_children()
    with threadpool_limits(1):
        found = measure()
    spent = time.process_time() + cpu_of_children() - begun
    text = page(
        (inspect.getdoc(measure) or "").format(**vars(module) | {"load": load_average()}),
        found,
        f"{spent:,.0f} CPU seconds in all." * measure.cpu,
    )
    packages = *PACKAGES, *measure.packages, *filter(has, measure.peers)
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    if missing := ", ".join(one for one in measure.peers if not has(one)):
        text += f"\n\nNot installed, so not measured: {missing}."
    text = (
        f"# {measure.title}\n\n"
        f"Command: `python -m benchmarks {name}{' --full' * (mode() == 'full')}`. {os.cpu_count()} cores, "
        f"dgemm {matrix_product_speed():.0f} GFLOP/s per core, Python {platform.python_version()}, {versions}.\n\n"
        f"{text}\n"
    )
    print(text)
    if mode() != "try" and not json.loads(os.environ["BENCHMARKS_ONLY"]):
        (RESULTS / f"{result(name)}.md").write_text(text)


def result(name: str) -> str:
    """Return the name of a benchmark's files in `results`, without extension."""
    return f"{name}_full" if mode() == "full" else name
