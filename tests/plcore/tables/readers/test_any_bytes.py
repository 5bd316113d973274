"""Any bytes give a table or a clear error, in every format: no other result, and no crash."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.problems import MAX_COLUMNS, TableError
from plcore.tables.readers.recognise import read_table
from tests.conftest import ROOT
from tests.plcore.tables.readers.damage import a_damaged, good_files, read_or_say

FILES = good_files()


@pytest.mark.parametrize("name", FILES)
def test_valid_files_are_read_without_messages(name: str) -> None:
    assert len(read_table(FILES[name], f"a.{name}").cells) >= 1


@given(st.sampled_from(sorted(FILES)), st.integers(0, 10**9))
def test_damaged_file_is_read_or_refused_with_a_message(name: str, seed: int) -> None:
    table = read_or_say(a_damaged(name, seed), f"a.{name}")
    assert table is None or table.candidates.shape == (table.n_rows, len(table.classes))


@given(st.sampled_from(sorted(FILES)), st.sampled_from(sorted(FILES)), st.data())
def test_pieces_of_two_files_are_read_or_refused_with_a_message(one: str, other: str, data: st.DataObject) -> None:
    head = FILES[one][: data.draw(st.integers(0, len(FILES[one])))]
    tail = FILES[other][data.draw(st.integers(0, len(FILES[other]))) :]
    read_or_say(head + tail, f"a.{one}")


@given(st.binary(max_size=200), st.sampled_from(sorted(FILES)))
def test_bytes_of_no_format_are_read_or_refused_with_a_message(data: bytes, name: str) -> None:
    read_or_say(data, f"a.{name}")


@pytest.mark.proof  # see test_damaged_file_is_read_or_refused_with_a_message, which runs in this process
def test_damage_neither_kills_the_process_nor_fills_memory() -> None:
    command = [sys.executable, "-m", "tests.plcore.tables.readers.damage", "0", "40", "6000"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    read = done.stdout.splitlines()
    assert done.returncode == 0, f"after {read[-1:]}: {done.stderr[-2000:]}"
    assert len(read) == 40 * len(FILES)


def test_a_few_bytes_that_declare_a_hundred_thousand_columns_are_refused() -> None:
    with pytest.raises(TableError, match=f"100,001 columns; at most {MAX_COLUMNS:,} are allowed"):
        read_table(b"1,3 99999:1\n2 2:4\n1 1:1\n", "a.txt")
