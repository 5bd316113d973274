"""ONNX models: opened safely, run, pooled; known answers by arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from plcore.tables.encoders import EncoderError
from plcore.tables.encoders.model import AT_ONCE, OnnxModel
from plcore.tables.features.embeddings import MAX_WIDTH
from tests.plcore.tables.encoders.models import FLOAT, encoder, made, mean_color, tokens


def model(folder: Path, data: bytes, output: str | None = None) -> OnnxModel:
    return OnnxModel(encoder(folder, {}, data), output)


def passing(sides: tuple[object, ...], node: str = "Identity") -> bytes:
    """An identity model."""
    return made([helper.make_node(node, ["x"], ["y"])], {"x": (FLOAT, sides)}, {"y": sides})


def test_inputs_of_the_model_are_known(tmp_path: Path) -> None:
    one = model(tmp_path, mean_color(8))
    assert (one.inputs, one.types, one.at_once) == ({"x": (None, 3, 8, 8)}, {"x": np.float32}, AT_ONCE)
    two = model(tmp_path, tokens())
    assert two.inputs == {"input_ids": (None, None), "attention_mask": (None, None)}
    assert two.types["input_ids"] is np.int64


def test_model_gives_one_vector_per_row(tmp_path: Path) -> None:
    given = np.random.default_rng(0).random((5, 3, 4, 4))
    found = model(tmp_path, mean_color()).run({"x": given})
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, given.mean(axis=(2, 3)), rtol=1e-6)


def test_model_with_a_fixed_batch_size_always_gets_full_batches(tmp_path: Path) -> None:
    fixed = model(tmp_path, mean_color(batch=4))
    assert fixed.at_once == 4
    given = np.random.default_rng(1).random((3, 3, 4, 4))
    np.testing.assert_allclose(fixed.run({"x": given}), given.mean(axis=(2, 3)), rtol=1e-6)


def test_hidden_states_are_averaged(tmp_path: Path) -> None:
    given = np.random.default_rng(2).random((3, 7, 5))
    found = model(tmp_path, passing(("n", "t", 5))).run({"x": given})
    np.testing.assert_allclose(found, given.mean(axis=1), rtol=1e-6)


def test_masked_tokens_do_not_count(tmp_path: Path) -> None:
    ids = np.array([[3, 5, 99], [4, 99, 99], [99, 99, 99]])
    mask = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    found = model(tmp_path, tokens()).run({"input_ids": ids, "attention_mask": mask})
    np.testing.assert_array_equal(found, [[4, 17], [4, 16], [0, 0]])


def test_output_is_selected_by_name(tmp_path: Path) -> None:
    nodes = [helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Abs", ["x"], ["b"])]
    data = made(nodes, {"x": (FLOAT, ("n", 2))}, {"a": ("n", 2), "b": ("n", 2)})
    given = {"x": np.array([[1.0, -2.0]])}
    assert model(tmp_path, data).run(given).tolist() == [[-1, 2]]
    assert model(tmp_path, data, "b").run(given).tolist() == [[1, 2]]
    with pytest.raises(EncoderError, match=r"has no output 'c'. Fix: name one of 'a', 'b'"):
        model(tmp_path, data, "c")


@pytest.mark.parametrize("sides", [("n",), ("n", 2, 2, 2)])
def test_unsupported_outputs_are_refused(tmp_path: Path, sides: tuple[object, ...]) -> None:
    shape = (3, *(2 for _ in sides[1:]))
    with pytest.raises(EncoderError, match=r"The output 'y' of model.onnx is float32 \(3.* for 3 rows"):
        model(tmp_path, passing(sides)).run({"x": np.zeros(shape)})


def test_too_wide_outputs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=f"gives {MAX_WIDTH + 1:,} numbers a row; at most {MAX_WIDTH:,}"):
        model(tmp_path, passing(("n", "d"))).run({"x": np.zeros((1, MAX_WIDTH + 1))})


def test_failing_model_is_reported_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"model.onnx failed: .* Fix: correct encoder.json"):
        model(tmp_path, mean_color(4)).run({"x": np.zeros((1, 3, 5, 5))})


def test_junk_and_custom_operators_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"cannot be opened: .*Protobuf parsing failed"):
        model(tmp_path, b"junk")
    graph = helper.make_graph(
        [helper.make_node("Foo", ["x"], ["y"], domain="mine")],
        "own",
        [helper.make_tensor_value_info("x", FLOAT, ("n", 2))],
        [helper.make_tensor_value_info("y", FLOAT, ("n", 2))],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("mine", 1)]
    own = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    with pytest.raises(EncoderError, match="is not a registered function/op"):
        model(tmp_path, own)


def test_unsupported_input_types_are_refused(tmp_path: Path) -> None:
    node = helper.make_node("Cast", ["x"], ["y"], to=FLOAT)
    data = made([node], {"x": (TensorProto.BOOL, ("n", 2))}, {"y": ("n", 2)})
    with pytest.raises(EncoderError, match=r"takes tensor\(bool\) as 'x'"):
        model(tmp_path, data)


@pytest.mark.parametrize("place", ["../weights.bin", "link.bin", "absolute"])
def test_weights_outside_the_folder_are_never_read(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "weights.bin").write_bytes(np.ones((2, 2), np.float32).tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    where = str(tmp_path / "weights.bin") if place == "absolute" else place
    with pytest.raises(EncoderError, match="cannot be opened"):
        model(folder, with_weights_at(where))


def test_weights_inside_the_folder_are_read(tmp_path: Path) -> None:
    weights = np.array([[1, 2], [3, 4]], np.float32)
    (tmp_path / "weights.bin").write_bytes(weights.tobytes())
    found = model(tmp_path, with_weights_at("weights.bin")).run({"x": np.array([[1, 1], [1, 0]])})
    assert found.tolist() == [[4, 6], [1, 2]]


def with_weights_at(place: str) -> bytes:
    """x times a matrix that is in a file."""
    weights = TensorProto(name="w", data_type=FLOAT, dims=[2, 2], data_location=TensorProto.EXTERNAL)
    entry = weights.external_data.add()
    entry.key, entry.value = "location", place
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "outside",
        [helper.make_tensor_value_info("x", FLOAT, ("n", 2))],
        [helper.make_tensor_value_info("y", FLOAT, ("n", 2))],
        [weights],
    )
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def test_model_symlinked_from_outside_its_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (tmp_path / "model.onnx").write_bytes(mean_color())
    (folder / "model.onnx").symlink_to(tmp_path / "model.onnx")
    with pytest.raises(EncoderError, match="leads out of the encoder's folder"):
        OnnxModel(folder)


def test_missing_onnxruntime_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(EncoderError, match=r"pip install 'plcore\[onnx\]'"):
        model(tmp_path, mean_color())
