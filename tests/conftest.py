"""Settings of all tests: the public data sets, and skipping tests whose data, PostgreSQL or Dask is missing."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from tests import postgres_programs

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("WINNOW_DATA") or ROOT / ".." / "shared" / "data").resolve()
REQUIRED = os.environ.get("WINNOW_REQUIRE_DATA") == "1"

# A test says what is right, never how fast: on a busy machine these would fail what is right. The same change gives the
# same verdict twice; `--hypothesis-profile=hunt` looks for cases no one has tried yet.
_CALM = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "winnow", deadline=None, suppress_health_check=_CALM, derandomize=True, max_examples=30
)
hypothesis.settings.register_profile(
    "check", deadline=None, suppress_health_check=_CALM, derandomize=True, max_examples=20
)
hypothesis.settings.register_profile("hunt", deadline=None, suppress_health_check=_CALM, max_examples=500)
hypothesis.settings.load_profile("winnow")
# Hypothesis tries constants of every module that happens to be loaded: which, depends on the tests that ran before.
providers._get_local_constants = lambda: providers._local_constants

# The process of the tests stands in for the server, in which BLAS has one thread (`workflow.server.warming`): threads
# of two processes on two cores wait for one another, and fits take six times as long. Read when numpy is first
# imported.
if "PYTEST_VERSION" in os.environ:  # benchmarks, too, want to know where the data are
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

NOT_RUN = "NOT RUN: "
MAIN = sys.modules["__main__"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--estimators", help="names of classes, with commas: check these estimators alone (tests/plcore/test_common.py)"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        from tests.databases import choose_backends  # not above: it imports SQLAlchemy

        choose_backends(metafunc)


MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of this user's own in it


def pytest_configure() -> None:
    from tests.statements import share_statements  # it imports SQLAlchemy, which benchmarks of plcore do not

    share_statements()
    # Every answer waits for the disk. A kill loses nothing of a file in memory either; no test cuts the power.
    if _takes_homes(MEMORY):
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def _takes_homes(folder: Path) -> bool:
    """Whether the folder is fit for homes: writable, with room, and able to run what some tests install there.
    Containers have such a folder that is small and runs nothing."""
    if not os.access(folder, os.W_OK):
        return False
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize > 8 * 2**30 and not found.f_flag & os.ST_NOEXEC


def _import_share(config: pytest.Config) -> None:
    """Import this process's share of all test modules. In a fresh clone the assertions of each are rewritten once that
    way, and not by every process: 35 s of CPU time of four."""
    worker = getattr(config, "workerinput", None)
    if worker and config.args == config.getini("testpaths"):
        own = sorted((ROOT / "tests").rglob("test_*.py"))[int(worker["workerid"][2:]) :: worker["workercount"]]
        for path in own:
            with contextlib.suppress(Exception, pytest.skip.Exception):  # collecting it tells
                importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without looking for garbage among the 16,000 tests; later rounds skip what is there by then, and are
    rare: at Python's own threshold, 700 objects, they took a fifth of the time of tests that read tables."""
    gc.disable()
    _import_share(session.config)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000)
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """A page drawn in a test replaces the main program: processes that start later would run it first."""
    sys.modules["__main__"] = MAIN


@pytest.hookimpl(trylast=True)  # tests excluded by `-m` are not missed
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip and count tests whose data or server is missing; never pass them. With `--only-rerun`, tests of a browser
    may run once more: with `--reruns`, every test would ask the first process about itself, in 5 ms of CPU time."""
    if config.getoption("only_rerun", None):
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.flaky)
    missing = {}
    if not DATA.is_dir():
        missing["public_data"] = "WINNOW_DATA missing"
    if postgres_programs.find() is None:
        missing["postgres"] = "no PostgreSQL; make test installs it where it can"
    if importlib.util.find_spec("distributed") is None:
        missing["dask"] = "no Dask; requirements-dev.txt has it"
    for item in items:
        for mark in filter(item.get_closest_marker, missing):
            item.add_marker(pytest.mark.skip(reason=NOT_RUN + missing[mark]))


def _not_run(config: pytest.Config) -> Counter[str]:
    """Count the tests that were not run, by what they need; over all processes."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    reasons = [str(one.longrepr[2]).removeprefix("Skipped: ") for one in skipped]
    return Counter(one.removeprefix(NOT_RUN) for one in reasons if one.startswith(NOT_RUN))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for why, count in _not_run(config).items():
        terminalreporter.write_line(f"{count} tests NOT RUN: {why}", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if REQUIRED and _not_run(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return DATA
