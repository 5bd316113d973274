"""Encoders with real weights: the ONNX models built here reproduce the published results of their authors."""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from plcore import LabelTable, Roles
from plcore.tables import Encoder, read_table
from plcore.tables.encoders.description import read_description
from plcore.tables.encoders.preparing import image_points
from plcore.tables.media.images import open_image
from tests.conftest import DATA
from tests.plcore.tables.encoders.test_encoding import no_files
from tests.plcore.tables.encoders.wheels import WHEELS, NoWheelError, build_encoder, find_wheel, read_torch

SENTENCES = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("encoders")


def cosines(folder: Path, texts: list[str]) -> np.ndarray:
    """(n, n) of the vectors of some texts."""
    cells = pd.DataFrame({"c": ["a|b"] * len(texts), "t": texts}, dtype="str")
    found = Encoder(folder).encode(LabelTable.from_cells(cells, Roles(candidates="c", text="t")), no_files)
    vectors = found.values / np.linalg.norm(found.values, axis=1, keepdims=True)
    return vectors @ vectors.T


@pytest.mark.proof
def test_minilm_gives_the_cosines_of_its_model_page(encoders: Path) -> None:
    found = cosines(build_encoder("minilm", encoders), SENTENCES)
    np.testing.assert_allclose(found[np.triu_indices(3, 1)], [0.6660, 0.1046, 0.1411], atol=5e-5)


@pytest.mark.proof
def test_minilm_text_in_batch_with_longer_one_keeps_its_vector(encoders: Path) -> None:
    folder = build_encoder("minilm", encoders)
    found = cosines(folder, [SENTENCES[0], " ".join(SENTENCES * 9), SENTENCES[1]])
    assert found[0, 2] == pytest.approx(0.6660, abs=5e-5)


@pytest.mark.proof
def test_wordllama_gives_the_cosine_of_its_readme(encoders: Path) -> None:
    # The README's figure is for lower-case sentences.
    found = cosines(build_encoder("wordllama", encoders), ["i went to the car", "i went to the pawn shop"])
    assert found[0, 1] == pytest.approx(0.0664, abs=5e-5)


CLASSES = {
    "t-shirt": {610: "jersey, T-shirt"},
    "pants": {608: "jean"},
    "shoes": {502: "clog", 514: "cowboy boot", 630: "Loafer", 770: "running shoe", 774: "sandal"},
    "shorts": {842: "swimming trunks"},
}
"""ImageNet names of some clothes, of its 1,000 classes."""


@pytest.mark.proof
@pytest.mark.public_data
def test_efflite0_recognises_clothes(encoders: Path) -> None:
    folder = build_encoder("efflite0", encoders)
    about = read_description(folder)
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    right, all_of_it = Counter[str](), Counter[str]()
    with zipfile.ZipFile(DATA / "meaning" / "clothing_600.zip") as photos:
        labels = pd.read_csv(io.BytesIO(photos.read("labels.csv")))
        for name, label in labels[labels["label"].isin(CLASSES)].itertuples(index=False):
            with open_image(photos.read(name)) as image:
                points = image_points(image, about).transpose(2, 0, 1)[None].astype(np.float32)
            vector, scores = session.run(["vector", "classes"], {"image": points})
            assert vector.shape == (1, 1280)
            right[label] += int(scores.argmax()) in CLASSES[label]
            all_of_it[label] += 1
    shares = {label: right[label] / all_of_it[label] for label in CLASSES}
    assert min(shares.values()) >= 0.5, shares
    assert right.total() / all_of_it.total() >= 0.65, shares


@pytest.mark.proof
@pytest.mark.public_data
def test_efflite0_nearest_photo_shows_the_same_garment(encoders: Path) -> None:
    reading = read_table(DATA / "meaning" / "clothing_600.zip")
    labels = reading.cells["label"].to_numpy()
    rows = np.flatnonzero(np.isin(labels, ["pants", "shoes"]))[:60]
    cells = reading.cells.iloc[rows].reset_index(drop=True).assign(candidates="pants|shoes")
    roles = Roles(candidates="candidates", image="file", image_features=True)
    table = LabelTable.from_cells(cells, roles, reading.files)
    found = Encoder(build_encoder("efflite0", encoders)).encode(table, reading.files.open).values
    vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
    nearest = (vectors @ vectors.T - 2 * np.eye(len(rows))).argmax(axis=1)
    assert (labels[rows][nearest] == labels[rows]).mean() >= 0.9


def test_missing_wheel_names_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_WHEELS", str(tmp_path))
    for key, name in WHEELS.items():
        with pytest.raises(NoWheelError, match=f"no wheel {name} in .* Fix: run `make wheels`"):
            find_wheel(key)


class _Calls:
    def __reduce__(self) -> tuple[object, ...]:
        return print, ("called",)


def test_read_torch_refuses_anything_but_weights(capsys: pytest.CaptureFixture[str]) -> None:
    data = b"".join(map(pickle.dumps, (1, 1001, {}, _Calls(), [])))
    with pytest.raises(pickle.UnpicklingError, match=r"builtins.print is not a part of a file of weights"):
        read_torch(data)
    assert capsys.readouterr().out == ""
