"""Files of camera traps: MegaDetector's JSON and Timelapse's table, read and written back."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plcore import LabelTable, TableError, read_cells
from plcore.tables import (
    NATURE_FORMATS,
    Box,
    boxes_of,
    describe,
    find_doubts,
    read_stored,
    read_table,
    serving_columns,
    shaped,
    store_reading,
)
from plcore.tables.media.file_tree import MediaError
from plcore.tables.readers.tools.camera_traps import TIMELAPSE, label_columns, write_timelapse
from plcore.tables.writers.nature import write_megadetector
from tests.plcore.tables.readers.cases import CASES, candidates, decided, read_case, says, table_of, voters, weights
from tests.plcore.tables.writers.tables import written
from tests.plcore.tables.zips import make_zip, picture

FIXED = "RootFolder,File,RelativePath,DateTime,DeleteFlag"


def test_megadetector_candidates_are_classes_with_scores() -> None:
    reading = read_case("megadetector_classified.json")
    first = {
        "red deer": 0.3958, "european hare": 0.3163, "red fox": 0.232, "blank": 0.0244, "wild boar": 0.024,
    }  # fmt: skip
    assert (len(reading.cells), weights(reading)[0]) == (60, first)
    assert weights(reading)[18] == {"blank": 1}, "no detection"
    assert reading.cells["item"][0] == "CAM01/100RECNX/IMG_0001.JPG"
    assert json.loads(reading.cells["boxes"][0]) == [{"category": "animal", "conf": 0.81, "bbox": [0.3, 0.5, 0.2, 0.2]}]
    assert table_of(reading).classes[0] == "blank"


def test_megadetector_failures_are_left_out_and_counted() -> None:
    reading = read_case("md16.json")
    assert reading.cells["item"].tolist() == ["A/1.jpg", "A/2.jpg", "A/4.mp4"]
    assert weights(reading) == [{"red fox": 0.7, "badger": 0.2}, {"blank": 1}, {"person": 0.8}]
    assert says(reading, "1 file could not be read by MegaDetector and is left out: Failure image access")


def test_megadetector_of_pytorch_wildlife_counts_ids_from_zero() -> None:
    assert weights(read_case("pw_timelapse.json")) == [{"animal": 0.9}, {"blank": 1}]


def test_pytorch_wildlife_lists_have_one_row_per_image() -> None:
    assert weights(read_case("pw_list.json")) == [{"animal": 0.9}, {"blank": 1}, {"person": 0.8}]
    classified = read_case("pw_list_classified.json")
    assert weights(classified) == [{"Capybara": 0.7, "Agouti": 0.6}, {"blank": 1}]
    assert says(classified, "Several detections are in 1 of 2 files")
    assert not NATURE_FORMATS["megadetector"].fits(classified.cells), "it would be no file of Pytorch-Wildlife"
    whole = {"annotations": [{"img_id": "a", "bbox": [], "category": [0], "confidence": []}], "categories": {}}
    with pytest.raises(TableError, match=r"a value for each detection \(1\), got 0"):
        read_table(json.dumps(whole).encode())


def test_addaxai_verified_files_have_true_labels() -> None:
    reading = read_case("addaxai_detections.csv")
    assert weights(reading) == [{"fox": 1}, {"animal": 0.8, "fox": 0.6}]
    assert reading.cells["truth"].tolist() == ["fox", ""]
    line = "a.jpg,img,{},1.0,True\n"
    two = "relative_path,data_type,label,confidence,human_verified\n" + line.format("fox") + line.format("hare")
    assert says(shaped(read_table(two.encode(), "a.csv")), "with several classes: 1: no single true label")


def md(*images: dict[str, Any], **fields: Any) -> bytes:
    whole = {"info": {"format_version": "1.4"}, "detection_categories": {"1": "animal", "2": "fox"}}
    return json.dumps(whole | fields | {"images": list(images)}).encode()


def test_megadetector_checked_image_has_a_true_label() -> None:
    box = {"category": "2", "conf": 1.0, "bbox": [0, 0, 1, 1]}
    other = {"category": "1", "conf": 0.5, "bbox": [0, 0, 1, 1]}
    reading = read_table(
        md({"file": "a", "manually_checked": True, "detections": [box]}, {"file": "b", "detections": [other]})
    )
    assert reading.cells["truth"].tolist() == ["fox", ""]


def test_megadetector_several_checked_classes_give_no_single_truth() -> None:
    boxes = [{"category": number, "conf": 1.0, "bbox": [0, 0, 1, 1]} for number in "12"]
    species = {"1": "hare", "2": "fox"}
    reading = read_table(md({"file": "a", "manually_checked": True, "detections": boxes}, detection_categories=species))
    assert says(reading, "Files that a person checked in which there are several classes, so no single true label: 1.")


def test_columns_kept_for_export_are_not_shown() -> None:
    reading = read_case("md16.json")
    assert serving_columns(reading.cells) == {"boxes", "megadetector_file", "original_rows"}
    assert serving_columns(read_cells(b"boxes,w\n1,2\n")) == set(), "a column of the file itself"
    table = table_of(reading)
    said = [describe(table, "f").ignored, *map(str, find_doubts(table))]
    assert not [one for one in said if "boxes" in one or "megadetector_file" in one or "original_rows" in one]


@pytest.mark.parametrize("column", ["megadetector_file", "original_rows"])
def test_megadetector_changed_cells_are_named(column: str) -> None:
    reading = read_case("md16.json")
    text = "{" if column == "megadetector_file" else reading.cells[column][0].replace('\\"file', "")
    reading.cells[column] = [text, *reading.cells[column][1:]]
    with pytest.raises(TableError, match=f"'{column}'.*expected a part of MegaDetector's file as JSON"):
        written(write_megadetector, decided(reading, {}))


def test_megadetector_unprocessed_image_is_open() -> None:
    box = {"category": "2", "conf": 0.4, "bbox": [0, 0, 1, 1]}
    reading = read_table(md({"file": "a", "detections": [box]}, {"file": "b", "detections": None}))
    assert candidates(reading) == [{"fox"}, {"blank", "fox"}]


@pytest.mark.parametrize(
    ("detection", "message"),
    [
        ({"category": "1", "conf": "x", "bbox": [0, 0, 1, 1]}, "expected a confidence"),
        ({"category": "1", "conf": 0.5, "bbox": [0]}, "expected x, y, width and height"),
        (
            {"category": "1", "conf": 0.5, "bbox": [0, 0, 1, 1], "classifications": [["9", 0.5]]},
            "the class '9' is not in classification_categories",
        ),
    ],
)
def test_megadetector_broken_detection_is_refused(detection: dict[str, Any], message: str) -> None:
    with pytest.raises(TableError, match=message):
        read_table(md({"file": "a", "detections": [detection]}))


def test_megadetector_descriptions_become_groups() -> None:
    classes = {"0": "red fox", "1": "arctic fox"}
    above = "mammalia;carnivora;canidae;vulpes"
    latin = {"0": f"{above};vulpes;red fox", "1": f"{above};lagopus;arctic fox"}
    box = {"category": "1", "conf": 0.9, "bbox": [0, 0, 1, 1], "classifications": [["0", 0.6], ["1", 0.3]]}
    reading = read_table(
        md(
            {"file": "a", "detections": [box]},
            classification_categories=classes,
            classification_category_descriptions=latin,
        )
    )
    assert reading.groups == {"vulpes": ("arctic fox", "red fox")}


def test_megadetector_json_is_returned_with_verdicts() -> None:
    before = json.loads((CASES / "md16.json").read_text())
    reading = read_case("md16.json")
    back = json.loads(written(write_megadetector, decided(reading, {0: "badger"})))
    assert {name: back[name] for name in before if name != "images"} == {
        name: before[name] for name in before if name != "images"
    }
    images = {one["file"]: one for one in back["images"]}
    assert [one["classifications"] for one in images["A/1.jpg"]["detections"]] == [[["7", 1.0]]] * 2
    assert (images["A/1.jpg"]["manually_checked"], images["A/1.jpg"]["human_verified_by"]) == (True, "Ann")
    for place in (1, 2, 3):
        assert images[before["images"][place]["file"]] == before["images"][place], "nothing was said of it"
    again = read_table(json.dumps(back).encode())
    assert again.cells["truth"].tolist() == ["badger", "", ""]


def test_megadetector_blank_verdict_empties_its_detections() -> None:
    reading = read_case("megadetector_classified.json")
    back = json.loads(written(write_megadetector, decided(reading, {0: "blank"})))
    assert back["images"][0]["detections"] == []
    assert len(back["images"]) == 60


def test_megadetector_tables_are_offered_only_their_own_format() -> None:
    cells = table_of(read_case("md16.json")).cells
    own = [name for name, one in NATURE_FORMATS.items() if one.fits(cells)]
    assert "megadetector" in own
    assert not {"detections", "speciesnet", "raven", "timelapse", "kaleidoscope"} & set(own)


def test_timelapse_columns_of_species_are_votes() -> None:
    reading = read_case("timelapse_two_species.csv")
    assert len(reading.cells) == 60
    assert voters(reading)[0] == {"red deer": ["Species"], "european hare": ["Species2"]}
    assert reading.cells["item"][0] == "CAM01/100RECNX/IMG_0001.JPG"
    assert table_of(reading).classes == (
        "blank", "european badger", "european hare", "red deer", "red fox", "roe deer", "wild boar",
    )  # fmt: skip
    roles = reading.suggest_roles()
    assert (roles.numbers, roles.categories, roles.id) == (("Count", "Temperature"), (), "item")


def test_timelapse_empty_species_is_open_and_deleted_pictures_are_left_out() -> None:
    reading = read_case("ImageData.csv")
    assert reading.cells["item"].tolist() == ["cam1/d1/IMG_1.JPG", "cam1/d1/IMG_2.JPG"]
    assert says(reading, "1 picture is marked for deletion (DeleteFlag) and left out")
    assert says(reading, "1 row has no label named")


def test_timelapse_without_species_is_refused() -> None:
    data = f"{FIXED},Count\nr,a.jpg,x,2024-05-01,false,1\n".encode()
    with pytest.raises(TableError, match="No column of 'Count' holds species"):
        shaped(read_table(data, "ImageData.csv"))


def test_timelapse_other_questions_are_not_species() -> None:
    data = f"{FIXED},Sex,Species\nr,a.jpg,x,2024-05-01,false,male,fox\nr,b.jpg,x,2024-05-01,false,,hare\n"
    assert label_columns(read_cells(data.encode())) == ["Species"]


def test_timelapse_columns_of_observers_are_voters() -> None:
    rows = "".join(
        f"r,{k}.jpg,x,2024-05-01,false,{['fox', 'hare', ''][k % 3]},{['fox', 'deer'][k % 2]},{['day', 'dusk'][k % 2]}\n"
        for k in range(8)
    )
    cells = read_cells(f"{FIXED},Ana,Ben,Light\n{rows}".encode())
    assert label_columns(cells) == ["Ana", "Ben"]
    assert voters(TIMELAPSE.read(cells))[1] == {"deer": ["Ben"], "hare": ["Ana"]}


@pytest.mark.parametrize("column", ["Observer", "Analyst", "identifiedBy", "Confidence"])
def test_timelapse_names_of_people_and_facts_are_not_species(column: str) -> None:
    rows = "".join(
        f"r,{k}.jpg,x,2024-05-01,false,{['Ana', 'Ben'][k % 2]},{['fox', 'hare'][k // 2 % 2]}\n" for k in range(8)
    )
    assert label_columns(read_cells(f"{FIXED},{column},Art\n{rows}".encode())) == ["Art"]


def test_timelapse_rows_of_several_observers_are_votes_on_one_picture() -> None:
    said = [("a", "Ana", "fox"), ("a", "Ben", "hare"), ("b", "Ana", "fox"), ("b", "Ben", "fox"), ("c", "Ana", "")]
    rows = "".join(f"r,{name}.jpg,x,2024-05-01,false,{who},{what}\n" for name, who, what in said)
    reading = TIMELAPSE.read(read_cells(f"{FIXED},Observer,Species\n{rows}".encode()))
    assert voters(reading) == [{"fox": ["Ana"], "hare": ["Ben"]}, {"fox": ["Ana", "Ben"]}, {}]
    assert weights(reading) == [{"fox": 1, "hare": 1}, {"fox": 2}, {"fox": None, "hare": None}]
    assert written(write_timelapse, decided(reading, {0: "hare"})).decode().splitlines()[1:] == [
        "a.jpg,x,hare",
        "b.jpg,x,fox",
    ]
    assert written(write_timelapse, decided(reading, {})).decode().splitlines()[1:] == ["b.jpg,x,fox"], "people differ"
    again = f"{FIXED},Observer,Species\n{rows}" + "".join(
        f"r,{name}.jpg,x,2024-05-01,false,Ana,{what}\n" for name, what in (("a", "deer"), ("d", "lynx"))
    )
    assert len(TIMELAPSE.read(read_cells(again.encode())).cells) == 7, "several animals that one person saw"


def test_timelapse_export_has_only_the_columns_of_its_template() -> None:
    reading = read_case("timelapse_two_species.csv")
    back = read_cells(written(write_timelapse, decided(reading, {0: "european hare"})))
    assert list(back.columns) == ["File", "RelativePath", "Species"]
    assert back.iloc[0].tolist() == ["IMG_0001.JPG", "CAM01\\100RECNX", "european hare"]
    assert back["Species"].iloc[1] == "european hare", "as it came: people said nothing of it"


def test_timelapse_pictures_are_found_by_folder() -> None:
    data = f"{FIXED},Species\nr,a.png,x\\y,2024-05-01,false,fox\nr,a.png,z,2024-05-01,false,hare\n".encode()
    found = shaped(read_table(make_zip({"ImageData.csv": data, "x/y/a.png": picture(1), "z/a.png": picture(2)})))
    assert found.suggest_roles().image == "filepath"
    assert not says(found, "No pictures came")
    assert found.files.archive.find("x/y/a.png") == "x/y/a.png"


def test_writers_report_progress() -> None:
    told: list[int] = []
    write_megadetector(decided(read_case("md16.json"), {}), io.BytesIO(), told.append)
    assert told == [3, 3]


def test_megadetector_and_timelapse_of_one_zip_are_joined() -> None:
    box = {"category": "2", "conf": 0.4, "bbox": [0, 0, 1, 1]}
    detected = md(
        {"file": "x/y/a.jpg", "detections": [box]},
        {"file": "z/a.jpg", "detections": []},
        {"file": "z/b.jpg", "detections": None},
    )
    table = f"{FIXED},Species\nr,a.jpg,x\\y,2024-05-01,false,hare\nr,a.jpg,z,2024-05-01,false,\n".encode()
    reading = read_table(make_zip({"md.json": detected, "ImageData.csv": table}))
    found = [json.loads(cell) for cell in reading.cells["candidates"]]
    assert found == [{"fox": 0.4, "hare": 1}, {"blank": 1}, ["blank", "fox", "hare"]]
    assert voters(reading)[0] == {"fox": ["MegaDetector"], "hare": ["Timelapse"]}
    assert says(reading, "Pictures of MegaDetector that are in Timelapse's table, too: 2 of 3.")
    assert shaped(reading) is reading, "its columns File and RelativePath are those of a table that was read"
    assert not any("first is row 2" in note for note in reading.notes), "the detector names its class"
    assert reading.cells["Species"].tolist() == ["hare", "", ""]
    assert reading.suggest_roles().image is None, "no pictures are in the zip"
    assert table_of(reading).n_rows == 3
    back = written(write_timelapse, decided(reading, {1: "blank", 2: "fox"}))
    assert back.decode().splitlines() == ["File,RelativePath,Species", "a.jpg,x\\y,hare", "a.jpg,z,blank"]


def test_picture_of_another_folder_never_replaces_a_missing_one(tmp_path: Path) -> None:
    data = f"{FIXED},Species\nr,a.png,x\\y,2024-05-01,false,fox\nr,a.png,z,2024-05-01,false,hare\n".encode()
    found = shaped(read_table(make_zip({"ImageData.csv": data, "z/a.png": picture()})))
    assert found.files.archive.find("z/a.png") == "z/a.png"
    with pytest.raises(MediaError, match="several rows name a file called"):
        found.files.archive.find("x/y/a.png")
    store_reading(found, tmp_path)
    files = read_stored(tmp_path).files
    assert files is not None
    with pytest.raises(MediaError, match="several rows name a file called"):
        files.archive.find("x/y/a.png")


def test_boxes_are_relative_and_the_best_comes_first() -> None:
    def image(name: str, *boxes: tuple[float, list[float]], **more: Any) -> dict[str, Any]:
        return {"file": name, "detections": [{"category": "2", "conf": c, "bbox": b} for c, b in boxes]} | more

    inside, beyond, no_area = [0.1, 0.2, 0.3, 0.4], [0.75, 0.5, 0.5, 0.75], [0.5, 0.5, 0, 0.1]
    images = [
        image("a.png", (0.25, inside), (0.5, beyond), (0.75, no_area)),
        image("b.png", (1.0, inside), manually_checked=True),
        image("c.png"),
    ]
    files = {f"{name}.png": picture(k) for k, name in enumerate("abc")}
    reading = shaped(read_table(make_zip({"md.json": md(*images), **files})))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    first = (Box("fox", 0.5, (0.75, 0.5, 0.25, 0.5)), Box("fox", 0.25, (0.1, 0.2, 0.3, 0.4)))
    assert [tuple(replace(one, place=pytest.approx(one.place)) for one in boxes_of(table, 0))] == [first]
    assert [one.name for one in boxes_of(table, 1)] == [""], "the name would be the true label"
    assert boxes_of(table, 2) == ()
    for cell in ("no JSON", "[1]", '[{"category": "fox", "conf": 1, "bbox": ["left", 0, 1, 1]}]', '{"a": 1}'):
        cells = reading.cells.assign(boxes=cell)
        assert boxes_of(LabelTable.from_cells(cells, table.roles, reading.files), 0) == ()
    of_others = reading.cells.drop(columns=["megadetector_file"])
    assert boxes_of(LabelTable.from_cells(of_others, table.roles, reading.files), 0) == ()
