"""Encoders in the data folder: found by name alone; vectors of a file's rows, written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.tables import read_vectors
from tests.plcore.tables.encoders.models import encoder, mean_color, words_of
from workflow.importing import encoding
from workflow.importing.encoding import Encoder, EncoderError
from workflow.server.home import Home


def table(*texts: str) -> LabelTable:
    cells = pd.DataFrame({"c": "a|b", "t": list(texts)}, dtype="str")
    return LabelTable.from_cells(cells, Roles(candidates="c", text="t"))


def test_encoders_are_folders_of_the_data_folder(home: Home) -> None:
    assert encoding.names(home) == ()
    with pytest.raises(EncoderError, match=r"in .*encoders there is none"):
        encoding.folder_of(home, "words")
    folder = encoder(home.encoders_dir / "words", {"kind": "text"}, words_of("a"))
    (home.encoders_dir / "notes.txt").write_text("")
    assert encoding.names(home) == ("words",)
    assert encoding.folder_of(home, "words") == folder


@pytest.mark.parametrize("name", ["", ".", "..", "../tables", "/etc", "notes.txt", "words/../words"])
def test_nothing_but_a_name_that_is_listed_leads_to_a_folder(home: Home, name: str) -> None:
    encoder(home.encoders_dir / "words", {"kind": "text"}, words_of("a"))
    with pytest.raises(EncoderError, match="No encoder is called"):
        encoding.folder_of(home, name)


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".NPZ"])
def test_vectors_are_written_by_the_names_of_the_rows(tmp_path: Path, ending: str) -> None:
    words = Encoder(encoder(tmp_path / "words", {"kind": "text"}, words_of("wren", "owl")))
    path = tmp_path / f"v{ending}"
    steps: list[tuple[int, int, str]] = []
    notes = encoding.encode_to(path, table("owl", "", "wren"), words, lambda *step: steps.append(step))
    assert notes == ("1 rows have nothing to encode: '2'.",)
    assert steps == [(2, 2, "text")]
    found = read_vectors(path)
    assert list(found.names.values()) == [["1", "2", "3"]]
    np.testing.assert_array_equal(found.values, [[0, 1], [np.nan, np.nan], [1, 0]])


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(b"before")
    colors = Encoder(encoder(tmp_path / "colors", {"kind": "image", "size": 4}, mean_color()))
    with pytest.raises(EncoderError, match="No row has an image"):
        encoding.encode_to(path, table("owl"), colors)
    assert path.read_bytes() == b"before"
    with pytest.raises(
        EncoderError, match=r"'v' tells no format of vectors. Fix: end it in '.npz', '.parquet'"
    ):
        encoding.encode_to(tmp_path / "v", table("owl"), colors)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["colors", "v.npz"]
