"""What the machine is said to have: in a container no more than it may use."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from workflow.server.shelf import give_back, machine_memory, own_memory


@pytest.mark.parametrize(
    ("text", "limited"),
    [("1048576\n", True), ("max\n", False), ("9223372036854771712\n", False), ("", False)],
)
def test_the_limit_of_a_container_counts(tmp_path: Path, text: str, limited: bool) -> None:
    whole = machine_memory(())
    assert whole is not None
    assert whole > 2**27
    (tmp_path / "memory.max").write_text(text)
    found = machine_memory((tmp_path / "missing", tmp_path / "memory.max"))
    assert found == (2**20 if limited else whole)


def test_memory_of_this_process_alone_grows_with_what_it_holds_and_is_given_back() -> None:
    give_back()
    before = own_memory()
    assert before is not None
    held = [np.ones(1_000) for _ in range(10_000)]  # 80 MB in pieces that glibc would keep
    grown = own_memory()
    assert grown is not None
    assert grown - before > 60e6
    del held
    give_back()
    after = own_memory()
    assert after is not None
    assert after - before < 20e6


def test_pages_of_files_do_not_count_and_other_systems_do_not_tell(tmp_path: Path) -> None:
    (tmp_path / "statm").write_text("9000 500 200 1 0 300 0\n")
    assert own_memory(tmp_path / "statm") == 300 * os.sysconf("SC_PAGE_SIZE")
    assert own_memory(tmp_path / "none") is None
