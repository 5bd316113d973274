"""The original table with four more columns, unchanged row for row, also in Raven's and SpeciesNet's formats."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore import read_cells
from plcore.tables.readers.tools.detections import NOTHING, VERIFIED
from plcore.tables.text.arrow import to_csv_bytes
from plcore.tables.writers.nature import write_detections, write_predictions, write_selections
from tests.plcore.tables.readers.tools.detector_tables import AUDACITY, BIRDNET, KALEIDOSCOPE, R_FORM, RAVEN
from tests.plcore.tables.readers.tools.test_speciesnet import FILE, RECORDS
from tests.plcore.tables.writers.answered import AT, answered
from tests.plcore.tables.writers.tables import LABELS, frame, written

QUOTED = BIRDNET.replace("C:\\rec\\Wald, früh.wav".encode(), '"C:\\rec\\Wald, früh.wav"'.encode())


def test_table_is_returned_with_answers() -> None:
    data = written(write_detections, answered(answers={0: ("Great tit",), 2: (NOTHING,)}))
    back, before = read_cells(data), read_cells(QUOTED)
    assert list(back.columns) == [*before.columns, *VERIFIED]
    assert back[before.columns].to_dict("records") == before.to_dict("records")
    assert back["verified"].tolist() == ["true", "false", "", "false"]
    assert back["verified_label"].tolist() == ["Great tit", "Great tit", "", NOTHING]
    assert back["verified_by"].tolist() == ["ann", "ann", "", "ann"]
    assert set(back["verified_at"]) == {AT, ""}


@pytest.mark.parametrize("data", [BIRDNET, RAVEN, KALEIDOSCOPE, R_FORM, AUDACITY])
def test_every_layout_round_trips(data: bytes) -> None:
    back = read_cells(written(write_detections, answered(data)))
    if data is AUDACITY:
        assert back["Label"].tolist() == ["Parus major, Great Tit", "nocall"]
        return
    before = read_cells(QUOTED if data is BIRDNET else data)
    assert back.drop(columns=list(VERIFIED)).to_dict("records") == before.to_dict("records")


def test_raven_opens_its_own_table() -> None:
    """By column names, split at tabs, as Rraven and BirdNET's own tools read it."""
    data = written(write_selections, answered(RAVEN, {0: ("Coal Tit",)})).decode()
    header, *lines = [line.split("\t") for line in data.splitlines()]
    assert header == [*RAVEN.decode().splitlines()[0].split("\t"), *VERIFIED]
    records = [dict(zip(header, line, strict=True)) for line in lines]
    assert [one["verified"] for one in records] == ["false", "true", ""]
    assert [float(one["Begin Time (s)"]) for one in records] == [60, 60, 0]
    assert '"' not in data


def test_tabs_and_line_ends_in_names_become_spaces_for_raven() -> None:
    table = answered(RAVEN, {0: ("a\tb\nc",)}, {"Coal Tit": "a\tb\nc"})
    lines = written(write_selections, table).decode().splitlines()
    assert len(lines) == 4
    assert lines[2].split("\t")[-3] == "a b c"


def test_speciesnet_json_is_returned_with_verdicts() -> None:
    table = answered(FILE, {0: ("coyote",), 1: ("blank",)})
    found = json.loads(written(write_predictions, table))["predictions"]
    assert [{name: value for name, value in one.items() if name not in VERIFIED} for one in found] == RECORDS
    assert [one["verified"] for one in found] == [True, False, None, None]
    assert [one["verified_label"] for one in found] == ["coyote", "blank", None, None]
    assert [one["verified_by"] for one in found] == ["ann", "ann", None, None]


def test_second_round_keeps_earlier_verdicts() -> None:
    again = answered(written(write_detections, answered(answers={0: ("Great tit",)})), {1: ("Great tit",)})
    back = read_cells(written(write_detections, again))
    assert back["before_verified"].tolist() == ["true", "false", "", ""]
    assert back["verified"].tolist() == ["", "", "true", ""]


def test_second_round_keeps_earlier_verdicts_on_predictions() -> None:
    first = written(write_predictions, answered(FILE, {0: ("coyote",)}))
    back = json.loads(written(write_predictions, answered(first, {1: ("domestic cat",)})))["predictions"]
    assert [one["before_verified"] for one in back] == [True, None, None, None]
    assert [one["verified"] for one in back] == [None, True, None, None]
    assert back[0]["before_verified_label"] == "coyote"


def test_only_rows_of_selected_items_are_written() -> None:
    back = read_cells(written(write_detections, answered().chosen(np.array([1, 2]))))
    assert back["Confidence"].tolist() == ["0.5", "0.25"]
    none = answered().chosen(np.array([], dtype=np.int64))
    assert written(write_detections, none).decode() == ",".join(VERIFIED) + "\n"
    assert json.loads(written(write_predictions, none)) == {"predictions": []}
    assert replace(none, answers=[]).answers == []


@given(st.lists(st.tuples(LABELS, LABELS, st.floats(0, 1)), min_size=1, max_size=4), st.data())
def test_any_names_paths_and_scores_round_trip(rows: list[tuple[str, str, float]], data: st.DataObject) -> None:
    always = {"Start (s)": "0", "End (s)": "3", "Scientific name": ""}
    table = frame(
        *({**always, "Common name": name, "Confidence": score, "File": f"x{path}"} for name, path, score in rows)
    )
    file = to_csv_bytes(table)
    label = data.draw(st.sampled_from(answered(file).classes))
    text = written(write_detections, answered(file, {0: (label,)})).decode()
    back = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [{name: one[name] for name in table.columns} for one in back] == table.to_dict("records")
    assert back[0]["verified"] in ("true", "false")
