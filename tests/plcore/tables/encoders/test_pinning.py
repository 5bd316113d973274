"""`tools/pin_encoders.py` writes entries that the catalogue reads back."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from plcore.tables.encoders import read_catalogue
from tests.conftest import ROOT
from tests.plcore.tables.encoders.small_catalogue import REVISION, file_of

TEXT = (ROOT / "plcore" / "tables" / "encoders" / "data" / "catalogue.toml").read_text()


@pytest.mark.parametrize("key", ["minilm-en", "minilm-many", "clip-b32"])
def test_pinning_sets_revision_and_hashes_and_keeps_other_entries(key: str, tmp_path: Path) -> None:
    pinned = runpy.run_path(str(ROOT / "tools" / "pin_encoders.py"), run_name="pin")["pinned"]
    entry = read_catalogue()[key]
    paths = {}
    for number, one in enumerate(entry.files):
        paths[one.name] = tmp_path / str(number)
        paths[one.name].write_bytes(one.name.encode())
    text = pinned(entry, REVISION, paths, TEXT)
    before, after = tomllib.loads(TEXT), tomllib.loads(text)
    assert after[key]["revision"] == REVISION
    assert after[key]["files"] == [file_of(one.name, one.name.encode(), one.what) for one in entry.files]
    changed = {"revision", "files", "bytes"}
    assert {name: value for name, value in after[key].items() if name not in changed} == {
        name: value for name, value in before[key].items() if name not in changed
    }
    assert list(after) == list(before)
    assert all(after[other] == before[other] for other in before if other != key)
    assert pinned(entry, REVISION, paths, text) == text, "pinned again nothing changes"
