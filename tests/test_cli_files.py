"""The command line: vectors of the owner's own model, from its folder to a project that learns from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from plcore import LabelTable, read_cells
from tests.plcore.tables.encoders.models import encoder, words_of
from tests.plcore.tables.readers.cases import CASES
from tests.test_cli import Shell, shell

__all__ = ["shell"]

CSV = "id,candidates,text\na,wren|robin,small brown\nb,robin,red breast\nc,wren,\nd,wren|robin,small brown\n"
KNOWN = {"small brown": [1, 0], "red breast": [0, 1]}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "birds.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def words(tmp_path: Path) -> Path:
    return encoder(tmp_path / "home" / "encoders" / "words", {"kind": "text"}, words_of(*KNOWN))


def stored(tmp_path: Path) -> LabelTable:
    """The table of the only project, the largest one if rows were added."""
    found = [LabelTable.read(path) for path in (tmp_path / "home" / "tables").glob("*.parquet")]
    return max(found, key=lambda one: one.n_rows)


@pytest.mark.parametrize("ending", ["npz", "parquet"])
def test_encoded_vectors_become_project_features(
    shell: Shell, table: Path, words: Path, tmp_path: Path, ending: str
) -> None:
    vectors = tmp_path / f"v.{ending}"
    status, out, err = shell("encode", table, "--encoder", "words", "--out", vectors)
    assert (status, out) == (0, f"{vectors}: vectors of the rows of {table}.\n")
    assert "1 row has nothing to encode: 'c'." in err
    status, out, err = shell("import", table, "--embeddings", vectors)
    assert status == 0, err
    assert "Vectors of 2 numbers were joined by column 'id'." in err
    project = stored(tmp_path)
    expected = [[1, 0], [0, 1], [np.nan] * 2, [1, 0]]
    np.testing.assert_array_equal(project.embeddings, expected)
    assert project.roles.embedding == "embedding"
    more, more_vectors = tmp_path / "more.csv", tmp_path / f"more.{ending}"
    more.write_text("id,candidates,text\ne,wren,red breast\nf,wren|robin,owl\n")
    shell.done("encode", more, "--encoder", words, "--out", more_vectors)
    shell.done("append", 1, more, "--embeddings", more_vectors)
    np.testing.assert_array_equal(stored(tmp_path).embeddings, [*expected, [0, 1], [0, 0]])


def test_suggest_weights_candidates_by_classifier(shell: Shell, table: Path, words: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    assert "No encoder is called 'lost'" in shell.refused("suggest", 1, "--with", "lost")
    about = {"kind": "text", "classes": "labels.txt"}
    folder = encoder(words.parent / "birds", about, words_of(*KNOWN))
    (folder / "labels.txt").write_text("Troglodytes troglodytes_Wren\nrobin\n")
    status, out, err = shell("suggest", 1, "--with", "birds")
    assert (status, out) == (0, "Project 1: birds scored 3 rows; its scores now weigh the candidates of 3.\n"), err
    assert "1 row has nothing to encode: 'c'." in err
    found = [LabelTable.read(path) for path in (tmp_path / "home" / "tables").glob("*.parquet")]
    (scored,) = (one for one in found if one.candidate_weights is not None)
    assert scored.classes == ("robin", "wren")
    assert scored.candidate_weights is not None
    assert scored.candidate_weights[[0, 3]].argmax(axis=1).tolist() == [1, 1], "small brown is a wren"
    assert "hold" in shell.done("verify", 1)
    told = json.loads(shell.done("suggest", 1, "--with", "birds", "--json"))
    assert (told["rows"], told["classes"], told["unknown"]) == (3, ["robin", "wren"], [])


def test_rows_without_vectors_for_project_with_them_are_refused(
    shell: Shell, table: Path, words: Path, tmp_path: Path
) -> None:
    shell.done("encode", table, "--encoder", words, "--out", tmp_path / "v.npz")
    shell.done("import", table, "--embeddings", tmp_path / "v.npz")
    more = tmp_path / "more.csv"
    more.write_text("id,candidates,text\ne,wren,red breast\n")
    assert "The file has no column 'embedding', which the project uses" in shell.refused("append", 1, more)


def test_input_that_cannot_be_encoded_is_refused_in_one_line(
    shell: Shell, table: Path, words: Path, tmp_path: Path
) -> None:
    out = tmp_path / "v.npz"
    words_said = shell.refused("encode", table, "--encoder", "lost", "--out", out)
    assert "No encoder is called 'lost': " in words_said
    assert "has 'words'. Fix: put its folder there" in words_said
    assert "No encoder is called '../encoders'" in shell.refused(
        "encode", table, "--encoder", "../encoders", "--out", out
    )
    assert "Fix: end it in '.npz', '.parquet'" in shell.refused(
        "encode", table, "--encoder", "words", "--out", tmp_path / "v.txt"
    )
    assert "No row has a text to encode" in shell.refused(
        "encode", table, "--encoder", "words", "--out", out, "--text", "", "--category", "text"
    )
    (words / "model.onnx").unlink()
    assert "There is no 'model.onnx' in 'words'" in shell.refused("encode", table, "--encoder", "words", "--out", out)
    assert not out.exists()


def test_encoding_project_keeps_its_log_valid(shell: Shell, table: Path, words: Path, tmp_path: Path) -> None:
    shell.done("import", table)
    status, out, err = shell("encode", 1, "--encoder", "words")
    assert (status, out) == (0, "Project 1 learns from vectors of its rows.\n"), err
    assert "1 row has nothing to encode: 'c'." in err
    found = [LabelTable.read(path).encoded for path in (tmp_path / "home" / "tables").glob("*.parquet")]
    ((vectors,),) = [one for one in found if one]
    np.testing.assert_array_equal(vectors.values, [[1, 0], [0, 1], [np.nan] * 2, [1, 0]])
    assert "asked for by owner" in shell.done("encoders", "list"), "consent is stored as by the page"
    assert "hold" in shell.done("verify", 1)
    assert "has these very vectors already" in shell.refused("encode", 1, "--encoder", "words")
    assert len(shell.done("rank", 1).splitlines()) == 3
    more = tmp_path / "more.csv"
    more.write_text("id,candidates,text\ne,wren,red breast\n")
    assert "1 row added" in shell.done("append", 1, more)
    assert shell.done("encode", 1, "--encoder", "words") == "Project 1 learns from vectors of its rows.\n"
    assert shell.done("encode", 1, "--back-to-words") == "Project 1 learns without vectors again.\n"
    assert "no vectors that could be removed" in shell.refused("encode", 1, "--back-to-words")
    assert "hold" in shell.done("verify", 1)
    assert "without --encoder" in shell.refused("encode", 1, "--back-to-words", "--encoder", "words")
    assert "Name the encoder: --encoder FOLDER." in shell.refused("encode", 1)


def test_file_options_are_refused_for_project(shell: Shell, table: Path, words: Path, tmp_path: Path) -> None:
    assert "belong to a FILE" in shell.refused("encode", 1, "--encoder", "words", "--out", tmp_path / "v.npz")
    assert "belong to a FILE" in shell.refused("encode", 1, "--encoder", "words", "--text", "text")
    assert "--out vectors.npz" in shell.refused("encode", table, "--encoder", "words")
    assert "There is no project 7 here" in shell.refused("encode", 7, "--encoder", "words")


# Files of single tools by the command line: recognized, and written back in the tool's own layout.


@pytest.mark.parametrize(
    ("name", "form", "read"),
    [
        ("megadetector_classified.json", "megadetector", "60 rows, 7 classes"),
        ("timelapse_two_species.csv", "timelapse", "60 rows, 7 classes"),
        ("kaleidoscope_id.csv", "kaleidoscope", "4 rows, 5 classes"),
    ],
)
def test_export_round_trips_file_of_other_tool(name: str, form: str, read: str, shell: Shell, tmp_path: Path) -> None:
    learnt = ("--number", "confidence") if form == "megadetector" else ()  # its pictures are not there
    assert shell.done("import", CASES / name, *learnt).splitlines()[-1] == f"Project 1: {read}."
    target = tmp_path / "back"
    shell.done("export", 1, "--format", form, "--rows", "all", "--to", target)
    before, back = (CASES / name).read_bytes(), target.read_bytes()
    if form == "megadetector":
        assert json.loads(back) == json.loads(before)
    elif form == "kaleidoscope":
        assert back == before
    else:
        columns = ["File", "RelativePath", "Species"]
        assert read_cells(back).equals(read_cells(before)[columns])


def test_export_writes_labelling_interface_of_label_studio(shell: Shell) -> None:
    shell.done("import", CASES / "label_studio.csv")
    config = shell.done("export", 1, "--format", "labelstudio-config")
    assert '<Text name="item" value="$text"/>' in config
    assert config.count("<Choice ") == 2


def test_progress_of_encode_tells_minutes_left(
    shell: Shell, words: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    ticks = iter([0.0, 320.0])  # 32 rows, 10 seconds each
    monkeypatch.setattr("plcore.tables.encoders.encoding.perf_counter", lambda: next(ticks))
    table = tmp_path / "many.csv"
    table.write_text("id,candidates,text\n" + "".join(f"r{n},x|y,text {n}\n" for n in range(50)))
    _, _, err = shell("encode", table, "--encoder", "words", "--out", tmp_path / "v.npz")
    assert "\r32 of 50 (text), about 3 min left" in err
    assert "\r16 of 50 (text) " in err, "nothing is known before"
