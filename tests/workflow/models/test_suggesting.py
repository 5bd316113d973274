"""Suggestions: candidates are weighted by a classifier, or by the names of the classes."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

from db import entries
from tests.plcore.tables.encoders.models import FLOAT, encoder, made
from tests.workflow.alike_world import NAMES, alike_project
from tests.workflow.meaning_world import topic_encoder
from tests.workflow.text_world import text_frame, text_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import opened
from workflow.importing.encoding import EncoderError
from workflow.models import suggesting
from workflow.models.suggesting import suggest
from workflow.seat import Seat
from workflow.server.home import Home

RATE = 8_000


def pitch_classifier(home: Home, labels: str, name: str = "pitch") -> Path:
    """A sound classifier of two labels: the first for low tones, the second for high ones; its output is logits.

    A tone of f Hz at 8,000 samples a second changes from sample to sample by 2 sin(pi f / 8,000) of its amplitude: 0.77
    at 1,000 Hz, 1.85 at 3,000 Hz.
    """
    nodes = [
        helper.make_node("Slice", ["x", "zero", "last", "axis"], ["a"]),
        helper.make_node("Slice", ["x", "one", "end", "axis"], ["b"]),
        helper.make_node("Sub", ["b", "a"], ["d"]),
        helper.make_node("ReduceL1", ["d", "axis"], ["steps"], keepdims=1),
        helper.make_node("ReduceL1", ["a", "axis"], ["size"], keepdims=1),
        helper.make_node("Add", ["size", "tiny"], ["some"]),
        helper.make_node("Div", ["steps", "some"], ["ratio"]),
        helper.make_node("Sub", ["ratio", "middle"], ["high"]),
        helper.make_node("Neg", ["high"], ["low"]),
        helper.make_node("Concat", ["low", "high"], ["both"], axis=1),
        helper.make_node("Mul", ["both", "ten"], ["y"]),
    ]
    model = made(
        nodes,
        {"x": (FLOAT, ("n", RATE))},
        {"y": ("n", 2)},
        {
            "zero": np.array([0]), "one": np.array([1]), "last": np.array([RATE - 1]), "end": np.array([RATE]),
            "axis": np.array([1]), "tiny": np.float32(1e-9), "middle": np.float32(1.3), "ten": np.float32(10),
        },
    )  # fmt: skip
    about = {"kind": "sound", "rate": RATE, "seconds": 1, "classes": "labels.txt", "activation": "sigmoid"}
    folder = encoder(home.encoders_dir / name, about, model)
    (folder / "labels.txt").write_text(labels)
    return folder


def weights_of(seat: Seat) -> np.ndarray:
    assert seat.project_id is not None
    with opened(seat.home, seat.person_id, seat.project_id) as learner:
        found = learner.table.candidate_weights
        assert found is not None
        return np.asarray(found)


def last_seq(seat: Seat) -> int:
    with seat.reading() as reading:
        return entries.last_seq(reading.session, reading.project.id)


def test_classifier_weights_candidates_of_recordings(home: Home, owner: int) -> None:
    seat = alike_project(home, owner, shown="sound")
    pitch_classifier(home, "Vulpes vulpes_Red fox\nCapreolus capreolus_ROE DEER\n")
    steps: list[tuple[int, int, str]] = []
    found = suggest(seat, "pitch", on_step=lambda *step: steps.append(step))
    assert (found.rows, found.classes, found.unknown) == (130, NAMES, ())
    assert steps[-1][2] == "sound"
    with opened(home, owner, seat.project_id or 0) as learner:
        table = learner.table
    truth, both = table.truth, table.candidates.sum(axis=1) == 2
    weights = weights_of(seat)
    assert both.any()
    assert (weights[both].argmax(axis=1) == truth[both]).all()
    assert weights[both].max(axis=1) == pytest.approx(1, abs=0.02)
    assert table.roles.scored_by == "pitch"
    seq = last_seq(seat)
    assert suggest(seat, "pitch") == found
    assert last_seq(seat) == seq, "the same once more stores nothing"


def test_suggested_labels_are_limited_to_project_classes(home: Home, owner: int) -> None:
    seat = alike_project(home, owner, shown="sound")
    pitch_classifier(home, "noise\nroe_deer\n")
    found = suggest(seat, "pitch")
    assert (found.classes, found.unknown) == (("Roe deer",), ("Red fox",))
    pitch_classifier(home, "noise\nsilence\n")
    with pytest.raises(EncoderError, match=r"None of the 2 labels of pitch, such as 'noise', 'silence', is a class"):
        suggest(seat, "pitch")


def test_class_names_weight_candidates_of_texts(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner))
    folder = topic_encoder(home)
    names = {"birds": "animals", "ships": "voyage", "music": "symphony"}
    tokenizer = (folder / "tokenizer.json").read_text()
    for name, word in names.items():  # the model knows the classes by their names
        tokenizer = tokenizer.replace(f'"{word}"', f'"{name}"')
    (folder / "tokenizer.json").write_text(tokenizer)
    found = suggest(seat, "topics")
    assert (found.rows, found.weighed, found.outside) == (60, 60, 0)
    with opened(home, owner, seat.project_id or 0) as learner:
        classes = learner.table.classes
    assert [classes[place] for place in weights_of(seat).argmax(axis=1)] == text_frame()["truth"].tolist()
    assert weights_of(seat).max() == 1


def test_non_commercial_licence_must_be_accepted(home: Home, owner: int) -> None:
    seat = alike_project(home, owner, shown="sound")
    pitch_classifier(home, "\n".join(NAMES), "birdnet24")
    with pytest.raises(EncoderError, match=r"BirdNET 2.4 may not be used commercially .*--non-commercial"):
        suggest(seat, "birdnet24")
    assert suggest(seat, "birdnet24", non_commercial=True).rows == 130


def test_impossible_suggestion_is_reported(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = alike_project(home, owner, shown="sound")
    with pytest.raises(EncoderError, match="No encoder is called 'pitch'"):
        suggest(seat, "pitch")
    with pytest.raises(EncoderError, match=r"BirdNET 2.4 is not verified.*put a folder of your own into"):
        suggest(seat, "birdnet24")  # no consent is needed for an encoder that is not available
    pitch_classifier(home, "\n".join(NAMES))
    with pytest.raises(EncoderError, match="No row has a recording to encode"):
        suggest(alike_project(home, owner, "numbers", shown="numbers"), "pitch")
    with pytest.raises(EncoderError, match="this project asks for each label"):
        suggest(Seat(home, owner, vector_project(home, owner)), "pitch")
    load = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name)
        return load(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(EncoderError, match=r"need ONNX Runtime, which is not installed. Fix: pip install"):
        suggest(seat, "pitch")


def test_names_are_compared_without_case_and_underscores() -> None:
    labels = ("Turdus merula_Eurasian Blackbird", "card_arrival", "Noise")
    classes = ("eurasian blackbird", "Card arrival", "Wren")
    assert suggesting._places(labels, classes) == {"eurasian blackbird": 0, "Card arrival": 1}
