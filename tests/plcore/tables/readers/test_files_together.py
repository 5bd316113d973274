"""Files of one zip that a tool writes together: members, splits, errors; and votes in arrays next to their rows."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp

from plcore.tables import read_table
from plcore.tables.problems import TableError
from tests.plcore.tables.readers.cases import says, voters, weights
from tests.plcore.tables.zips import make_zip


def lines(*records: dict[str, object]) -> bytes:
    return "".join(json.dumps(one) + "\n" for one in records).encode()


def test_doccano_files_of_members_are_voters() -> None:
    late, thanks = {"id": 7, "text": "late again"}, {"id": 8, "text": "thanks"}
    reading = read_table(
        make_zip(
            {
                "ann.jsonl": lines({**late, "label": ["delay", "urgent"]}, {**thanks, "label": ["praise"]}),
                "bob.jsonl": lines({**late, "label": ["delay"]}, {**thanks, "label": []}),
                "unknown.jsonl": lines({"id": 9, "text": "hello", "label": ["praise"]}),
            }
        )
    )
    assert weights(reading) == [{"delay": 2, "urgent": 1}, {"praise": 1}, {"praise": 1}]
    assert voters(reading) == [{"delay": ["ann", "bob"], "urgent": ["ann"]}, {"praise": ["ann"]}, {}]
    assert reading.cells["text"].tolist() == ["late again", "thanks", "hello"]
    assert says(reading, "Lines without a label: 1.")


@pytest.mark.parametrize("splits", [("train", "test"), ("train",)])
def test_wrench_splits_are_one_table_with_named_classes(splits: tuple[str, ...]) -> None:
    rows = {"0": {"label": 1, "weak_labels": [1, -1, 0], "data": {"text": "a text"}}}
    files = {f"{name}.json": json.dumps(rows).encode() for name in splits}
    reading = read_table(make_zip({**files, "label.json": b'{"0": "neg", "1": "pos"}'}))
    assert weights(reading) == [{"neg": 1, "pos": 1}] * len(splits)
    assert reading.cells["id"].tolist() == [f"{name}/0" for name in splits]
    assert (reading.cells["truth"][0], reading.suggest_roles().text) == ("pos", "text")
    assert "split" not in reading.suggest_roles().categories


def test_batch_and_its_error_file_are_one_table() -> None:
    body = {"model": "g", "choices": [{"message": {"content": "cat"}}]}
    done = {"custom_id": "1", "response": {"status_code": 200, "body": body}, "error": None}
    lost = {"custom_id": "2", "response": None, "error": {"code": "batch_expired"}}
    failed_first = {**lost, "custom_id": "1"}
    reading = read_table(make_zip({"output.jsonl": lines(done), "errors.jsonl": lines(lost, failed_first)}))
    assert dict(zip(reading.cells["custom_id"], weights(reading), strict=True)) == {"1": {"cat": 1}, "2": {"cat": None}}


def test_json_files_of_no_known_tool_are_refused() -> None:
    one = lines({"id": 1, "a": "b"})
    with pytest.raises(TableError, match="3 tables"):
        read_table(make_zip({"a.jsonl": one, "b.jsonl": one, "c.jsonl": one}))


VOTES = np.array([[0, -1, 1], [1, 1, -1], [-1, -1, -1]])
MEANT = [{"0": 1, "1": 1}, {"1": 2}, {"0": None, "1": None}]


def npz(**arrays: npt.NDArray[Any]) -> bytes:
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()


def test_votes_in_arrays_are_joined_to_the_rows_next_to_them() -> None:
    plain, sparse = io.BytesIO(), io.BytesIO()
    np.save(plain, VOTES)
    sp.save_npz(sparse, sp.csr_matrix(VOTES + 1))
    rows = b"id,text\na,one text\nb,two texts\nc,three texts\n"
    named = npz(L_train=VOTES, classes=np.array(["0", "1"]), lf_names=np.array(["f", "g", "h"]))
    asked = npz(labels_multiannotator=np.where(VOTES < 0, np.nan, VOTES), pred_probs=np.full((3, 2), 0.5))
    for name, data in {
        "L.npy": plain.getvalue(),
        "L.npz": npz(L=VOTES),
        "named.npz": named,
        "asked.npz": asked,
    }.items():
        reading = read_table(make_zip({name: data, "rows.csv": rows}))
        assert weights(reading) == MEANT, name
        assert (reading.cells["id"].tolist(), reading.suggest_roles().text) == (["a", "b", "c"], "text"), name
        assert weights(read_table(data, name)) == MEANT, "without its rows"
    counted = [{"1": 1, "2": 1}, {"2": 2}, {"1": None, "2": None}]
    reading = read_table(make_zip({"L.npz": sparse.getvalue(), "rows.csv": rows}))
    assert weights(reading) == counted, "a sparse matrix stores no vote of 0"
    assert says(reading, "its classes are counted from 1")
    reading = read_table(make_zip({"L.npz": npz(L=VOTES, text=TEXTS), "rows.csv": rows}))
    assert says(reading, "Not read: the array 'text'."), "the column of the table is taken"
    own = npz(L=VOTES, S=np.eye(3, 2) > 0, X=np.eye(3))
    assert read_table(make_zip({"L.npz": own, "rows.csv": rows})).asks[0][0] == "more-tables", "no votes"
    holes = np.full((3, 2, 2), np.nan)
    holes[0] = [[1, 0], [1, 0]]
    np.save(vectors := io.BytesIO(), holes)
    reading = read_table(make_zip({"labels.npy": vectors.getvalue(), "rows.csv": rows}))
    assert reading.suggest_roles().label_columns == ("0", "1")
    assert reading.cells["0"].tolist() == ["1", "", ""]
    with pytest.raises(TableError, match="it has 2 values for 3 rows"):
        read_table(make_zip({"L.npz": npz(L=VOTES), "rows.csv": rows[: rows.index(b"c,")]}))
    sp.save_npz(sparse := io.BytesIO(), sp.csc_matrix(VOTES + 1))
    with pytest.raises(TableError, match="not in the format CSR"):
        read_table(sparse.getvalue(), "L.npz")


TEXTS = np.array(["one text is here", "two texts are here", "three texts are here"])
OTHERS = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("arrays", "learnt", "note"),
    [
        ({"L": VOTES, "texts": TEXTS}, ("texts", ()), ""),
        ({"L": VOTES, "text": TEXTS, "L_test": OTHERS}, ("text", ()), "Not read: the array 'L_test'."),
        ({"L": VOTES, "X": np.eye(3)}, (None, ("x1", "x2", "x3")), ""),
        ({"labels_multiannotator": np.where(VOTES < 0, np.nan, VOTES), "data": TEXTS}, ("data", ()), ""),
    ],
)
def test_votes_in_arrays_can_have_their_own_rows(
    arrays: dict[str, npt.NDArray[Any]], learnt: tuple[str | None, tuple[str, ...]], note: str
) -> None:
    reading = read_table(npz(**arrays, ids=np.array([7, 8, 9]), y=np.array([1, 1, 0])), "L.npz")
    roles = reading.suggest_roles()
    assert weights(reading) == MEANT
    assert (roles.text, roles.numbers, roles.id, roles.truth) == (*learnt, "id", "truth")
    assert reading.cells["truth"].tolist() == ["1", "1", "0"]
    assert says(reading, note)
    assert says(reading, "Not read") == bool(note)


def test_label_studio_notes_are_not_read_as_tasks() -> None:
    choice = {"from_name": "s", "to_name": "t", "type": "choices", "value": {"choices": ["pos"]}}
    tasks = [{"id": 1, "data": {"text": "a"}, "annotations": [{"id": 5, "completed_by": 1, "result": [choice]}]}]
    notes = {
        "categories": [{"id": 0, "name": "pos"}, {"id": 1, "name": "neg"}],
        "info": {"contributor": "Label Studio"},
    }
    reading = read_table(
        make_zip({"notes.json": json.dumps(notes).encode(), "result.json": json.dumps(tasks).encode()})
    )
    assert weights(reading) == [{"pos": 1}]
    assert (reading.asks, says(reading, "Not read: 'notes.json'.")) == ((), True)
