"""`--cluster [ADDRESS]`: one way to say who does the long work, in `rank`, `simulate` and `compare`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.test_cli import Shell, shell
from tests.workflow.compared import Findings, findings
from tests.workflow.world import small_frame

__all__ = ["findings", "shell"]

COMMANDS = ("compare", "rank", "simulate")
ASKED = (
    "is the scheduler of a Dask cluster, and Dask is not installed here. Fix: pip install 'plcore[cluster]'"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "birds.csv"
    small_frame().to_csv(path, index=False)
    return path


@pytest.fixture
def no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that who is asked says so at once."""
    monkeypatch.setitem(sys.modules, "distributed", None)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("no_dask")
class TestOneWay:
    def test_the_address_stands_before_or_after_the_table(
        self, shell: Shell, table: Path, command: str
    ) -> None:
        here = "tcp://10.0.0.1:8786"
        for words in (
            ("--cluster", here, table),
            (f"--cluster={here}", table),
            (table, "--cluster", here),
            ("--cluster", here, "--", table),
        ):
            assert f"{here} {ASKED}" in shell.refused(command, *words)

    def test_without_an_address_it_is_whom_the_setting_names(
        self, shell: Shell, table: Path, command: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WINNOW_CLUSTER", "tls://10.0.0.2:8786")
        for words in (
            (table,),
            (table, "--cluster"),
            ("--cluster", table),
            (f"--cluster={table}",),
            ("--cluster", "--", table),
            ("--cluster", "--json", table),
        ):
            status, out, err = shell(command, *words)
            assert status
            assert f"tls://10.0.0.2:8786 {ASKED}" in out + err
        assert f"tcp://a:1 {ASKED}" in shell.refused(command, "--cluster", "tcp://a:1", table)

    def test_without_the_setting_it_has_to_name_somebody(
        self, shell: Shell, table: Path, command: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("WINNOW_CLUSTER", " ")  # which is unset
        for words in (
            (table, "--cluster"),
            ("--cluster", table),
            ("--cluster", "", table),
            ("--cluster", " ", table),
        ):
            line = shell.refused(command, *words)
            assert (
                "--cluster without an address means whom WINNOW_CLUSTER names, which is not set. Fix:" in line
            )

    def test_a_word_is_an_address_or_the_table_but_never_lost(
        self, shell: Shell, table: Path, command: str
    ) -> None:
        assert "must be a Dask scheduler's address" in shell.refused(command, "--cluster", "10.0.0.1", table)
        assert "must be a Dask scheduler's address" in shell.refused(
            command, "--cluster", "http://a:1", table
        )
        for alone in ((), ("--cluster",), ("--cluster", "tcp://a:1"), ("--cluster", "processes")):
            assert "Missing argument" in shell.refused(command, *alone)
        assert "unexpected extra argument" in shell.refused(command, table, "more", "--cluster")


def test_a_project_is_compared_by_whom_the_option_names(
    shell: Shell, table: Path, findings: Findings, no_dask: None
) -> None:
    shell.done("import", table)
    assert json.loads(shell.done("compare", 1, "--json", "--cluster", "processes:1"))["best"] == "clpl"
    assert "tcp://a:1 is the scheduler" in shell.refused("compare", "--cluster", "tcp://a:1", 1)
    assert "which is not set" in shell.refused("compare", "--cluster", 1)
