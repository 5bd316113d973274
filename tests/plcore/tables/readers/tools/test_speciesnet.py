"""Predictions of SpeciesNet: five classes in a taxonomy, pictures by their paths, the records stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import LabelTable, TableError
from plcore.tables import read_table, shaped
from plcore.tables.readers.tools.speciesnet import BLANK, SPECIESNET, Taxon
from tests.plcore.tables.readers.cases import CASES
from tests.plcore.tables.readers.tools.detector_tables import originals
from tests.plcore.tables.writers.tables import HOSTILE, broken_at, candidates, noted, opens, read_or_refuse
from tests.plcore.tables.zips import make_zip, picture

CAT = "1;mammalia;carnivora;felidae;felis;catus;domestic cat"
WOLF = "2;mammalia;carnivora;canidae;canis;lupus;grey wolf"
COYOTE = "3;mammalia;carnivora;canidae;canis;latrans;coyote"
DOGS = "4;mammalia;carnivora;canidae;canis;;canis species"
NONE = "5;;;;;;blank"
UNKNOWN = ";".join(["6", *["no cv result"] * 6])


def said(path: str, scores: dict[str, float], **more: Any) -> dict[str, Any]:
    classes = {"classes": list(scores), "scores": list(scores.values())}
    return {"filepath": path, "classifications": classes, **more}


RECORDS = [
    said(
        "C:\\cams\\site1\\IMG 1.JPG",
        {WOLF: 0.5, COYOTE: 0.25, CAT: 0.125, NONE: 0.0625},
        country="USA",
        latitude=47.5,
        detections=[{"category": "1", "label": "animal", "conf": 0.9, "bbox": [0.1, 0.2, 0.3, 0.4]}],
        prediction=DOGS,
        prediction_score=0.75,
        prediction_source="classifier+rollup_to_genus",
        model_version="4.0.1a",
    ),
    said("C:\\cams\\site2\\IMG 1.JPG", {CAT: 0.75}),
    {"filepath": "z.jpg", "failures": ["CLASSIFIER"]},
    {"filepath": "y.jpg", "prediction": "7;;;;;;human", "prediction_score": 0.875},
]
FIELDS = [
    *(("classifications",), ("classifications", "classes"), ("classifications", "scores"), ("prediction",)),
    *(("prediction_score",), ("detections",), ("filepath",), ("latitude",)),
]
FILE = json.dumps({"predictions": RECORDS}).encode()


def test_picture_has_its_classes_as_candidates() -> None:
    assert SPECIESNET.fits([{"predictions": RECORDS}])
    reading = read_table(FILE, "predictions.json")
    assert reading.format == "SpeciesNet predictions"
    assert candidates(reading) == [
        {"grey wolf": 0.5, "coyote": 0.25, "domestic cat": 0.125, BLANK: 0.0625},
        {"domestic cat": 0.75, BLANK: 0.25},
        ["blank", "coyote", "domestic cat", "grey wolf", "human"],
        {"human": 0.875, BLANK: 0.125},
    ]
    assert json.loads(reading.cells["detections"][0])[0]["bbox"] == [0.1, 0.2, 0.3, 0.4]
    assert reading.cells["latitude"].tolist() == ["47.5", "", "", ""]
    assert noted(reading, "No pictures came")
    assert opens(reading).ids.tolist() == [one["filepath"] for one in RECORDS]


def test_rank_is_group_of_species_below_it() -> None:
    """Ranks with the same classes are one group, named by the most specific rank."""
    reading = read_table(FILE)
    assert reading.groups == {"carnivora": ("coyote", "domestic cat", "grey wolf"), "canis": ("coyote", "grey wolf")}


def test_prediction_animal_represents_every_animal_but_people() -> None:
    """The detector was more confident than the classifier: an annotator who finds any animal confirms it."""
    human = "7;mammalia;primates;hominidae;homo;sapiens;human"
    found = said("a.jpg", {WOLF: 0.4, human: 0.2, NONE: 0.1}, prediction="8;;;;;;animal", prediction_score=0.9)
    reading = read_table(json.dumps({"predictions": [found, said("b.jpg", {CAT: 0.5})]}).encode())
    assert set(candidates(reading)[0]) == {"grey wolf", "human", BLANK}
    assert originals(reading)[0][0]["labels"] == ["grey wolf", "domestic cat"]


def test_prediction_of_rank_represents_species_below_it() -> None:
    kept = originals(read_table(FILE))
    assert sorted(kept[0][0]["labels"]) == ["coyote", "grey wolf"]
    assert kept[1][0]["labels"] == ["domestic cat"]
    assert kept[2][0]["labels"] == []
    assert kept[3][0]["labels"] == ["human"]
    assert [cell[0]["cells"] for cell in kept] == RECORDS
    assert [cell[0]["row"] for cell in kept] == [1, 2, 3, 4]


def test_prediction_that_no_class_is_below_is_class() -> None:
    reading = SPECIESNET.read([said("a", {CAT: 0.5}, prediction=DOGS, prediction_score=0.25)])
    assert candidates(reading) == [{"domestic cat": 0.5, "canis species": 0.25, BLANK: 0.5}]
    assert set(reading.groups["carnivora"]) == {"domestic cat", "canis species"}


def test_nothing_known_is_not_class() -> None:
    reading = SPECIESNET.read([said("a", {CAT: 0.5}, prediction=UNKNOWN, prediction_score=0.5), RECORDS[1]])
    assert candidates(reading)[0] == {"domestic cat": 0.5, BLANK: 0.5}
    assert originals(reading)[0][0]["labels"] == []


def test_one_common_name_of_two_species_is_two_classes() -> None:
    fox = "8;mammalia;carnivora;canidae;vulpes;{};fox"
    reading = SPECIESNET.read([said("a", {fox.format("vulpes"): 0.5, fox.format("corsac"): 0.25})])
    assert list(candidates(reading)[0])[:2] == ["fox (Vulpes vulpes)", "fox (Vulpes corsac)"]
    assert Taxon(("aves", "", "", ""), "", "bird").scientific == "Aves"
    assert Taxon(("", "", "", ""), "", "blank").scientific == ""


def test_pictures_in_zip_are_found_though_their_base_names_are_the_same() -> None:
    pictures = {
        "site1/img 1.jpg": picture(1, "JPEG"),
        "site2/IMG 1.JPG": picture(2, "JPEG"),
        "y.jpg": picture(3, "JPEG"),
        "z.jpg": picture(4, "JPEG"),
    }
    reading = read_table(make_zip({"predictions.json": FILE, **pictures}))
    roles = reading.suggest_roles()
    assert roles.caption == ("scientific_names",)
    assert (roles.image, roles.image_features, roles.numbers, roles.id) == ("filepath", True, (), "item")
    assert not noted(reading, "No pictures")
    table = LabelTable.from_cells(reading.cells, roles, reading.files)
    assert table.media.images is not None
    assert len(set(table.media.images)) == 4


NAMED = "filepath,prediction,prediction_score,top2,top2_score\na.jpg,fox,0.9,hare,0.05\nb.jpg,blank,0.8,fox,\n"
LISTED = (
    "filepath,prediction,prediction_score,classifications.classes,classifications.scores\n"
    "a.jpg,;;;;;;fox,0.9,\"[';;;;;;fox', ';;;;;;hare']\",\"[0.9, 0.05]\"\nb.jpg,;;;;;;blank,0.8,,\n"
)


@pytest.mark.parametrize("text", [NAMED, LISTED])
def test_flat_table_has_classes_of_json(text: str) -> None:
    reading = shaped(read_table(text.encode(), "a.csv"))
    assert reading.format == "SpeciesNet table"
    assert candidates(reading) == [{"fox": 0.9, "hare": 0.05, "blank": pytest.approx(0.1)}, {"blank": 0.8}]


def test_flat_table_reads_taxonomy() -> None:
    reading = shaped(read_table(CASES / "speciesnet_table.csv"))
    assert candidates(reading)[0] == {"red fox": 0.9, "european badger": 0.05, "blank": 0.01}
    assert reading.groups == {"carnivora": ("european badger", "red fox")}


def test_table_of_another_classifier_is_not_speciesnet_table() -> None:
    reading = shaped(read_table(NAMED.replace("filepath", "image").encode(), "a.csv"))
    assert reading.format == "CSV"
    assert reading.suggest_roles().choices == ("prediction", "top2")


@pytest.mark.parametrize(
    "records", [[], [{}], [{"filepath": "a"}], [{"filepath": 1, "prediction": CAT}], [{"predictions": 1}], [3]]
)
def test_other_records_do_not_fit(records: list[Any]) -> None:
    assert not SPECIESNET.fits(records)


@pytest.mark.parametrize(
    ("path", "value", "said_of_it"),
    [
        (("classifications", "scores"), [1], "a score for each class (4)"),
        (("classifications", "scores", 1), "x", "a score"),
        (("classifications", "classes", 1), "wolf", "id;class;order"),
        (("classifications",), 3, "an object"),
        (("prediction",), "a;b", "id;class;order"),
        (("filepath",), "", "a path"),
    ],
)
def test_odd_records_are_refused_with_row_place_and_fix(path: tuple[Any, ...], value: Any, said_of_it: str) -> None:
    with pytest.raises(TableError) as caught:
        SPECIESNET.read([{"predictions": [RECORDS[1], broken_at(RECORDS[0], path, value)]}])
    assert said_of_it in str(caught.value)
    assert "Row 2" in str(caught.value)
    assert all(problem.fix for problem in caught.value.problems)


@given(st.sampled_from(FIELDS), HOSTILE)
def test_wrong_types_are_refused_with_message(path: tuple[Any, ...], value: Any) -> None:
    records = [{"predictions": [broken_at(RECORDS[0], path, value), RECORDS[1]]}]
    if SPECIESNET.fits(records):
        read_or_refuse(SPECIESNET.read, records)
