"""Choices about a file as a whole: the items of MegaDetector's file, unfinished answers to a survey, and classes of
files without labels."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plcore import LabelTable, TableError
from plcore.tables import NATURE_FORMATS, TableReading, boxes_of, read_in, read_table, shaped, ways_of, with_classes
from plcore.tables.writers.nature import write_megadetector
from tests.plcore.tables.readers.cases import decided, read_case, says, table_of, weights
from tests.plcore.tables.writers.tables import written
from tests.plcore.tables.zips import make_zip, picture

NAMES = {"0": "fox", "1": "hare"}


def found(conf: float, *classes: tuple[str, float], **more: Any) -> dict[str, Any]:
    own = {"classifications": [list(one) for one in classes]} if classes else {}
    return {"category": "1", "conf": conf, "bbox": [0.1, 0.2, 0.3, 0.4], **own, **more}


IMAGES: list[dict[str, Any]] = [
    {
        "file": "a/1.jpg",
        "detections": [
            found(0.9, ("0", 0.7), ("1", 0.2)),
            found(0.05),
            found(0.6, ("1", 0.8), bbox=[0.5, 0.5, 0.2, 0.2]),
        ],
    },
    {"file": "a/2.jpg", "detections": []},
    {"file": "a/3.jpg", "detections": [found(0.1)]},
    {"file": "a/4.jpg", "failure": "Failure image access", "detections": None},
    {
        "file": "a/5.mp4",
        "frame_rate": 10.0,
        "detections": [
            found(0.8, ("0", 0.6), frame_number=10),
            found(0.7, ("0", 0.9), frame_number=25),
            found(0.3, ("1", 0.5), frame_number=25),
        ],
    },
]  # fmt: skip


def md(images: list[dict[str, Any]] = IMAGES, **info: Any) -> bytes:
    whole = {"info": {"format_version": "1.6", **info}, "detection_categories": {"1": "animal"}}
    return json.dumps({**whole, "classification_categories": NAMES, "images": images}).encode()


def by(item: str, data: bytes | None = None) -> TableReading:
    return read_in(read_table(md() if data is None else data), {"item": item})


def test_file_can_be_read_by_detection_and_by_frame() -> None:
    ((item,),) = [ways_of(read_table(md()))]
    assert (item.name, list(item.options)) == ("item", ["picture", "detection", "frame"])
    ((item,),) = [ways_of(read_table(md(IMAGES[:3])))]
    assert list(item.options) == ["picture", "detection"], "there is no video"
    assert ways_of(read_table(b"a,b\n1,2\n")) == ()


def test_first_choice_is_the_default_reading() -> None:
    plain, chosen = read_table(md()), by("picture")
    assert chosen.cells.equals(plain.cells)
    assert (chosen.roles, chosen.notes, chosen.groups) == (plain.roles, plain.notes, plain.groups)


def test_item_is_detection_with_its_own_box_and_classes() -> None:
    reading = by("detection")
    assert reading.format == "MegaDetector JSON, an item a detection"
    assert reading.cells["item"].tolist() == [
        "a/1.jpg#1", "a/1.jpg#3", "a/2.jpg", "a/3.jpg", "a/5.mp4#1", "a/5.mp4#2", "a/5.mp4#3"
    ]  # fmt: skip
    assert weights(reading)[:4] == [
        {"fox": 0.7, "hare": 0.2, "blank": pytest.approx(0.1)},
        {"hare": 0.8, "blank": 0.4},
        {"blank": 1},
        {"animal": 0.1, "blank": 0.9},
    ]
    assert says(reading, "Detections below the confidence 0.2, which are not items of their own: 2.")
    assert says(reading, "1 file could not be read")
    boxes = [json.loads(cell) for cell in reading.cells["boxes"] if cell]
    assert [len(one) for one in boxes] == [1] * 6
    assert boxes[1][0]["bbox"] == [0.5, 0.5, 0.2, 0.2]
    assert reading.cells["box_left"].tolist()[:3] == ["0.1", "0.5", ""]
    assert reading.cells["second"].tolist()[4:] == ["1", "2.5", "2.5"]
    table = table_of(reading)
    assert table.roles.numbers == ("box_left", "box_top", "box_width", "box_height")
    assert table.roles.caption == ("second",)


def test_cut_is_typical_threshold_of_detector() -> None:
    data = md(IMAGES[:1], detector_metadata={"typical_detection_threshold": 0.04})
    assert by("detection", data).cells["item"].tolist() == ["a/1.jpg#1", "a/1.jpg#2", "a/1.jpg#3"]


def test_only_box_of_detection_is_drawn() -> None:
    pictures = {f"pictures/{name}.jpg": picture(place, "JPEG") for place, name in enumerate("123")}
    reading = by("detection", make_zip({"md.json": md(IMAGES[:3]), **pictures}))
    table = LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)
    assert table.roles.image == "filepath"
    assert table.roles.numbers == ("box_left", "box_top", "box_width", "box_height")
    assert [one.place for one in boxes_of(table, 1)] == [pytest.approx((0.5, 0.5, 0.2, 0.2))]


def test_item_is_frame_of_video() -> None:
    reading = by("frame")
    assert reading.cells["item"].tolist() == [
        "a/1.jpg", "a/2.jpg", "a/3.jpg", "a/5.mp4#frame10", "a/5.mp4#frame25"
    ]  # fmt: skip
    assert weights(reading)[4] == {"fox": 0.9, "hare": 0.5, "blank": pytest.approx(0.3)}
    assert reading.cells["second"].tolist()[3:] == ["1", "2.5"]


def test_file_without_frames_has_no_frames() -> None:
    with pytest.raises(TableError, match="The choice item cannot be 'frame': it can be 'picture', 'detection'"):
        by("frame", md(IMAGES[:2]))
    with pytest.raises(TableError, match="this file has no such choice"):
        by("detection", b"a,b\n1,2\n")


@pytest.mark.parametrize("item", ["picture", "detection", "frame"])
def test_file_without_verdicts_round_trips(item: str) -> None:
    reading = by(item)
    assert NATURE_FORMATS["megadetector"].fits(table_of(reading).cells)
    back = json.loads(written(write_megadetector, decided(reading, {})))
    before = json.loads(md())
    assert back["images"] == [*before["images"][:3], before["images"][4], before["images"][3]]
    assert {**back, "images": 0} == {**before, "images": 0}


def test_verdict_of_detection_changes_only_that_detection() -> None:
    reading = by("detection")
    back = json.loads(written(write_megadetector, decided(reading, {0: "hare"})))["images"][0]
    assert back["detections"] == [
        {**IMAGES[0]["detections"][0], "conf": 1.0, "classifications": [["1", 1.0]]},
        *IMAGES[0]["detections"][1:],
    ]
    assert (back["human_verified_by"], "manually_checked" in back) == ("Ann", False), "one is still open"


def test_blank_detection_leaves_its_file() -> None:
    reading = by("detection")
    back = json.loads(written(write_megadetector, decided(reading, {0: "fox", 1: "blank"})))["images"][0]
    assert [one["conf"] for one in back["detections"]] == [1.0, 0.05]
    assert back["manually_checked"] is True
    again = read_table(json.dumps({**json.loads(md()), "images": [back]}).encode())
    assert again.cells["truth"].tolist() == ["fox"], "what a person left with the confidence 1 is what is there"


def test_verdict_of_frame_is_about_its_detections() -> None:
    reading = by("frame")
    back = json.loads(written(write_megadetector, decided(reading, {4: "hare"})))["images"][3]
    assert [one.get("classifications") for one in back["detections"]] == [[["0", 0.6]], [["1", 1.0]], [["1", 1.0]]]


def test_checked_detection_has_true_label() -> None:
    image = {**IMAGES[0], "manually_checked": True}
    image["detections"] = [found(1.0, ("0", 1.0)), found(1.0, ("1", 1.0))]
    reading = by("detection", md([image]))
    assert reading.cells["truth"].tolist() == ["fox", "hare"]
    assert says(reading, "2 items were checked by a person")
    assert says(by("picture", md([image])), "several classes, so no single true label: 1")


def test_box_that_no_one_confirmed_has_no_true_label() -> None:
    image = {**IMAGES[0], "manually_checked": True}
    image["detections"] = [found(1.0, ("0", 1.0)), found(0.6, ("0", 0.7), ("1", 0.3)), found(0.5, ("1", 1.0))]
    reading = by("detection", md([image, {**IMAGES[1], "manually_checked": True}]))
    assert reading.cells["truth"].tolist() == ["fox", "", "", "blank"]
    assert weights(reading)[1:3] == [
        {"fox": 0.7, "hare": 0.3, "blank": pytest.approx(0.4)}, {"hare": 1.0, "blank": 0.5},
    ]  # fmt: skip
    assert says(reading, "only the sides of the box are learnt from")
    assert by("picture", md([image])).cells["truth"].tolist() == ["fox"]


HEADS = "StartDate,RecordedDate,Status,Finished,ResponseId,{}\ns,d,s,f,r,{}\n" + '"{{""ImportId"":""s""}}",d,s,f,r,{}\n'


def survey(columns: dict[str, str], *people: tuple[str, ...]) -> bytes:
    """A survey of Qualtrics. columns : their texts by their names      people : whether they finished, and answers"""
    names = ",".join(columns)
    lines = "".join(
        f"2026-05-01,2026-05-02,IP Address,{one[0]},R_{place},{','.join(one[1:])}\n" for place, one in enumerate(people)
    )
    return (HEADS.format(names, ",".join(columns.values()), names) + lines).encode()


PHOTOS = {"Q1": "Photo one", "Q2": "Photo two"}
PEOPLE = (("True", "cat", "dog"), ("True", "cat", "cat"), ("False", "dog", ""), ("0", "dog", "dog"))


def test_unfinished_answers_are_left_out_and_asked_about() -> None:
    reading = read_table(survey(PHOTOS, *PEOPLE))
    assert [one.name for one in ways_of(reading)] == ["unfinished"]
    default = shaped(reading)
    assert weights(default) == [{"cat": 2}, {"cat": 1, "dog": 1}]
    ((name, message, _),) = default.asks
    assert name == "unfinished-answers"
    assert message.startswith("2 people of 4 people did not finish the survey: read here, ")


@pytest.mark.parametrize(
    ("value", "wanted"),
    [("leave-out", [{"cat": 2}, {"cat": 1, "dog": 1}]), ("count", [{"cat": 2, "dog": 2}, {"cat": 1, "dog": 2}])],
)  # fmt: skip
def test_unfinished_answers_are_as_chosen(value: str, wanted: list[dict[str, int]]) -> None:
    reading = shaped(read_in(read_table(survey(PHOTOS, *PEOPLE)), {"unfinished": value}))
    assert weights(reading) == wanted
    assert reading.asks == ()
    assert says(reading, "2 people who did not finish")


@pytest.mark.parametrize("value", ["leave-out", "count"])
def test_unfinished_previews_are_counted_only_as_previews(value: str) -> None:
    preview = b"2026-05-01,2026-05-02,Survey Preview,False,R_9,dog,dog\n"
    assert ways_of(read_table(survey(PHOTOS, *PEOPLE[:2]) + preview)) == ()
    reading = shaped(read_in(read_table(survey(PHOTOS, *PEOPLE) + preview), {"unfinished": value}))
    assert says(reading, "2 people who did not finish")
    assert says(reading, "Left out: 1 answer that are previews or spam")
    assert weights(reading)[0] == ({"cat": 2, "dog": 2} if value == "count" else {"cat": 2})


def test_finished_survey_asks_nothing() -> None:
    reading = read_table(survey(PHOTOS, *PEOPLE[:2]))
    assert ways_of(reading) == ()
    assert shaped(reading).asks == ()


LOOP = {
    "1_Q3": "A: which species?", "1_Q4": "A: how sure?", "2_Q3": "B: which species?", "2_Q4": "B: how sure?",
}  # fmt: skip


def test_items_of_loop_are_rows() -> None:
    people = (("True", "fox", "high", "hare", "low"), ("True", "fox", "low", "fox", "low"))
    reading = shaped(read_table(survey(LOOP, *people)))
    assert reading.cells["question_id"].tolist() == ["1", "2"]
    assert reading.cells["question"].tolist() == ["A: which species?", "B: which species?"]
    assert weights(reading) == [{"fox": 2}, {"fox": 1, "hare": 1}]
    assert says(reading, "Each of the 2 items that the survey loops over is an item")
    ((name, message, _),) = reading.asks
    assert name == "several-questions"
    assert "read here, 'Q3' asks for the label, but 'Q4' may" in message
    one = {name: words for name, words in LOOP.items() if "Q3" in name}
    assert shaped(read_table(survey(one, ("True", "fox", "hare"), ("True", "hare", "fox")))).asks == ()


def test_reading_by_detection_keeps_notes_about_other_files() -> None:
    packed = make_zip({"md.json": md(IMAGES[:2]), "log.txt": b"a\tb\n1\t2\n3\t4\n"})
    reading = by("detection", packed)
    assert [one[0] for one in reading.asks] == ["more-tables"]
    assert read_case("md16.json").asks == ()


def test_survey_without_answers_is_refused() -> None:
    with pytest.raises(TableError, match="No two questions of the survey share their answers"):
        shaped(read_table(survey(PHOTOS)))


# Files without labels


def with_files(reading: TableReading) -> LabelTable:
    return LabelTable.from_cells(reading.cells, reading.suggest_roles(), reading.files)


def test_each_class_is_possible_in_every_row_of_file_without_labels() -> None:
    reading = with_classes(read_table(b"text,candidates\na small bird,\nsome large bird,\n"), " wren,robin, wren ,")
    table = table_of(reading)
    assert (table.classes, table.roles.text) == (("robin", "wren"), "text")
    assert table.candidates.all()
    assert reading.cells["candidates"].tolist() == ['["wren", "robin"]'] * 2
    assert with_classes(read_table(b"text\na small bird\n"), "a, b\nc").cells["candidates"].tolist() == [
        '["a, b", "c"]'
    ]


def test_classes_are_refused_for_file_with_labels_and_if_there_are_too_few() -> None:
    with pytest.raises(TableError, match="'wren' names fewer than two classes"):
        with_classes(read_table(b"text\na small bird\n"), "wren")
    with pytest.raises(TableError, match="The file has labels"):
        with_classes(read_table(b"text,labels\na bird,wren|robin\nthe bird,wren\n"), "wren,robin")


def test_zip_with_only_images_or_recordings_is_table_of_its_files() -> None:
    files = {"b/2.png": picture(2), "a/1.png": picture(1), "a/song.wav": b"", "labels.txt": b"no tabs"}
    reading = read_table(make_zip(files))
    assert (reading.format, reading.cells["file"].tolist()) == ("zip of 2 images", ["a/1.png", "b/2.png"])
    assert reading.cells["folder"].tolist() == ["a", "b"]
    assert reading.notes[-1] == "Not read: 'a/song.wav', 'labels.txt'."
    table = with_files(with_classes(reading, "fox,hare"))
    assert (table.roles.image, table.classes, table.n_rows) == ("file", ("fox", "hare"), 2)
    heard = read_table(make_zip({"1.wav": b"", "2.wav": b"", "a.png": picture()}))
    assert (heard.format, list(heard.cells)) == ("zip of 2 recordings", ["file"])


def test_folders_called_like_classes_are_true_labels() -> None:
    files = {f"birds/{name}/{k}.png": picture(k) for k, name in enumerate(["wren", "robin"] * 3)}
    table = with_files(with_classes(read_table(make_zip(files)), "wren,robin,jay"))
    assert table.roles.truth == "folder"
