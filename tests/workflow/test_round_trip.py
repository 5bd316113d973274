"""Exports of many formats can be imported again."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from plcore import ActiveLearner, LabelTable, LearnerSettings, Roles, read_cells
from plcore.tables.readers.tools.detections import NOTHING
from tests.plcore.tables.media.sound.recordings import calls, noise, written
from tests.plcore.tables.readers.tools.detector_tables import BIRDNET
from tests.plcore.tables.zips import make_zip
from tests.present import present
from tests.workflow.four import ask, four_class_project
from tests.workflow.log.written import read_log
from tests.workflow.world import answer_next, file_of, opened
from workflow import importing
from workflow.answering import loop, room, undoing
from workflow.exporting import files
from workflow.exporting import files as exporting
from workflow.importing import more_rows
from workflow.log.reading import learner_entry
from workflow.projects import classes, managing
from workflow.seat import Seat
from workflow.server.home import Home

# Each kind of answer, undo and redo: through the log, the export and back in, the candidates are the same


def test_every_kind_of_answer_survives_export_and_import(home: Home, owner: int) -> None:
    project = four_class_project(home, owner)
    told: dict[str, int] = {}

    def say(kind: str, *labels: str) -> int:
        question = ask(home, owner, project)
        saved = loop.submit_answer(Seat(home, owner, project), question.token, kind, labels)
        told[" ".join((kind, *labels))] = question.view.row
        return saved.seq

    say("is", "bee")
    say("among", "ant", "cat")
    say("none")
    say("none", "dog")
    say("bad")
    say("unsure")
    say("skip")
    taken_back, given_again = say("is", "ant"), say("is", "cat")
    undoing.undo(Seat(home, owner, project), given_again)
    undoing.redo(Seat(home, owner, project), given_again)
    undoing.undo(Seat(home, owner, project), taken_back)
    question = ask(home, owner, project)
    loop.submit_answer(Seat(home, owner, project), question.token, "not", ["bee"], shown=question.shown)
    assert question.view.row == told["is ant"], "undo puts the row before the person again"
    wanted = {
        "is bee": "bee",
        "among ant cat": "ant cat",
        "none": "dog",
        "none dog": "dog",
        "bad": "",
        "unsure": "ant bee cat",
        "skip": "ant bee cat",
        "is ant": "ant cat",  # withdrawn, and then "not bee"
        "is cat": "cat",
    }
    with opened(home, owner, project) as learner:
        standing, original, settings = learner.candidates, learner.table, learner.settings
        classes = np.array(learner.classes)
        assert {said: " ".join(classes[standing[row]]) for said, row in told.items()} == wanted
    # A new learner built from only the exported log has the same state.
    again = ActiveLearner(original, settings)
    for line in read_log(file_of(Seat(home, owner, project), "log"), project):
        again.apply(learner_entry(line.entry))
    assert np.array_equal(again.candidates, standing)
    # The table too, without the row that is out, which has no candidates to import.
    cells = read_cells(file_of(Seat(home, owner, project)))
    out = (cells.winnow_source == "bad").to_numpy()
    assert np.flatnonzero(out).tolist() == [told["bad"]]
    assert cells.winnow_candidates.iloc[told["bad"]] == cells.winnow_label.iloc[told["bad"]] == ""
    now = LabelTable.from_cells(
        cells[~out].reset_index(drop=True), Roles(candidates="winnow_candidates", id="id", numbers=("x", "y"))
    )
    left = standing.copy()
    left[told["none"]] = True  # no one named the only class left: every class is possible again
    assert np.array_equal(now.candidates, left[~out][:, [list(classes).index(name) for name in now.classes]])


# Exports of an imported file keep the types of its columns


TYPED = Path(__file__).parents[1] / "plcore" / "tables" / "cases" / "typed.parquet"


def typed_exports_written(seat: Seat, path: Path, **choice: object) -> Path:
    files.write_file(
        files.take(seat, files.ExportChoice(**choice)),  # type: ignore[arg-type]
        path,
        lambda _: None,
    )
    return path


def test_parquet_keeps_column_types(home: Home, owner: int, tmp_path: Path) -> None:
    seat = Seat(home, owner)
    _, table = importing.read_as_named(TYPED, {"candidates": "candidates", "id": "id", "numbers": ("score",)})
    here = seat.at(managing.create_project(seat, "typed", table))
    source = pq.read_schema(TYPED)
    found = pq.read_schema(typed_exports_written(here, tmp_path / "out.parquet", file="parquet"))
    for field in source:
        names = [name for name in (f"before_{field.name}", field.name) if name in found.names]
        assert found.field(names[0]).type == field.type, field.name
    features = json.loads(found.metadata[b"huggingface"])["info"]["features"]
    assert {name: features[name]["dtype"] for name in ("id", "score", "count", "ok")} == {
        "id": "int64",
        "score": "float64",
        "count": "int32",
        "ok": "bool",
    }
    with zipfile.ZipFile(typed_exports_written(here, tmp_path / "set.zip", file="dataset")) as archive:
        name = "metadata.json"
        fields = json.loads(archive.read(name))["recordSet"][0]["field"]
    types = {one["source"]["extract"]["column"]: one["dataType"] for one in fields}
    assert (types["id"], types["score"], types["ok"], types["when"]) == (
        "sc:Integer",
        "sc:Float",
        "sc:Boolean",
        "sc:DateTime",
    )


# A bird owner's round: a table of detections and its recordings in, answers, the same table back with
# verdicts


TIT, BLACKBIRD = "Parus major – Great tit, Kohlmeise", "Eurasian Blackbird"
RECORDINGS = [written(sound).getvalue() for sound in (calls(42.0, 8000), noise(42.0))]


def table(start: int, stop: int) -> bytes:
    """Two detections in each of some segments, as BirdNET writes them now: quoted if needed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["Start (s)", "End (s)", "Scientific name", "Common name", "Confidence", "File"])
    for place in range(start, stop):
        path = f"C:\\rec\\Zürich, früh {place % 2}.wav"
        seconds = [f"{3 * place:.1f}", f"{3 * place + 3:.1f}"]
        writer.writerow([*seconds, "Parus major", TIT, f"0.{20 + 3 * place}", path])
        writer.writerow([*seconds, "Turdus merula", BLACKBIRD, "0.3125", path])
    return out.getvalue().encode()


