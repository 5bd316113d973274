"""Where the public data sets are, and an honest end where they are missing."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("WINNOW_DATA") or ROOT / ".." / "shared" / "data").resolve()
REQUIRED = os.environ.get("WINNOW_REQUIRE_DATA") == "1"

# A test says what is right, never how fast: on a busy machine these would fail what is right. The same change gives the
# same verdict twice; `--hypothesis-profile=hunt` looks for cases nobody has tried yet.
_CALM = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "winnow", deadline=None, suppress_health_check=_CALM, derandomize=True, max_examples=50
)
hypothesis.settings.register_profile("hunt", deadline=None, suppress_health_check=_CALM, max_examples=500)
hypothesis.settings.load_profile("winnow")

_not_run = pytest.StashKey[int]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without the data the tests that need them are left out and counted, never passed."""
    config.stash[_not_run] = 0
    if DATA.is_dir():
        return
    needing = [item for item in items if item.get_closest_marker("public_data")]
    config.stash[_not_run] = len(needing)
    items[:] = [item for item in items if item not in needing]
    config.hook.pytest_deselected(items=needing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if missing := config.stash.get(_not_run, 0):
        terminalreporter.write_line(f"{missing} tests NOT RUN: WINNOW_DATA missing", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.config.stash.get(_not_run, 0) and REQUIRED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return DATA
