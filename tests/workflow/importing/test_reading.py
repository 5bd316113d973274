"""Reading an upload: the first look, named columns, problems."""

from __future__ import annotations

import base64
import errno
import gc
import io
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from plcore import LabelTable, Roles, TableError
from plcore.tables import KeptFiles
from plcore.tables.readers import recognise
from tests.disks import small_disk
from tests.plcore.tables.media.sound.recordings import tone, written
from tests.plcore.tables.right_readings import path_of
from tests.plcore.tables.zips import make_zip, picture
from tests.present import present
from tests.workflow import vector_world
from tests.workflow.files.test_finding import FILES, ZIP
from workflow.files import limited
from workflow.importing import check
from workflow.importing.first_look import SHOWN, first_look
from workflow.importing.named_columns import CUT_AT, adjusted, freed, newly_named
from workflow.importing.reading import read_paths, read_upload

# A file is read in another process, and its leftovers go with the upload


CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n"
READING_ZIP = make_zip({"t.csv": b"id,labels,p\n1,a|b,x.png\n2,b,x.png\n", "x.png": picture()})


def test_file_is_read_in_separate_process_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_given: object) -> None:
        raise AssertionError

    monkeypatch.setattr(recognise, "as_text", never)
    monkeypatch.setattr(recognise, "cells_of_text", never)
    upload = read_upload(CSV, "birds.csv")
    assert upload.cells["labels"].tolist() == ["a|b", "b"]
    assert upload.cells.index.tolist() == [2, 3]
    assert upload.suggest_roles().candidates == "labels"
    assert upload.reading.format == "CSV"


def test_file_is_read_by_chosen_options() -> None:
    upload = read_upload(path_of("md16.json"), ways={"item": "detection"})
    assert [(way.name, list(way.options)) for way in upload.ways] == [("item", ["picture", "detection", "frame"])]
    assert upload.cells["item"].tolist()[0] == "A/1.jpg#1"
    with pytest.raises(TableError, match="cannot be 'frame'"):
        read_upload(path_of("megadetector_classified.json"), ways={"item": "frame"})
    assert read_upload(CSV, "birds.csv").ways == ()


def test_doubts_about_the_whole_file_stop_its_import() -> None:
    upload = read_upload(path_of("qualtrics.csv"))
    found = [doubt for doubt in check(upload, upload.suggest_roles()).doubts if doubt.stops]
    assert [doubt.name for doubt in found] == ["unfinished-answers"]


def test_unpacked_files_are_deleted_with_upload() -> None:
    upload = read_upload(READING_ZIP)
    folder = present(upload.folder)
    assert folder.is_dir()
    assert not (folder / "file").exists(), "the upload itself is not kept twice"
    cells = upload.cells
    del upload
    gc.collect()
    assert not folder.exists()
    assert len(cells) == len(cells.drop_duplicates()), "cells may outlive their file's name"


def test_refused_file_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(TableError, match="empty"):
        read_upload(b"")
    assert os.listdir(tmp_path) == []  # noqa: PTH208


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("where", ["folder", "process"])
def test_full_disk_is_reported(number: int, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object, **_how: object) -> None:
        raise OSError(number, os.strerror(number))

    good = read_upload(CSV)
    if where == "folder":
        monkeypatch.setattr(tempfile, "mkdtemp", full)
    else:
        monkeypatch.setattr(limited, "run_in_turn", full)
    with pytest.raises(TableError) as caught:
        read_upload(CSV)
    said = [*caught.value.problems, *check(good, good.suggest_roles()).problems]
    assert len(said) == 2
    for problem in said:
        assert "no room left on the disk" in problem.message
        assert "TMPDIR" in problem.fix


def test_other_disk_errors_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object, **_how: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(limited, "run_in_turn", broken)
    with pytest.raises(OSError, match="Input/output error"):
        read_upload(CSV)


