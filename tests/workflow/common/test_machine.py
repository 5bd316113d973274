"""What the machine is said to have: in a container no more than it may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflow.common.machine import machine_memory


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
