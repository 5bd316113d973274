"""Real data: candidate sets of birdsong, every fifth, survive every way to write them as CSV."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.tables.text.arrow import to_csv_bytes

pytestmark = pytest.mark.public_data


@pytest.fixture(scope="module")
def birdsong(data_folder: Path) -> dict[str, np.ndarray]:
    with np.load(data_folder / "birdsong.npz") as data:
        return {name: data[name][::5] for name in data.files}


def frame_of(birdsong: dict[str, np.ndarray]) -> pd.DataFrame:
    numbers = birdsong["X"]
    frame = pd.DataFrame(numbers, columns=[f"feature_{place}" for place in range(numbers.shape[1])])
    frame.insert(0, "id", [f"syllable {row}" for row in range(len(frame))])
    frame["truth"] = birdsong["y"]
    return frame


def in_one_column(birdsong: dict[str, np.ndarray]) -> pd.DataFrame:
    frame = frame_of(birdsong)
    frame["candidates"] = ["|".join(map(str, np.flatnonzero(row))) for row in birdsong["S"]]
    return frame


def in_label_columns(birdsong: dict[str, np.ndarray]) -> pd.DataFrame:
    labels = pd.DataFrame(birdsong["S"], columns=[str(place) for place in range(birdsong["S"].shape[1])])
    return pd.concat([labels, frame_of(birdsong)], axis=1)


def in_annotator_columns(birdsong: dict[str, np.ndarray]) -> pd.DataFrame:
    frame = frame_of(birdsong)
    sets = [np.flatnonzero(row) for row in birdsong["S"]]
    for number in range(max(map(len, sets))):
        frame[f"annotator_{number + 1}"] = [str(each[number]) if number < len(each) else "" for each in sets]
    return frame


@pytest.mark.parametrize("write", [in_one_column, in_label_columns, in_annotator_columns])
def test_candidates_round_trip_in_three_forms(write, birdsong: dict[str, np.ndarray], tmp_path: Path) -> None:
    frame = write(birdsong)
    path = tmp_path / "birdsong.csv"
    frame.to_csv(path, index=False)
    table = LabelTable.read_csv(path)  # with guessed roles
    assert table.n_rows == 1000
    assert table.classes == tuple(str(place) for place in range(13))
    np.testing.assert_array_equal(table.candidates, birdsong["S"].astype(bool))
    np.testing.assert_array_equal(table.truth, birdsong["y"])
    np.testing.assert_array_equal(table.numbers.astype(np.float32), birdsong["X"])
    assert table.ids[-1] == "syllable 999"
    assert len(table.roles.numbers) == 38
    assert to_csv_bytes(table.cells) == path.read_bytes()  # no character of the file was lost
    table.write(tmp_path / "birdsong.parquet")
    stored = LabelTable.read(tmp_path / "birdsong.parquet")
    assert stored.cells.equals(table.cells)
    np.testing.assert_array_equal(stored.numbers, table.numbers)
    np.testing.assert_array_equal(stored.candidates, table.candidates)
    np.testing.assert_array_equal(stored.truth, table.truth)


@pytest.mark.parametrize("name", ["lost", "msrcv2"])
def test_other_public_sets_round_trip(name: str, data_folder: Path) -> None:
    with np.load(data_folder / f"{name}.npz") as data:
        numbers, sets, truth = data["X"], data["S"].astype(bool), data["y"]
    frame = pd.DataFrame(numbers, columns=[f"f{place}" for place in range(numbers.shape[1])])
    frame["candidates"] = [";".join(f"person {label:02d}" for label in np.flatnonzero(row)) for row in sets]
    frame["label"] = [f"person {label:02d}" for label in truth]
    table = LabelTable.from_frame(frame)
    assert (table.roles.separator, table.roles.truth) == (";", "label")
    present = np.flatnonzero(sets.any(axis=0))  # a label that is never a candidate has no name in the file
    assert table.classes == tuple(f"person {label:02d}" for label in present)
    np.testing.assert_array_equal(table.candidates, sets[:, present])
    np.testing.assert_array_equal(present[table.truth], truth)


@pytest.mark.parametrize("name", ["forest", "segment", "vowel", "dermatology"])
def test_exact_labels_are_candidate_sets_of_one(name: str, data_folder: Path) -> None:
    frame = pd.read_csv(data_folder / f"{name}.csv.gz")
    roles = Roles(candidates="label", numbers=tuple(map(str, frame.columns[:-1])))
    table = LabelTable.from_frame(frame, roles)
    assert (table.candidates.sum(axis=1) == 1).all()
    labels = [table.classes[index] for index in table.candidates.argmax(axis=1)]
    assert labels == frame["label"].astype(str).tolist()
    np.testing.assert_array_equal(table.numbers, frame.iloc[:, :-1].to_numpy(float))