def packed(start: int, stop: int) -> bytes:
    names = ("clips/zürich, früh 0.wav", "Zu\u0308rich, fru\u0308h 1.WAV")
    files = dict(zip(names, RECORDINGS, strict=True))
    return make_zip({"BirdNET.results.csv": table(start, stop), **files})


@pytest.fixture
def birds(home: Home, owner: int) -> Seat:
    upload = importing.read_upload(packed(0, 12), "birds.zip")
    assert not upload.needs_rows
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None, checked.problems
    settings = LearnerSettings(n_neighbors=3, control_share=0)
    seat = Seat(home, owner)
    return seat.at(importing.create(seat, "birds", checked.table, settings, upload=upload))


def verdicts(seat: Seat, name: str = "detections") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(file_of(seat, name).decode(), newline="")))


def test_detections_table_is_exported_with_answers(home: Home, owner: int, birds: Seat) -> None:
    before = read_cells(table(0, 12)).to_dict("records")
    untouched = verdicts(birds)
    assert [{name: one[name] for name in before[0]} for one in untouched] == before
    assert {one["verified"] for one in untouched} == {""}, "a guess of the model is not a verdict"
    said: dict[str, str] = {}
    for choice in (0, 1, 2):
        question = present(loop.next_question(birds))
        assert NOTHING in question.choices
        said[question.view.row_id] = question.choices[choice]
        answer_next(home, owner, birds.project_id, choice)
    for one in verdicts(birds):
        place = int(float(one["Start (s)"]))
        label = said.get(f"{one['File'].rpartition(chr(92))[2]} {place}-{place + 3} s")
        wanted = "" if label is None else "true" if label == one["Common name"] else "false"
        assert (one["verified"], one["verified_label"]) == (wanted, label or "")
        assert bool(one["verified_by"]) == bool(one["verified_at"]) == bool(wanted)


