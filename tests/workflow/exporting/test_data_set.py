"""A data set of every kind of project, as it is written for whoever gives the labels away."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from tests.hugging_face import datasets
from tests.workflow.exporting.cards import facts_of
from tests.workflow.kind_worlds import KindWorld
from workflow.access import NotAllowed, Right
from workflow.exporting import files as exporting
from workflow.exporting.card_facts import without_names
from workflow.exporting.card_text import CardDetails
from workflow.exporting.data_set import CARD, DATA, LOG, METADATA, TOOL
from workflow.exporting.project_files import ExportChoice
from workflow.exporting.snapshot import ANSWERED
from workflow.log.verifying import verify_file
from workflow.seat import Seat

__all__ = ["datasets"]


def files_in(seat: Seat, rows: str = "all", **details: Any) -> dict[str, bytes]:
    """What the zip holds."""
    choice, file = ExportChoice("dataset", rows, details=CardDetails(**details)), io.BytesIO()
    exporting.take(seat, choice).write(file, lambda _done: None)
    with zipfile.ZipFile(file) as packed:
        assert packed.namelist() == [CARD, METADATA, DATA, LOG]
        return {name: packed.read(name) for name in packed.namelist()}


def hashes(files: dict[str, bytes]) -> dict[str, str]:
    return {name: hashlib.sha256(files[name]).hexdigest() for name in (DATA, LOG)}


def test_a_card_of_every_kind(world: KindWorld, seat: Seat, ada: Seat) -> None:
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
    assert f"- Answers that stand: {found.answers}\n" in text
    assert "- Rows set aside as bad items: 1\n" in text
    assert f"- Head of the log, {found.entries} entries: {found.head}\n" in text
    for name, digest in hashes(files).items():
        assert f"- SHA-256 of {name}: {digest}\n" in text
    assert f"- Tool: {TOOL}\n" in text
    assert "| Annotator 1 |" in text
    assert "| Ada |" in files_in(seat, named=True)[CARD].decode()
    for name, count in found.sources.items():
        assert f"| {name} | {count} |" in text


def test_nobody_is_named_unless_it_is_wanted(world: KindWorld, seat: Seat, ada: Seat) -> None:
    world.answer(ada)
    for named in (False, True):
        files = files_in(seat, named=named)
        known = pq.read_table(io.BytesIO(files[DATA])).to_pylist() if world.kind == "one_label" else []
        given = {one["annotator"] for row in known for one in row["winnow_answers"]}
        assert given in (set(), {"Ada" if named else "Annotator 1"})
        said = files[CARD] + files[METADATA] + files[LOG]
        assert (b"Ada" in said) == named
        assert (b"Annotator 1" in said) != named
        head = json.loads(files[LOG].splitlines()[-1])["sha256"]
        assert f": {head}\n" in files[CARD].decode()


def test_metadata_of_every_kind(world: KindWorld, seat: Seat, ada: Seat) -> None:
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


def test_the_log_in_it_holds_and_its_rows_are_those_chosen(
    world: KindWorld, seat: Seat, ada: Seat, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for _ in range(2):
        world.answer(ada)
    files = files_in(seat, ANSWERED)
    path = tmp_path_factory.mktemp("set") / LOG
    path.write_bytes(files[LOG])
    assert verify_file(path).entries == len(files[LOG].splitlines()) - 2
    taken = exporting.take(seat, ExportChoice("dataset", ANSWERED))
    assert pq.read_metadata(io.BytesIO(files[DATA])).num_rows == taken.total
    assert not list(seat.home.exports_dir.iterdir()), "what was packed is gone"


def test_a_data_set_before_the_first_answer_says_so(seat: Seat) -> None:
    files = files_in(seat)
    text = files[CARD].decode()
    assert "- Answers that stand: 0\n" in text
    assert "- When: not given\n" in text
    assert json.loads(files[METADATA]).get("rai:annotationsPerItem") is None


def test_the_same_state_gives_the_same_card_and_data(seat: Seat) -> None:
    seat.settle()  # the first fit would come in between
    one, two = files_in(seat), files_in(seat)
    assert one[DATA] == two[DATA]
    without = [
        text.replace(hashes(files)[LOG], "") for files in (one, two) for text in [files[CARD].decode()]
    ]
    assert without[0] == without[1]


def test_only_owners_give_labels_away(ada: Seat) -> None:
    with pytest.raises(NotAllowed):
        files_in(ada)


def test_a_writing_that_is_stopped_leaves_nothing(seat: Seat) -> None:
    class StopError(Exception):
        pass

    def tell(_done: int) -> None:
        raise StopError

    with pytest.raises(StopError):
        exporting.take(seat, ExportChoice("dataset")).write(io.BytesIO(), tell)
    assert not list(seat.home.exports_dir.iterdir())


def test_hugging_face_reads_the_folder_by_its_card(
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
