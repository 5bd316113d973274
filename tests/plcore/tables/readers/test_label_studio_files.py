"""Exports of Label Studio: JSON with ids of predictions, JSON-MIN, CSV, taxonomies."""

from __future__ import annotations

import pytest

from plcore import TableError, read_cells
from plcore.tables.readers.tools.label_studio import LABEL_STUDIO_CSV
from tests.plcore.tables.readers.cases import candidates, read_case, says, table_of, voters, weights


def test_json_with_prediction_ids_reads_votes_and_counts_ids() -> None:
    reading = read_case("label_studio_prediction_ids.json")
    both = {"Neg", "Pos"}
    assert candidates(reading) == [both if row in (0, 3, 6) else {"Pos"} for row in range(8)]
    assert voters(reading)[0] == {"Pos": ["3"], "Neg": ["4"]}
    assert says(reading, "8 predictions are in the export by id only")


def test_json_of_1_23_2_reads_annotations() -> None:
    reading = read_case("label_studio_1.23.2.json")
    assert candidates(reading)[:2] == [{"ship"}, {"crash", "ship"}]
    assert says(reading, "7 predictions are in the export by id only")
    assert "truth 2" not in reading.suggest_roles().categories, "data called truth would give the label away"


def test_json_min_reads_a_vote_for_each_annotation() -> None:
    reading = read_case("label_studio_min.json")
    assert reading.format == "Label Studio JSON-MIN"
    assert candidates(reading) == [{"Neg", "Pos"}, {"Neu", "Pos"}, {"Neu"}]
    assert voters(reading)[0] == {"Pos": ["1"], "Neg": ["2"]}
    assert reading.suggest_roles().text == "text"


def test_json_min_task_without_annotation_is_open() -> None:
    assert candidates(read_case("ls_min.json")) == [{"pos", "neg"}, {"pos", "neg"}]


def test_csv_labels_are_those_of_the_question() -> None:
    reading = read_case("label_studio.csv")
    assert table_of(reading).classes == ("Neg", "Pos")
    roles = reading.suggest_roles()
    assert (roles.id, roles.text, roles.numbers, roles.categories) == ("task_id", "text", (), ())
    assert voters(reading)[:2] == [{"Neg": ["3"]}, {"Pos": ["4"]}]


def test_csv_of_1_23_2_reads_votes_by_annotator() -> None:
    reading = read_case("label_studio_1.23.2.csv")
    assert reading.cells["task_id"].tolist() == ["m000", "m001"]
    assert weights(reading) == [{"ship": 1}, {"ship": 1}]
    assert voters(reading) == [{"ship": ["1"]}, {"ship": ["1"]}]
    assert reading.cells["lead_time"].tolist() == ["0.010582", "0.010582"]


def test_csv_with_two_annotations_of_a_task_is_one_row() -> None:
    reading = read_case("ls_export.csv")
    assert reading.cells["task_id"].tolist() == ["1"]
    assert voters(reading) == [{"pos": ["1", "2"], "neg": ["2"]}]


def test_csv_without_choices_is_refused() -> None:
    cells = read_cells(
        b"annotation_id,annotator,created_at,id,lead_time,updated_at,n\n1,1,,1,2,,4\n2,1,,2,2,,5\n"
    )
    with pytest.raises(TableError, match="Export the project as JSON"):
        LABEL_STUDIO_CSV.read(cells)


def test_genus_with_one_known_species_is_not_certain() -> None:
    reading = read_case("label_studio_genus.json")
    assert candidates(reading)[0] == {"Turdus", "merula"}
    assert candidates(reading)[3] == {"Turdus", "merula", "major", "ater"}
    assert reading.groups == {"Parus": ("major", "ater")}