def test_renamed_class_keeps_codes_of_file(birds: Seat) -> None:
    question = present(loop.next_question(birds))
    loop.submit_answer(birds, question.token, "is", [TIT])
    classes.change_classes(birds, 0, "rename", [TIT, "Kohlmeise"])
    (right,) = (one for one in verdicts(birds) if one["verified"] == "true")
    assert (right["Common name"], right["verified_label"]) == (TIT, "Kohlmeise")
    assert "Kohlmeise" in file_of(birds, "camtrap-dp").decode()
    assert "Parus major" in file_of(birds, "darwin-core").decode()
    assert file_of(birds, "ebird").decode().startswith("Kohlmeise,Parus,major,X,")


def test_detector_formats_are_offered_for_their_tables_only(home: Home, owner: int, birds: Seat, project: int) -> None:
    own = exporting.export_view(birds, 2).files
    assert {"detections", "camtrap-dp", "darwin-core", "ebird"} <= set(own)
    assert "raven" not in own
    assert "detections" not in exporting.export_view(Seat(home, owner, project), 2).files
    with pytest.raises(ValueError, match="A file is one of"):
        exporting.take(Seat(home, owner, project), exporting.ExportChoice("detections"))
    assert exporting.file_for(birds, "birds.verified.csv") == "detections"


def test_added_detections_are_in_exported_table(birds: Seat) -> None:
    upload = importing.read_upload(packed(11, 14), "more.zip")
    addition = more_rows.read_rows(birds, upload)
    assert addition.grown.n_new == 2, "one stretch is there already"
    more_rows.add_rows(birds, addition)
    back = verdicts(birds)
    assert [one["Start (s)"] for one in back[-4:]] == ["36.0", "36.0", "39.0", "39.0"]
    assert len(back) == 28


def test_recordings_with_same_name_of_different_stations_differ(home: Home, owner: int) -> None:
    """Recorders name their files by the time; each station's table arrives when its card is read."""
    head, row = BIRDNET.splitlines()[0], "0.0,3.0,Parus major,Great tit,0.{},/{}/0600.wav"
    tables = ["\n".join([head.decode(), *(row.format(9, one) for one in few)]) for few in ("a", "b", "abc")]
    first, *more = (importing.read_upload(one.encode(), "birds.csv") for one in tables)
    checked = importing.check(first, first.suggest_roles())
    assert checked.table is not None
    seat = Seat(home, owner)
    made = seat.at(importing.create(seat, "stations", checked.table, LearnerSettings(n_neighbors=1), upload=first))
    known = []
    for upload in more:
        addition = more_rows.read_rows(made, upload)
        known.append(addition.grown.known)
        more_rows.add_rows(made, addition)
    assert known == [(), ("0600.wav 0-3 s", "/b/0600.wav 0-3 s")]
    assert [one["File"][1] for one in verdicts(made)] == ["a", "b", "c"]


def test_species_of_one_genus_form_a_group(home: Home, owner: int) -> None:
    data = BIRDNET.replace(b"Periparus ater", b"Parus ater").replace(", früh".encode(), b"")
    upload = importing.read_upload(data, "birds.csv")
    checked = importing.check(upload, upload.suggest_roles())
    assert checked.table is not None
    seat = Seat(home, owner)
    made = seat.at(importing.create(seat, "genera", checked.table, LearnerSettings(n_neighbors=1), upload=upload))
    assert room.groups_of(made) == {"Parus": ("Coal tit", "Great tit")}
