"""Label Studio's exports as in its documentation, and faulty ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import TableError
from plcore.tables.readers.candidate_rows import At
from plcore.tables.readers.tools.label_studio import LABEL_STUDIO, LABEL_STUDIO_MIN, a_path, taxonomy_of
from tests.plcore.tables.writers.tables import (
    HOSTILE,
    LABELS,
    broken_at,
    candidates,
    noted,
    opens,
    read_or_refuse,
    sources,
)


def result(*labels: Any, kind: str = "choices", name: str = "sentiment", **others: Any) -> dict[str, Any]:
    return {
        "id": "Dx_aB91ISN",
        "from_name": name,
        "to_name": "text",
        "type": kind,
        "value": {kind: list(labels)},
        **others,
    }


def task(number: int, *annotations: Any, predictions: Any = (), **data: Any) -> dict[str, Any]:
    """A task as in the export, including fields that are not used here."""
    return {
        "id": number,
        "created_at": "2021-03-09T21:52:49.513742Z",
        "updated_at": "2021-03-09T22:16:08.746926Z",
        "project": 83,
        "data": {"text": f"the text of number {number}", **data},
        "annotations": [
            {
                "id": f"100{place}",
                "result": one if isinstance(one, list) else [one],
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": "2021-03-09T22:16:08.728353Z",
                "lead_time": 4.25,
                "result_count": 0,
                "task": number,
                "completed_by": 10 + place,
            }
            for place, one in enumerate(annotations)
        ],
        "predictions": list(predictions),
        "drafts": [],
    }


def read(*tasks: dict[str, Any]) -> Any:
    assert LABEL_STUDIO.fits(list(tasks))
    return LABEL_STUDIO.read(list(tasks))


def test_annotations_are_votes_and_predictions_have_scores() -> None:
    reading = read(
        task(1, result("Positive"), result("Positive"), result("Neutral", "Negative")),
        task(2, predictions=[
            {"model_version": "one", "score": 0.5, "result": [result("Positive", score=0.25)]},
            {"model_version": "two", "score": 0.5, "result": [result("Negative")]},
            {"result": [result("Negative")]},
        ]),
    )  # fmt: skip
    assert candidates(reading) == [{"Positive": 2, "Neutral": 1, "Negative": 1}, {"Positive": 0.25, "Negative": 1.5}]
    assert sources(reading) == [
        {"Positive": ["10", "11"], "Neutral": ["12"], "Negative": ["12"]},
        {"Positive": ["one"], "Negative": ["two"]},
    ]
    assert reading.cells["lead_time"].tolist() == ["12.75", ""]
    assert noted(reading, "people weigh 1", "models their score")
    table = opens(reading)
    assert table.ids.tolist() == ["1", "2"]
    assert table.roles.text == "text"


def test_people_are_identified_by_addresses() -> None:
    one = task(1, result("a"), result("b"))
    one["annotations"][0]["completed_by"] = {"id": 4, "email": "ann@example.org"}
    one["annotations"][1]["completed_by"] = None
    assert sources(read(one)) == [{"a": ["ann@example.org"]}]


def test_skipped_annotations_and_ground_truth() -> None:
    one, two, three = (task(1, result("a"), result("b")), task(2, result("a")), task(3, result("a", "b"), result("b")))
    one["annotations"][0]["was_cancelled"] = True
    two["annotations"][0]["ground_truth"] = True
    three["annotations"][0]["ground_truth"] = True
    reading = read(one, two, three)
    assert candidates(reading) == [{"b": 1}, ["a", "b"], {"b": 1}]
    assert reading.cells["truth"].tolist() == ["", "a", ""]
    assert noted(reading, "Annotations that people skipped, which are not votes: 1.")
    assert noted(reading, "In 1 task the ground truth names several labels")


def test_taxonomy_gives_groups() -> None:
    def place(*paths: list[str]) -> dict[str, Any]:
        return result(*paths, kind="taxonomy", name="species")

    reading = read(
        task(1, place(["Corvus", "corax"], ["Pica", "pica"])),
        task(2, place(["Corvus"])),
        task(3, place(["Corvus", "corone"])),
    )
    assert candidates(reading) == [{"corax": 1, "pica": 1}, {"corax": 0.5, "corone": 0.5}, {"corone": 1}]
    assert reading.groups == {"Corvus": ("corax", "corone"), "Pica": ("pica",)}
    assert noted(reading, "all its classes are candidates and share")


def test_nested_choices_are_places_in_tree_too() -> None:
    reading = read(task(1, result(["Dog", "Poodle"], ["Cat"])))
    assert candidates(reading) == [{"Poodle": 1, "Cat": 1}]
    assert reading.groups == {"Dog": ("Poodle",)}


def test_question_answered_most_is_read() -> None:
    both = [result("a"), result("good", name="quality")]
    reading = read(task(1, both), task(2, [result("b")]), task(3, [result("b"), result("bad", "dark", name="quality")]))
    assert candidates(reading) == [{"a": 1}, {"b": 1}, {"b": 1}]
    assert reading.cells["quality"].tolist() == ['["good"]', "", '["bad", "dark"]']
    assert noted(reading, "'sentiment'", "'quality'", "kept as columns")


def test_boxes_and_choices_about_part_are_not_read() -> None:
    box = {
        "id": "x",
        "from_name": "tag",
        "to_name": "img",
        "type": "rectanglelabels",
        "value": {"rectanglelabels": ["Moonwalker"], "x": 13.2},
    }
    part = result("a")
    part["value"]["start"] = 3
    reading = read(task(1, [box, part, result("b")]), task(2, [result("a")]))
    assert candidates(reading) == [{"b": 1}, {"a": 1}]
    assert noted(reading, "Results of type 'rectanglelabels', not read", "as choices are: 1.")
    assert noted(reading, "Results of type 'choices', not read", "as choices are: 1.")
    with pytest.raises(TableError, match=r"No task has a choice .* Results of type 'rectanglelabels'.*<Choices>"):
        read(task(1, [box]))


def test_addresses_are_text_and_nothing_is_fetched() -> None:
    reading = read(
        *(task(n, result("ab"[n]), image=f"https://example.com/{n}.jpg", task_id=f"own {n}") for n in (0, 1))
    )
    assert reading.cells["image"].tolist() == ["https://example.com/0.jpg", "https://example.com/1.jpg"]
    assert noted(reading, "'image'", "nothing is fetched", "zip")
    assert reading.roles.image is None
    assert reading.cells["task_id"].tolist() == ["own 0", "own 1"], "what the project said itself stays"


def test_column_that_reveals_label_is_not_feature() -> None:
    reading = read(*(task(n, result("ab"[n % 2]), answer="ab"[n % 2], place=["x", {"y": True}]) for n in range(6)))
    assert "answer" not in reading.roles.categories
    assert noted(reading, "'answer'", "give the answer away")
    assert reading.cells["place"].tolist() == ['["x", {"y": true}]'] * 6


def test_old_exports_call_them_completions() -> None:
    one = task(1, result("a"), result("b"))
    one["completions"] = one.pop("annotations")
    assert candidates(read(one)) == [{"a": 1, "b": 1}]


@pytest.mark.parametrize(
    "records",
    [
        [],
        [{"text": "a"}],
        [{"data": {"text": "a"}}],
        [{"data": "a", "annotations": []}],
        [3],
        [{"data": {}, "annotations": 3}],
    ],
)
def test_other_records_do_not_fit(records: list[Any]) -> None:
    assert not LABEL_STUDIO.fits(records)
    assert not LABEL_STUDIO_MIN.fits(records)


def test_several_wrong_tasks_are_refused_together() -> None:
    one, two = task(1, result("a")), task(2, result("b"))
    one["annotations"][0]["result"][0]["value"]["choices"] = [{"a": 1}]
    two["annotations"][0]["lead_time"] = "long"
    with pytest.raises(TableError) as error:
        read(one, two)
    assert [str(problem).split(":")[0] for problem in error.value.problems] == [
        "Row 1, column 'annotations[0].result[0].value.choices[0…'",
        "Row 2, column 'annotations[0].lead_time'",
    ]
    assert "expected a label as text" in str(error.value)


def test_wrong_voters_of_first_task_are_refused_with_their_row() -> None:
    one = task(1, result("a"), result("b"))
    with pytest.raises(TableError, match=r"^Row 1, column 'meta\.winnow_voters': expected an object"):
        read({**one, "meta": {"winnow_voters": "x"}})


def paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a record, at any depth."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [before, *(path for key, one in inside for path in paths(one, (*before, key)))]


FULL = task(
    1,
    [result("a", score=1), result(["b", "c"], kind="taxonomy")],
    predictions=[{"model_version": "m", "score": 0.5, "result": [result("a", score=0.5)]}],
)
FULL["meta"] = {"winnow_id": "x"}


@given(st.sampled_from(paths(FULL)[1:]), HOSTILE)
def test_wrong_types_are_refused_with_message_everywhere(path: tuple[Any, ...], value: Any) -> None:
    broken = broken_at(FULL, path, value)
    reading = read_or_refuse(LABEL_STUDIO.read, [broken, FULL])
    assert reading is None or len(reading.cells) == 2


def flat(number: int, answer: Any, *, person: int = 1, **others: Any) -> dict[str, Any]:
    """A record in the order in which the converter writes its fields."""
    told = {} if answer is None else {"sentiment": answer}
    ending = {"annotator": person, "annotation_id": 7, "created_at": "x", "updated_at": "y", "lead_time": 2.0}
    return {"text": f"some words of {number}", **others, "id": number, **told, **ending}


def test_json_min() -> None:
    records = [
        flat(1, "a"),
        flat(1, {"choices": ["a", "b"]}, person=2),
        flat(2, "b"),
        flat(3, None),
        flat(4, [{"taxonomy": [["G", "a"]]}, {"rectanglelabels": ["x"]}]),
    ]
    assert LABEL_STUDIO_MIN.fits(records)
    assert not LABEL_STUDIO.fits(records)
    reading = LABEL_STUDIO_MIN.read(records)
    assert reading.cells["task_id"].tolist() == ["1", "2", "3", "4"]
    assert sources(reading)[0] == {"a": ["1", "2"], "b": ["2"]}
    assert reading.cells["lead_time"].tolist() == ["4", "2", "2", "2"]
    assert noted(reading, "Results of type 'sentiment', not read", "as choices are: 1.")


def test_json_min_with_words_written_by_hand() -> None:
    records = [flat(n, "ab"[n % 2]) for n in range(6)]
    for n, record in enumerate(records):
        ending = {name: record.pop(name) for name in list(record)[list(record).index("annotator") :]}
        record.update({"comment": f"comment number {n}", **ending})
    reading = LABEL_STUDIO_MIN.read(records)
    assert candidates(reading) == [{"ab"[n % 2]: 1} for n in range(6)]
    assert json.loads(reading.cells["comment"][3]) == ["comment number 3"]


def test_json_min_without_answer_is_refused() -> None:
    with pytest.raises(TableError, match="Export the project as JSON, not as JSON-MIN"):
        LABEL_STUDIO_MIN.read([flat(1, None)])


@given(st.sampled_from(["id", "sentiment", "annotator", "lead_time", "text", "annotation_id"]), HOSTILE)
def test_wrong_types_in_json_min(name: str, value: Any) -> None:
    read_or_refuse(
        LABEL_STUDIO_MIN.read, [{**flat(1, "a"), name: value}, flat(2, "b"), flat(3, {"choices": ["a", "b"]})]
    )


def test_classes_are_leaves_by_their_last_part() -> None:
    tree = taxonomy_of([("Corvus", "corax"), ("Corvus", "corone"), ("Corvus",), ("Pica", "pica")])
    assert tree.meaning == {
        ("Corvus", "corax"): ("corax",),
        ("Corvus", "corone"): ("corone",),
        ("Corvus",): ("corax", "corone"),
        ("Pica", "pica"): ("pica",),
    }
    assert tree.groups == {"Corvus": ("corax", "corone"), "Pica": ("pica",)}


def test_repeated_parts_are_distinguished_by_whole_path() -> None:
    tree = taxonomy_of([("Online", "Free"), ("Offline", "Free"), ("Offline", "Paid")])
    assert tree.meaning[("Online", "Free")] == ("Online / Free",)
    assert tree.groups == {"Online": ("Online / Free",), "Offline": ("Offline / Free", "Paid")}


def test_labels_without_tree_are_classes() -> None:
    tree = taxonomy_of([("a",), ("b",), ("a",)])
    assert tree.meaning == {("a",): ("a",), ("b",): ("b",)}
    assert tree.groups == {}
    assert taxonomy_of([]).meaning == {}


def test_names_that_would_be_the_same_are_refused() -> None:
    with pytest.raises(TableError, match="'a / b'"):
        taxonomy_of([("a", "b"), ("c", "b"), ("a / b",)])


@given(st.lists(st.lists(LABELS, min_size=1, max_size=3).map(tuple), max_size=6))
def test_groups_are_unions_of_leaves(paths: list[tuple[str, ...]]) -> None:
    try:
        tree = taxonomy_of(paths)
    except TableError:
        return
    leaves = {path for path in paths if not any(len(o) > len(path) and o[: len(path)] == path for o in paths)}
    below = {path: {leaf for leaf in leaves if leaf[: len(path)] == path} for path in paths}
    assert all(len(tree.meaning[leaf]) == 1 for leaf in leaves)
    assert len({tree.meaning[path] for path in leaves}) == len(leaves), "different leaves are different classes"
    for path in paths:
        known = {tree.meaning[leaf][0] for leaf in below[path]}
        assert known <= set(tree.meaning[path])
        if path not in leaves:
            assert len(tree.meaning[path]) > 1, "a place above classes is never certain"


def test_taxonomy_node_with_one_known_class_is_class() -> None:
    tree = taxonomy_of([("Turdus",), ("Turdus", "merula"), ("Parus", "major"), ("Parus", "ater"), ("Parus",)])
    assert tree.meaning[("Turdus",)] == ("Turdus", "merula")
    assert tree.meaning[("Parus",)] == ("major", "ater")
    assert tree.groups == {"Parus": ("major", "ater")}


@given(HOSTILE)
def test_any_value_is_path_or_refused(value: object) -> None:
    path = read_or_refuse(a_path, At(value, 3, "value.taxonomy"))
    assert path is None or all(isinstance(part, str) and part for part in path)