@pytest.mark.parametrize("megabytes", [1, 4])  # in the file itself, and in the resulting table
def test_disk_filling_up_during_reading_is_reported(
    megabytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{k},a|b,3\n" for k in range(200_000))
    with small_disk(tmp_path / "disk", megabytes) as folder:
        monkeypatch.setattr("tempfile.tempdir", str(folder))
        with pytest.raises(TableError, match="no room left on the disk"):
            read_upload(f"id,labels,w\n{rows}".encode())
        assert list(folder.iterdir()) == [], "and nothing of it is left"


def test_folder_is_read_in_place(tmp_path: Path) -> None:
    (tmp_path / "birds.csv").write_bytes(CSV)
    (tmp_path / "call.txt").write_text("nothing")
    upload = read_paths(tmp_path)
    assert upload.reading.format == "folder of a table (CSV) and its files"


def test_folder_of_parquet_parts_is_one_table(tmp_path: Path) -> None:
    whole = pa.table(
        {
            "labels": pa.array([["a", "b"], ["b"], ["a"], ["c", "a"]], pa.list_(pa.string())),
            "embedding": pa.array([[1.0, 2.0], None, [0.0, 1.0], [3.0, 3.0]], pa.list_(pa.float32())),
        }
    )
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(2):
        pq.write_table(whole.slice(2 * number, 2), parts / f"{number}.parquet")
    pq.write_table(whole, tmp_path / "whole.parquet")
    uploads = [read_paths(path) for path in (parts, tmp_path / "whole.parquet")]
    tables = [check(one, one.suggest_roles()).table for one in uploads]
    in_parts, at_once = tables
    assert in_parts is not None
    assert at_once is not None
    assert in_parts.write(tmp_path / "one") == at_once.write(tmp_path / "other")
    np.testing.assert_array_equal(in_parts.embeddings, at_once.embeddings)
    assert not in_parts.embeddings.flags.owndata, "they lie where they were written"
    assert uploads[0].reading.format == "Parquet in 2 files"
    assert read_paths(parts).source_hash == uploads[0].source_hash != uploads[1].source_hash


def test_zip_files_are_unpacked_and_kept_as_long_as_table() -> None:
    upload = read_upload(READING_ZIP)
    assert upload.reading.files is None
    table = present(check(upload, upload.suggest_roles()).table)
    assert isinstance(table.media.files, KeptFiles)
    (name,) = table.media.kept_names()
    del upload
    gc.collect()
    with table.media.files.open(name) as file:
        assert file.read() == picture()
    folder = table.media.files.paths[name].parent
    del table
    gc.collect()
    assert not folder.exists()


def test_files_of_folder_stay_in_place(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,labels,p\n1,a|b,x.png\n2,b,x.png\n")
    (tmp_path / "x.png").write_bytes(picture())
    upload = read_paths(tmp_path)
    table = present(check(upload, upload.suggest_roles()).table)
    assert isinstance(table.media.files, KeptFiles)
    assert list(table.media.files.paths.values()) == [tmp_path / "x.png"]


# The first question of a table that is not a project yet


def table_of(data: bytes) -> LabelTable:
    upload = read_upload(data)
    table = present(check(upload, upload.suggest_roles()).table)
    return table


def test_first_look_orders_choices_by_weight() -> None:
    table = table_of(b"id,labels,w\nx,owl:1,3\ny,wren:0.2|robin:0.6|tit:0.2,4\nz,owl:1,5\n")
    look = present(first_look(table))
    assert (look.view.row_id, look.view.features) == ("y", (("w", "4"),))
    assert look.choices == (("robin", "0.6"), ("tit", "0.2"), ("wren", "0.2"))
    assert look.hidden == 0


def test_equal_weights_are_hidden_and_many_labels_counted() -> None:
    names = "|".join(f"n{k:02}" for k in range(SHOWN + 3))
    look = present(first_look(table_of(f"labels,w\n{names},1\nn00,2\n".encode())))
    assert look.choices == tuple((f"n{k:02}", "") for k in range(SHOWN))
    assert look.hidden == 3


def test_first_look_at_label_vectors_shows_open_labels() -> None:
    look = present(first_look(table_of(b"w,ant,bee,cat\n10,1,0,1\n20,,1,\n30,1,1,0\n")))
    assert (look.view.row, look.choices) == (1, (("ant", ""), ("cat", "")))


def test_first_look_without_open_rows_is_none() -> None:
    assert first_look(table_of(b"labels,w\na,1\nb,2\n")) is None
    assert first_look(table_of(b"w,ant,bee\n10,1,0\n20,0,1\n30,0,0\n")) is None


def test_first_look_draws_segment_of_recording() -> None:
    sound = written(np.concatenate([tone(500, 3), tone(3000, 3)])).getvalue()
    looks = []
    for start in (0, 3):
        csv = f"candidates,file,start,end\nwren|robin,a.wav,{start},{start + 1}\n".encode()
        look = present(first_look(table_of(make_zip({"t.csv": csv, "a.wav": sound}))))
        assert look.view.audio is None
        looks.append(str(look.view.image))
    assert all(image.startswith("data:image/png;base64,") for image in looks)
    assert looks[0] != looks[1]
    grey = np.asarray(Image.open(io.BytesIO(base64.b64decode(looks[0].partition(",")[2]))))
    low = grey[-len(grey) // 4 :, : grey.shape[1] // 3]  # 500 Hz of 4 kHz
    assert low.min() < 60 < grey[: len(grey) // 8].mean(), "what sounds is dark"


def test_first_look_shows_images_but_no_recordings() -> None:
    table = table_of(ZIP)
    look = present(first_look(table))
    assert look.view.image is not None
    kind, _, data = look.view.image.partition(",")
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data) in FILES.values()
    assert look.view.audio is None


# A user's choices override the guess: columns leave their roles, pairs stay pairs, no message is unnecessary


CELLS = pd.DataFrame(
    {
        **{name: ["1", "2"] for name in "ciwxyt"},
        "bars": ["a|b", "b"],
        "shares": ["a:0.6;b:0.4", "b:1"],
        "json": ['["a", "b"]', '["b"]'],
        "p_a": ["0.9", "0.2"],
        "p_b": ["0.1", "0.8"],
        "votes_a": ["2", "0"],
        "votes_b": ["1", "3"],
    },
    dtype="str",
)
GUESS = Roles(candidates="c", truth="t", id="i", text="w", numbers=("x", "y"))
SCORES = Roles(score_columns=("p_a", "p_b"), score_prefix="p_", cut="mass", cut_at=0.95, numbers=("x",))
PAIRS = Roles(choices=("c", "i"), choice_scores=("x", "y"), text="w")


@pytest.mark.parametrize(
    ("chosen", "wanted"),
    [
        ({}, GUESS),
        ({"truth": None}, GUESS),
        ({"truth": "x"}, replace(GUESS, truth="x", numbers=("y",))),
        ({"truth": ""}, replace(GUESS, truth=None)),
        ({"text": "t"}, replace(GUESS, text="t", truth=None)),
        ({"candidates": "t"}, replace(GUESS, candidates="t", truth=None)),
        ({"separator": "x"}, replace(GUESS, separator="x")),
        ({"id": "c"}, replace(GUESS, id="c", candidates=None)),
        ({"numbers": [""]}, replace(GUESS, numbers=())),
        ({"numbers": ["y", ""]}, replace(GUESS, numbers=("y",))),
        ({"candidates": "absent"}, replace(GUESS, candidates="absent")),
    ],
)
def test_chosen_column_leaves_its_guessed_role(chosen: dict[str, Any], wanted: Roles) -> None:
    assert adjusted(GUESS, chosen, CELLS) == wanted


def test_removing_image_removes_further_images() -> None:
    guess = replace(GUESS, image="bars", more_images=("json", "shares"))
    assert adjusted(guess, {"more_images": ["json"]}, CELLS).picture_columns == ("bars", "json")
    assert adjusted(guess, {"image": ""}, CELLS).picture_columns == ()
    assert adjusted(guess, {"text": "bars"}, CELLS).picture_columns == ()
    found = adjusted(guess, {"caption": ["w", "shares"]}, CELLS)
    assert (found.caption, found.text, found.more_images) == (("w", "shares"), None, ("json",))
    assert adjusted(guess, {"caption": [""]}, CELLS) == guess


def test_removing_text_removes_further_texts() -> None:
    guess = replace(GUESS, text="t", more_texts=("json", "shares"), truth=None)
    assert adjusted(guess, {"more_texts": ["json"]}, CELLS).text_columns == ("t", "json")
    assert adjusted(guess, {"text": ""}, CELLS).text_columns == ()
    found = adjusted(guess, {"caption": ["shares"]}, CELLS)
    assert (found.caption, found.text_columns) == (("shares",), ("t", "json"))
    assert adjusted(guess, {"caption": ["t"]}, CELLS).text_columns == ("json", "shares"), "the next is the text"


def test_source_may_be_column_of_images_recordings_or_captions() -> None:
    guess = replace(GUESS, image="bars", audio="json", caption=("shares",))
    for column in ("bars", "json", "shares"):
        assert adjusted(guess, {"source": column}, CELLS) == replace(guess, source=column)
    own = replace(guess, source="bars")
    assert adjusted(own, {"image": "bars"}, CELLS) == own
    assert adjusted(guess, {"source": "x"}, CELLS) == replace(guess, source="x", numbers=("y",))
    assert adjusted(own, {"source": ""}, CELLS) == guess


def test_choosing_candidates_column_leaves_label_vectors() -> None:
    found = adjusted(vector_world.ROLES, {"candidates": "bars"}, CELLS)
    assert (found.candidates, found.label_columns, found.label_vectors) == ("bars", (), False)
    votes = Roles(annotators=("c", "i"), numbers=("x",))
    assert adjusted(votes, {"candidates": "c"}, CELLS).annotators == ()
    lists = adjusted(vector_world.ROLES, {"candidates": "json", "label_vectors": True}, CELLS)
    assert (lists.form, lists.label_vectors) == ("json", True)


@pytest.mark.parametrize(
    ("column", "form", "separator"), [("bars", "list", "|"), ("shares", "weighted", ";"), ("json", "json", "|")]
)
def test_cell_form_of_newly_chosen_column_is_guessed(column: str, form: str, separator: str) -> None:
    guess = replace(GUESS, form="weighted", separator="/")
    found = adjusted(guess, {"candidates": column}, CELLS)
    assert (found.form, found.separator) == (form, separator)
    assert newly_named("candidates", [column], CELLS) == {"form": form, "separator": separator}
    told = adjusted(guess, {"candidates": column, "form": "list", "separator": "+"}, CELLS)
    assert (told.form, told.separator) == ("list", "+")
    same = adjusted(replace(guess, candidates=column), {"candidates": column}, CELLS)
    assert (same.form, same.separator) == ("weighted", "/"), "what was guessed of it stays"


def test_form_of_newly_chosen_scores_is_guessed() -> None:
    assert adjusted(SCORES, {"score_columns": ["p_a", "p_b"]}, CELLS) == SCORES
    one = adjusted(SCORES, {"score_columns": ["p_b", "p_a"]}, CELLS)
    assert (one.score_prefix, one.cut, one.cut_at) == ("p_", "mass", 0.95)
    counts = adjusted(SCORES, {"score_columns": ["votes_a", "votes_b"]}, CELLS)
    assert (counts.score_prefix, counts.cut, counts.cut_at) == ("votes_", "all", 0.0)
    told = adjusted(GUESS, {"score_columns": ["p_a", "p_b"], "score_prefix": "", "cut": "top"}, CELLS)
    assert (told.candidates, told.score_prefix, told.cut, told.cut_at) == (None, "", "top", 5.0)


@pytest.mark.parametrize("cut", CUT_AT)
def test_changing_cut_sets_its_default_number(cut: str) -> None:
    found = adjusted(SCORES, {"cut": cut}, CELLS)
    assert (found.cut, found.cut_at) == (cut, CUT_AT[cut])
    if cut != "all":
        assert adjusted(SCORES, {"cut": cut, "cut_at": 1.0}, CELLS).cut_at == 1.0
    kept = replace(SCORES, cut_at=0.5)
    assert adjusted(kept, {"cut": "mass"}, CELLS) == kept


@pytest.mark.parametrize(
    ("chosen", "labels", "scores"),
    [
        ({"text": "x"}, ("i",), ("y",)),
        ({"text": "i"}, ("c",), ("x",)),
        ({"text": "c", "id": "y"}, (), ()),
        ({"choice_scores": ["y", "x"]}, ("c", "i"), ("y", "x")),
        ({"choices": ["c"]}, ("c",), ()),
        ({"choices": ["c"], "choice_scores": ["y"]}, ("c",), ("y",)),
    ],
)
def test_label_and_its_score_are_removed_together(
    chosen: dict[str, Any], labels: tuple[str, ...], scores: tuple[str, ...]
) -> None:
    found = adjusted(PAIRS, chosen, CELLS)
    assert (found.choices, found.choice_scores) == (labels, scores)


def test_ignored_words_are_added_to_guessed_ones() -> None:
    guess = replace(GUESS, ignored=("nan",))
    assert adjusted(guess, {"ignored": ["?", "nan"]}, CELLS).ignored == ("nan", "?")
    assert adjusted(guess, {"ignored": ["", "?"]}, CELLS).ignored == ("?",)
    assert adjusted(guess, {"ignored": [""]}, CELLS).ignored == ()


@pytest.mark.parametrize(
    ("guess", "chosen", "said"),
    [
        (replace(SCORES, cut="all", cut_at=0.0), {"cut_at": 0.5}, "Nothing is cut at 0.5"),
        (SCORES, {"cut": "all", "cut_at": 0.5}, "Nothing is cut at 0.5"),
        (GUESS, {"cut_at": 2.0}, "Nothing is cut at 2"),
        (GUESS, {"cut": "top", "cut_at": 2.0}, "come without weights"),
        (Roles(label_columns=("x", "y"), text="w"), {"cut": "mass"}, "come without weights"),
        (Roles(choices=("c", "i"), text="w"), {"cut": "top"}, "come without weights"),
        (GUESS, {"score_prefix": "p_"}, "no columns of scores"),
        (SCORES, {"form": "json"}, "No column lists candidates, so a form"),
        (SCORES, {"separator": ";"}, "No column lists candidates, so a separator"),
        (GUESS, {"form": "json", "separator": ";"}, "not split at ';'"),
    ],
)
def test_option_without_effect_is_refused(guess: Roles, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(TableError, match=said) as error:
        adjusted(guess, chosen, CELLS)
    assert all(problem.fix for problem in error.value.problems)


def test_votes_can_be_cut() -> None:
    votes = Roles(annotators=("c", "i"), numbers=("x",))
    assert adjusted(votes, {"cut": "top", "cut_at": 1.0}, CELLS).cut == "top"


def test_unknown_role_is_refused() -> None:
    with pytest.raises(ValueError, match="Roles have no 'colour'"):
        adjusted(GUESS, {"colour": "x"}, CELLS)


@given(
    st.lists(st.sampled_from("abcdef"), unique=True, max_size=6), st.sets(st.sampled_from("abcdef")), st.integers(0, 6)
)
def test_freeing_column_keeps_remaining_pairs_matched(columns: list[str], taken: set[str], n: int) -> None:
    labels, scores = columns[: min(n, len(columns) // 2)], columns[::-1][: min(n, len(columns) // 2)]
    found = freed({"choices": labels, "choice_scores": scores, "id": "a", "form": "a"}, {"truth": taken})
    left = [(a, b) for a, b in zip(labels, scores, strict=True) if not {a, b} & taken]
    assert list(zip(found["choices"], found["choice_scores"], strict=True)) == left
    assert (found["id"], found["form"]) == (None if "a" in taken else "a", "a")
    assert freed(found, {"truth": taken}) == found
