"""Exports as a data set, as a project's files, and to programs."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from plcore import read_cells
from tests.hugging_face import datasets
from tests.workflow.exporting.cards import facts_of
from tests.workflow.kind_worlds import KindWorld
from tests.workflow.world import file_of
from workflow.access import Right
from workflow.exporting import files, for_programs
from workflow.exporting import files as exporting
from workflow.exporting.card_facts import without_names
from workflow.exporting.card_text import CardDetails
from workflow.exporting.project_files import (
    CARD,
    DATA,
    LOG_FORMATS,
    METADATA,
    SEALED,
    TABLE,
    TOOL,
    ExportChoice,
    file_called,
    files_of,
    find_file,
)
from workflow.exporting.project_files import LOG as LOG_HEADER
from workflow.exporting.snapshot import ANSWERED
from workflow.kinds import KINDS, Kind, label_vectors, one_label
from workflow.log.verifying import verify_file
from workflow.saving import NotSaved
from workflow.seat import Seat

# A data set of every kind of project, as written for publication


__all__ = ["datasets"]


def files_in(seat: Seat, rows: str = "all", **details: Any) -> dict[str, bytes]:
    """The content of the zip."""
    choice, file = ExportChoice("dataset", rows, details=CardDetails(**details)), io.BytesIO()
    exporting.take(seat, choice).write(file, lambda _done: None)
    with zipfile.ZipFile(file) as packed:
        assert packed.namelist() == [CARD, METADATA, DATA, SEALED]
        return {name: packed.read(name) for name in packed.namelist()}


def hashes(files: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(files[name]).hexdigest() for name in (DATA, SEALED)}


def test_card_describes_projects_of_every_kind(world: KindWorld, seat: Seat, ada: Seat) -> None:
    for _ in range(3):
        world.answer(ada)
    world.say(ada, "bad")
    seat.settle()
    files = files_in(seat, license="mit")
    text = files[CARD].decode()
    with seat.learner(Right.OWN) as opened:
        found = facts_of(opened, without_names(opened.session, opened.project_id))
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["pretty_name"] == "small"
    assert front["license"] == "mit"
    assert front["configs"] == [{"config_name": "default", "data_files": DATA}]
    assert f"- Rows: {found.n_rows}\n" in text
    assert f"- Answers that count: {found.answers}\n" in text
    assert "- Rows excluded as bad items: 1\n" in text
    assert f"- Head of the log, {found.entries} entries: {found.head}\n" in text
    for name, digest in hashes(files).items():
        assert f"- SHA-256 of {name}: {digest}\n" in text
    assert f"- Tool: {TOOL}\n" in text
    assert "| Annotator 1 |" in text
    assert "| Ada |" in files_in(seat, named=True)[CARD].decode()
    for name, count in found.sources.items():
        assert f"| {name} | {count} |" in text


def test_data_set_names_people_only_on_request(world: KindWorld, seat: Seat, ada: Seat) -> None:
    world.answer(ada)
    for named in (False, True):
        files = files_in(seat, named=named)
        known = pq.read_table(io.BytesIO(files[DATA])).to_pylist() if world.kind == "one_label" else []
        given = {one["annotator"] for row in known for one in row["winnow_answers"]}
        assert given in (set(), {"Ada" if named else "Annotator 1"})
        said = files[CARD] + files[METADATA] + files[SEALED]
        assert (b"Ada" in said) == named
        assert (b"Annotator 1" in said) != named
        head = json.loads(files[SEALED].splitlines()[-1])["sha256"]
        assert f": {head}\n" in files[CARD].decode()


def test_metadata_describes_projects_of_every_kind(world: KindWorld, seat: Seat, ada: Seat) -> None:
    world.answer(ada)
    files = files_in(seat, demographics="One teacher.")
    found = json.loads(files[METADATA])
    assert found["name"] == "small"
    assert found["rai:annotatorDemographics"] == "One teacher."
    assert found["rai:dataAnnotationPlatform"] == "Winnow"
    assert found["rai:annotationsPerItem"]
    assert {one["name"]: one["sha256"] for one in found["distribution"]} == hashes(files)
    (records,) = found["recordSet"]
    columns = pq.read_schema(io.BytesIO(files[DATA])).names
    assert [one["name"] for one in records["field"]] == columns
    assert "Ada" not in json.dumps(found)


def test_data_set_contains_valid_log_and_chosen_rows(
    world: KindWorld, seat: Seat, ada: Seat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for _ in range(2):
        world.answer(ada)
    files = files_in(seat, ANSWERED)
    path = tmp_path_factory.mktemp("set") / SEALED
    path.write_bytes(files[SEALED])
    assert verify_file(path).entries == len(files[SEALED].splitlines()) - 2
    taken = exporting.take(seat, ExportChoice("dataset", ANSWERED))
    assert pq.read_metadata(io.BytesIO(files[DATA])).num_rows == taken.total
    assert not list(seat.home.exports_dir.iterdir()), "what was packed is gone"


def test_data_set_before_first_answer_says_so(seat: Seat) -> None:
    files = files_in(seat)
    text = files[CARD].decode()
    assert "- Answers that count: 0\n" in text
    assert "- When: not given\n" in text
    assert json.loads(files[METADATA]).get("rai:annotationsPerItem") is None


def test_same_state_gives_same_card_and_data(seat: Seat) -> None:
    seat.settle()  # the first fit would run in between
    one, two = files_in(seat), files_in(seat)
    assert one[DATA] == two[DATA]
    without = [text.replace(hashes(files)[SEALED], "") for files in (one, two) for text in [files[CARD].decode()]]
    assert without[0] == without[1]


def test_stopped_data_set_export_leaves_no_files(seat: Seat) -> None:
    class StopError(Exception):
        pass

    def tell(_done: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        exporting.take(seat, ExportChoice("dataset")).write(io.BytesIO(), tell)
    assert not list(seat.home.exports_dir.iterdir())


def test_hugging_face_reads_folder_by_its_card(
    datasets: Any, world: KindWorld, seat: Seat, ada: Seat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    world.answer(ada)
    folder = tmp_path_factory.mktemp("set")
    for name, data in files_in(seat).items():
        (folder / name).write_bytes(data)
    loaded = datasets.load_dataset(str(folder), cache_dir=str(tmp_path_factory.mktemp("cache")))
    (split,) = loaded.values()
    assert split.num_rows == world.table().n_rows
    assert set(split.column_names) == set(pq.read_schema(folder / DATA).names)


# Which files there are, and which one a name asks for


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_project_offers_all_formats_and_its_log(kind: Kind) -> None:
    files = files_of(kind)
    assert list(files) == [*kind.FORMATS, *kind.GIVEN_BACK, "dataset", *LOG_FORMATS]
    assert next(iter(files)) == ExportChoice().file == "csv"
    for name, file in files.items():
        assert find_file(kind, name).form is file.form
        assert file.by_rows == (name not in LOG_FORMATS) == (file.sort == TABLE)
        assert file_called(kind, f"birds{file.form.suffix}", file.sort) == name
    with pytest.raises(ValueError, match=r"A file is one of csv, .*, dataset, log, sealed-log\. Got ''"):
        find_file(kind, "")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_tool_formats_are_offered_for_their_tables_only(kind: Kind) -> None:
    files = files_of(kind, read_cells(b"candidates,x\na|b,1\n"))
    assert list(files) == [*kind.FORMATS, "dataset", *LOG_FORMATS]
    for name in kind.GIVEN_BACK:
        with pytest.raises(ValueError, match="A file is one of"):
            find_file(kind, name, read_cells(b"candidates,x\na|b,1\n"))


def test_unknown_export_choice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"The rows are one of all, sure, answered. Got 'some'"):
        ExportChoice(rows="some")
    with pytest.raises(ValueError, match=r"in \[0, 1\] on. Got 90"):
        ExportChoice(above=90)


def test_file_name_determines_format(subtests: pytest.Subtests) -> None:
    for called, name in [
        ("birds.csv", "csv"),
        ("BIRDS.CSV", "csv"),
        ("birds.parquet", "parquet"),
        ("birds.jsonl", "jsonl"),
        ("birds.npz", "npz"),
        ("birds.labelstudio.json", "labelstudio"),
        ("birds.json", "labelstudio"),
        ("birds.votes.csv", "votes"),
        ("birds.prodigy.jsonl", "prodigy"),
        ("birds.zip", "dataset"),
        ("", "csv"),
    ]:
        with subtests.test(str(called)):
            assert file_called(one_label, called) == name


@pytest.mark.parametrize("called", ["birds", "birds.xls", "csv", ".parquet.bak"])
def test_file_name_without_known_ending_is_refused(called: str) -> None:
    with pytest.raises(ValueError, match=r"one of \.csv, \.parquet, .*Got '.*Fix: another ending, or --format"):
        file_called(one_label, called)
    with pytest.raises(ValueError, match=r"one of \.csv, \.jsonl\. Got"):
        file_called(one_label, "log.parquet", LOG_HEADER)
    assert file_called(one_label, "log.csv", LOG_HEADER) == "log"


def test_label_vectors_have_their_own_file_endings() -> None:
    assert file_called(label_vectors, "scenes.cells.csv") == "cells"
    assert file_called(label_vectors, "scenes.json") == "labelstudio"
    assert file_called(label_vectors, "scenes.xlsx") == "xlsx"
    with pytest.raises(ValueError, match=r"\.cells\.csv, .*Got 'scenes.mat'"):
        file_called(label_vectors, "scenes.mat")


# API reads, over both kinds of project and both databases


def test_rows_and_predictions_are_paged(world: KindWorld, seat: Seat) -> None:
    total = world.table().n_rows
    part = for_programs.rows_of(seat, total - 2, 5)
    assert [one["row"] for one in part.items] == [total - 2, total - 1]
    assert part.total == total
    for start in (total, 2**31 - 1):
        assert for_programs.rows_of(seat, start, 5).items == []
        assert for_programs.predictions_of(seat, start, 5).items == []


def test_large_page_is_cut_short(world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        world.answer(seat)
    whole = for_programs.log_since(seat, 0, 1_000)
    monkeypatch.setattr(for_programs, "ENOUGH", 1)
    monkeypatch.setattr(for_programs, "MOST_SHARES", 1)
    assert [one["row"] for one in for_programs.rows_of(seat, 2, 5).items] == [2]
    assert [one["row"] for one in for_programs.predictions_of(seat, 2, 5).items] == [2]
    assert for_programs.log_since(seat, 1, 5) == for_programs.Part(whole.items[1:2], whole.total)
    with seat.learner() as opened:
        monkeypatch.setattr(for_programs, "MOST_SHARES", 2 * len(opened.learner.classes))
    assert [one["row"] for one in for_programs.predictions_of(seat, 2, 5).items] == [2, 3]


def test_rows_for_programs_hide_labels_and_truth(world: KindWorld, seat: Seat) -> None:
    roles = world.table().roles
    hidden = {roles.candidates, roles.truth, *roles.label_columns} - {None}
    for one in for_programs.rows_of(seat, 0, 5).items:
        assert not hidden & {*one["features"], *one["caption"]}


def test_file_for_programs_is_temporary(world: KindWorld, seat: Seat) -> None:
    world.answer(seat)
    seat.settle()  # no model comes between the two files
    for name, ending in (("csv", ".csv"), ("log", "-log.csv")):
        written = for_programs.file_of(seat, files.ExportChoice(name))
        assert written.file_name.endswith(ending)
        with written.content as content:
            given = content.read()
        assert (given, len(given)) == (file_of(seat, name), written.size)
    assert list(seat.home.exports_dir.iterdir()) == []


def test_unwritable_file_for_programs_is_reported(
    world: KindWorld, seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(for_programs.tempfile, "TemporaryFile", full)
    with pytest.raises(NotSaved, match="make room"):
        for_programs.file_of(seat, files.ExportChoice())
