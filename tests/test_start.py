"""Whatever is started on a home that cannot be opened says so in one line, and ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("command", "code"),
    [(("app.py",), 1), pytest.param(("worker.py",), 1, marks=pytest.mark.slow), (("cli.py", "projects"), 2)],
)
def test_tables_without_their_database_are_said_in_one_line(
    tmp_path: Path, command: tuple[str, ...], code: int
) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / f"{'0' * 64}.parquet").touch()
    kept = {key: value for key, value in os.environ.items() if not key.startswith("WINNOW_")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**kept, "WINNOW_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    (line,) = done.stderr.splitlines()
    assert f"There is no database at {tmp_path / 'winnow.sqlite3'}, but" in line
    assert f"move {tmp_path} away" in line
    assert [path.name for path in tmp_path.iterdir()] == ["tables"], "nothing was made"
