"""Encoders of a few hundred bytes, made by `onnx.helper`: their outputs are known by arithmetic."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
Side = str | int


def encoder(folder: Path, about: dict[str, Any], model: bytes) -> Path:
    """The folder, with these two files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "encoder.json").write_text(json.dumps(about))
    (folder / "model.onnx").write_bytes(model)
    return folder


def made(
    nodes: Sequence[Any],
    inputs: dict[str, tuple[int, Sequence[Side]]],
    outputs: dict[str, Sequence[Side]],
    constants: dict[str, Any] | None = None,
) -> bytes:
    """A model with these nodes. inputs : type and sides      outputs : sides, of float32"""
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, sides) for name, (kind, sides) in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, sides) for name, sides in outputs.items()],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in (constants or {}).items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def mean_color(size: int = 4, *, last: bool = False, batch: Side = "n") -> bytes:
    """The mean of each colour of an image."""
    sides = (batch, size, size, 3) if last else (batch, 3, size, size)
    axes = np.array([1, 2] if last else [2, 3])
    return made(
        [helper.make_node("ReduceMean", ["x", "axes"], ["y"], keepdims=0)],
        {"x": (FLOAT, sides)},
        {"y": (batch, 3)},
        {"axes": axes},
    )


def energy(samples: int, *, channel: bool = False) -> bytes:
    """The sum and the sum of the squares of a sound."""
    axes = np.array([1, 2] if channel else [1])
    return made(
        [
            helper.make_node("ReduceSum", ["x", "axes"], ["s"], keepdims=0),
            helper.make_node("ReduceSumSquare", ["x", "axes"], ["q"], keepdims=0),
            helper.make_node("Unsqueeze", ["s", "one"], ["s1"]),
            helper.make_node("Unsqueeze", ["q", "one"], ["q1"]),
            helper.make_node("Concat", ["s1", "q1"], ["y"], axis=1),
        ],
        {"x": (FLOAT, ("n", 1, samples) if channel else ("n", samples))},
        {"y": ("n", 2)},
        {"axes": axes, "one": np.array([1])},
    )


def tokens(*names: str, width: int = 2, length: Side = "t") -> bytes:
    """For every token its number, and its number squared, as (n, t, 2); other inputs are added, times 0."""
    names = names or ("input_ids", "attention_mask")
    nodes = [
        helper.make_node("Cast", ["input_ids"], ["f"], to=FLOAT),
        helper.make_node("Unsqueeze", ["f", "last"], ["a"]),
        helper.make_node("Mul", ["a", "a"], ["b"]),
        helper.make_node("Concat", ["a", "b"], ["y"], axis=2),
    ]
    return made(
        nodes, dict.fromkeys(names, (INT64, ("n", length))), {"y": ("n", length, width)}, {"last": np.array([2])}
    )


def words_of(*labels: str, sides: Sequence[Side] = ("n",)) -> bytes:
    """A model of texts: 1 at the place of each of these labels that the text equals, as (n, labels)."""
    nodes = [
        helper.make_node("Reshape", ["x", "column"], ["r"]),
        helper.make_node(
            "LabelEncoder",
            ["r"],
            ["k"],
            domain="ai.onnx.ml",
            keys_strings=list(labels),
            values_floats=[float(place + 1) for place in range(len(labels))],
            default_float=0.0,
        ),
        helper.make_node("Equal", ["k", "places"], ["e"]),
        helper.make_node("Cast", ["e"], ["y"], to=FLOAT),
    ]
    graph = helper.make_graph(
        nodes,
        "words",
        [helper.make_tensor_value_info("x", STRING, sides)],
        [helper.make_tensor_value_info("y", FLOAT, ("n", len(labels)))],
        [
            numpy_helper.from_array(np.array([-1, 1]), "column"),
            numpy_helper.from_array(np.arange(1, len(labels) + 1, dtype=np.float32), "places"),
        ],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
