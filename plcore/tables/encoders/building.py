"""Convert published weights into `model.onnx`: three architectures, node by node.

No code from a file is executed. Safetensors files are a JSON header and arrays; the pickle instructions of older
PyTorch files are parsed, not run.
"""

from __future__ import annotations

import io
import json
import math
import pickletools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plcore.arrays.types import AnyArray
from plcore.tables.encoders.description import MODEL, EncoderError

TOKENIZER = "tokenizer.json"
Weights = Mapping[str, AnyArray]
_DTYPES: Mapping[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "I64": np.dtype("<i8")}
_MOST = 100_000_000
"""Maximum header size of a safetensors file in bytes, as its format specifies."""


def build(builder: str, source: Mapping[str, Path], folder: Path) -> None:
    """Write `model.onnx`, and for texts `tokenizer.json`, into a folder.

    builder : a key of BUILDERS      source : files by role: "weights", and for texts "tokenizer"
    Raises EncoderError if a file does not suit the builder, KeyError if one is missing.
    """
    try:
        _write(builder, source, folder)
    except (ValueError, LookupError, struct.error) as error:
        raise EncoderError(
            f"The weights are not those of a {builder} ({type(error).__name__}: {str(error)[:200]}). "
            "Fix: give the files that the catalogue names."
        ) from error


def _write(builder: str, source: Mapping[str, Path], folder: Path) -> None:
    read, made = BUILDERS[builder]
    with (folder / MODEL).open("wb") as file:
        file.writelines(made(read(source["weights"])))
    if "tokenizer" in source:
        told = source["tokenizer"].read_text("utf-8")
        if builder == "token-mean":  # the original model adds no special tokens
            told = json.dumps(json.loads(told) | {"post_processor": None}, ensure_ascii=False)
        (folder / TOKENIZER).write_text(told, "utf-8")


def read_safetensors(path: Path) -> dict[str, AnyArray]:
    """Read a file's arrays by name (https://huggingface.co/docs/safetensors). Raises ValueError, LookupError."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    if length > min(_MOST, len(data)):
        raise ValueError("its head is longer than the file")
    head: dict[str, Any] = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    found: dict[str, AnyArray] = {}
    for name, told in head.items():
        if name == "__metadata__":
            continue
        begin, end = told["data_offsets"]
        found[name] = np.frombuffer(body[begin:end], _DTYPES[told["dtype"]]).reshape(told["shape"])
    return found


def read_pytorch(path: Path) -> dict[str, AnyArray]:
    """Read the float32 arrays by name from a state dictionary written by PyTorch before 1.6.

    Such a file has four pickles (magic number, version, system, the dictionary), a pickle with the keys of the
    storages, and the storages in that order, each after its length. Only names and numbers are read from the
    dictionary's instructions. Raises ValueError, LookupError, struct.error.
    """
    data = io.BytesIO(path.read_bytes())
    for _ in range(3):
        _instructions(data)
    tensors = _tensors(_instructions(data))
    keys = [str(told) for code, told in _instructions(data) if code.endswith("BINUNICODE")]
    by_key = {tensor.key: tensor for tensor in tensors}
    found: dict[str, AnyArray] = {}
    for key in keys:
        (length,) = struct.unpack("<q", data.read(8))
        tensor = by_key[key]
        values = data.read(length * tensor.bytes_each)
        if tensor.bytes_each == 4:
            flat = np.frombuffer(values, "<f4")
            if max(1, math.prod(tensor.sides)) != length:
                raise ValueError(f"{tensor.name} has {length} numbers, but its shape is {tensor.sides}")
            # In TensorFlow's memory order, the first side has the longest stride.
            order = sorted(range(len(tensor.sides)), key=lambda side: -tensor.steps[side])
            laid = flat.reshape([tensor.sides[side] for side in order])
            found[tensor.name] = laid.transpose(np.argsort(order))
    if data.read(1):
        raise ValueError("there is more behind its last array")
    return found


class _Tensor(NamedTuple):
    """A tensor of the state dictionary. key : of its storage      steps : stride of each side"""

    name: str
    key: str
    bytes_each: int
    sides: tuple[int, ...]
    steps: tuple[int, ...]


def _instructions(data: io.BytesIO) -> list[tuple[str, object]]:
    """Return the instructions of the next pickle, which are parsed but not executed."""
    return [(code.name, told) for code, told, _ in pickletools.genops(data)]


def _tensors(told: list[tuple[str, object]]) -> list[_Tensor]:
    """Find the tensors: name and key of a tensor precede its storage (BINPERSID); an offset and two tuples follow."""
    found = []
    texts: list[str] = []
    for place, (code, value) in enumerate(told):
        if code.endswith("BINUNICODE") and value not in ("storage", "cpu"):
            texts.append(str(value))
        if code == "BINPERSID":
            name, key = texts[-2:]
            sides, rest = _whole_numbers(told, place + 2)
            steps, _ = _whole_numbers(told, rest)
            each = 8 if name.endswith("num_batches_tracked") else 4
            found.append(_Tensor(name, key, each, sides, steps))
    return found


def _whole_numbers(told: list[tuple[str, object]], place: int) -> tuple[tuple[int, ...], int]:
    """Return the integer tuple that starts at `place`, and the position after it."""
    found: list[int] = []
    while "TUPLE" not in told[place][0]:
        if isinstance(value := told[place][1], int) and told[place][0].startswith("BININT"):
            found.append(value)
        place += 1
    return tuple(found), place + 1


# ONNX files without the package `onnx`: they are a few Protocol Buffers messages.
# Sources: https://protobuf.dev/programming-guides/encoding, and for the field numbers
# https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.

OPSET, _IR_VERSION = 20, 9
_TYPES = {"float32": 1, "int64": 7, "float16": 10}
_FLOAT, _INT, _STRING, _INTS = 1, 2, 3, 7  # attribute types
Attribute = float | int | str | Sequence[int]
Piece = bytes | memoryview


class OnnxGraph:
    """Nodes and constants in the order in which they are added; `save` returns the file's bytes in pieces.

    Contiguous arrays are not copied: weights take most of the available memory.
    """

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: dict[str, list[Piece]] = {}

    def constant(self, name: str, values: AnyArray) -> str:
        """Add an array under a unique name, and return the name."""
        array = np.ascontiguousarray(values, np.dtype(values.dtype).newbyteorder("<"))
        head = b"".join(_number(1, side) for side in array.shape)
        told = head + _number(2, _TYPES[array.dtype.name]) + _text(8, name)
        self._constants[name] = [*_framed(5, [told, *_framed(9, [array.reshape(-1).view(np.uint8).data])])]
        return name

    def node(self, operator: str, inputs: Sequence[str], **attributes: Attribute) -> str:
        """Add an operator, and return the name of its single output."""
        output = f"v{len(self._nodes)}"
        told = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operator)
        self._nodes.append(told + b"".join(_bytes(5, _attribute(*one)) for one in attributes.items()))
        return output

    def save(
        self, inputs: Mapping[str, tuple[str, Sequence[str | int]]], output: str, sides: Sequence[str | int]
    ) -> list[Piece]:
        """Return the bytes of the file in pieces.

        inputs : type and sides by name; a side of any length has a name      output, sides : of the float32 output
        """
        graph: list[Piece] = [
            b"".join(_bytes(1, one) for one in self._nodes),
            _text(2, "encoder"),
            *(piece for pieces in self._constants.values() for piece in pieces),
            b"".join(_bytes(11, _value(name, *told)) for name, told in inputs.items()),
            _bytes(12, _value(output, "float32", sides)),
        ]
        opset = _bytes(8, _text(1, "") + _number(2, OPSET))
        return [_number(1, _IR_VERSION), *_framed(7, graph), opset]


def _attribute(name: str, value: Attribute) -> bytes:
    told = _text(1, name)
    if isinstance(value, float):
        return told + _key(2, 5) + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return told + _number(3, value) + _number(20, _INT)
    if isinstance(value, str):
        return told + _text(4, value) + _number(20, _STRING)
    return told + b"".join(_number(8, one) for one in value) + _number(20, _INTS)


def _value(name: str, kind: str, sides: Iterable[str | int]) -> bytes:
    shape = b"".join(_bytes(1, _text(2, side) if isinstance(side, str) else _number(1, side)) for side in sides)
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, _TYPES[kind]) + _bytes(2, shape)))


def _framed(field: int, pieces: Sequence[Piece]) -> list[Piece]:
    """Frame a message made of these pieces."""
    return [_key(field, 2) + _varint(sum(map(len, pieces))), *pieces]


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value & 0xFFFFFFFFFFFFFFFF)


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _bytes(field: int, value: bytes) -> bytes:
    return _key(field, 2) + _varint(len(value)) + value


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def token_mean(weights: Weights) -> list[Piece]:
    """Build a model that looks up a vector per token (n, t, d); a text's vector is their mean. It has a single Gather.

    weights : one matrix (tokens, d)
    """
    ((_, table),) = weights.items()
    graph = OnnxGraph()
    made = graph.node("Gather", [graph.constant("table", table), "input_ids"])
    output = graph.node("Cast", [made], to=1)
    return graph.save({"input_ids": ("int64", ("n", "t"))}, output, ("n", "t", table.shape[1]))


def bert(weights: Weights) -> list[Piece]:
    """Build a BERT that returns the last hidden states (n, t, d), with exact GELU and heads of size 32, such as MiniLM.

    Source: Devlin et al. 2019; weights named as in Hugging Face's `BertModel`.
    """
    graph = OnnxGraph()
    width = weights["embeddings.word_embeddings.weight"].shape[1]
    heads, epsilon = width // 32, 1e-12

    def of(name: str) -> str:
        return graph.constant(name, weights[name].astype(np.float32, copy=False))

    def linear(x: str, name: str) -> str:
        matrix = graph.constant(f"{name}.weight", weights[f"{name}.weight"].astype(np.float32, copy=False).T)
        return graph.node("Add", [graph.node("MatMul", [x, matrix]), of(f"{name}.bias")])

    def normed(x: str, name: str) -> str:
        inputs = [x, of(f"{name}.weight"), of(f"{name}.bias")]
        return graph.node("LayerNormalization", inputs, axis=-1, epsilon=epsilon)

    def whole(name: str, *values: int) -> str:
        return graph.constant(name, np.array(values, dtype=np.int64))

    zero, one, split = whole("zero", 0), whole("one", 1), whole("split", 0, 0, heads, 32)
    joined, ends = whole("joined", 0, 0, width), whole("ends", 1, 2)
    length = graph.node("Slice", [graph.node("Shape", ["input_ids"]), one, whole("two", 2)])
    word = graph.node("Gather", [of("embeddings.word_embeddings.weight"), "input_ids"])
    place = graph.node("Slice", [of("embeddings.position_embeddings.weight"), zero, length, zero])
    kind = graph.node("Slice", [of("embeddings.token_type_embeddings.weight"), zero, one, zero])
    x = graph.node("Add", [graph.node("Add", [word, place]), kind])
    x = normed(x, "embeddings.LayerNorm")
    mask = graph.node("Unsqueeze", [graph.node("Cast", ["attention_mask"], to=1), ends])
    left_out = graph.node("Sub", [mask, graph.constant("all", np.ones(1, dtype=np.float32))])
    left_out = graph.node("Mul", [left_out, graph.constant("far", np.array([1e9], dtype=np.float32))])
    scale = graph.constant("scale", np.array([32**-0.5], dtype=np.float32))
    layers = 1 + max(int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer."))
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        own = {
            part: graph.node("Reshape", [linear(x, f"{at}.attention.self.{part}"), split])
            for part in ("query", "key", "value")
        }
        query, value = (graph.node("Transpose", [own[part]], perm=(0, 2, 1, 3)) for part in ("query", "value"))
        key = graph.node("Transpose", [own["key"]], perm=(0, 2, 3, 1))
        scores = graph.node("Mul", [graph.node("MatMul", [query, key]), scale])
        shares = graph.node("Softmax", [graph.node("Add", [scores, left_out])], axis=-1)
        mixed = graph.node("Transpose", [graph.node("MatMul", [shares, value])], perm=(0, 2, 1, 3))
        mixed = linear(graph.node("Reshape", [mixed, joined]), f"{at}.attention.output.dense")
        x = normed(graph.node("Add", [mixed, x]), f"{at}.attention.output.LayerNorm")
        wide = graph.node("Gelu", [linear(x, f"{at}.intermediate.dense")])
        x = normed(graph.node("Add", [linear(wide, f"{at}.output.dense"), x]), f"{at}.output.LayerNorm")
    tokens = ("int64", ("n", "t"))
    return graph.save({"input_ids": tokens, "attention_mask": tokens}, x, ("n", "t", width))


_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)
_KERNELS = (3, 3, 3, 5, 5, 3, 3, 3, 5, 5, 5, 5, 5, 5, 5, 3)


def efficientnet_lite0(weights: Weights) -> list[Piece]:
    """Build EfficientNet-Lite0 for images of 224 x 224, up to the features before the class layer, (n, 1280).

    Source: Tan and Le 2019, and TensorFlow's `lite` variants: ReLU6, no squeeze and excitation, TensorFlow's padding,
    and normalisation with epsilon 0.001, folded into the weights of the convolution before it.
    """
    graph = OnnxGraph()

    def convolved(x: str, name: str, norm: str, sides: tuple[int, int], stride: int = 1, *, deep: bool = False) -> str:
        """Add a convolution. sides : size of the kernel, number of output channels"""
        kernel, channels = sides
        matrix = weights[f"{name}.weight"]
        scale = weights[f"{norm}.weight"] / np.sqrt(weights[f"{norm}.running_var"] + 1e-3)
        bias = weights[f"{norm}.bias"] - weights[f"{norm}.running_mean"] * scale
        inputs = [x, graph.constant(name, matrix * scale[:, None, None, None]), graph.constant(norm, bias)]
        groups = channels if deep else 1
        return graph.node(
            "Conv", inputs, auto_pad="SAME_UPPER", group=groups, kernel_shape=(kernel,) * 2, strides=(stride,) * 2
        )

    ends = [graph.constant(name, np.array(end, dtype=np.float32)) for name, end in (("low", 0), ("high", 6))]

    def active(x: str) -> str:
        return graph.node("Clip", [x, *ends])

    x = active(convolved("image", "_conv_stem", "_bn0", (3, 32), 2))
    channels = 32
    for block, (stride, kernel) in enumerate(zip(_STRIDES, _KERNELS, strict=True)):
        at = f"_blocks.{block}"
        before, own = x, channels
        wide = len(weights[f"{at}._bn1.bias"])
        if f"{at}._expand_conv.weight" in weights:
            x = active(convolved(x, f"{at}._expand_conv", f"{at}._bn0", (1, wide)))
        x = active(convolved(x, f"{at}._depthwise_conv", f"{at}._bn1", (kernel, wide), stride, deep=True))
        channels = len(weights[f"{at}._bn2.bias"])
        x = convolved(x, f"{at}._project_conv", f"{at}._bn2", (1, channels))
        if stride == 1 and channels == own:
            x = graph.node("Add", [x, before])
    x = active(convolved(x, "_conv_head", "_bn1", (1, 1280)))
    output = graph.node("Flatten", [graph.node("GlobalAveragePool", [x])], axis=1)
    return graph.save({"image": ("float32", ("n", 3, 224, 224))}, output, ("n", 1280))


BUILDERS: Mapping[str, tuple[Callable[[Path], dict[str, AnyArray]], Callable[[Weights], list[Piece]]]] = {
    "token-mean": (read_safetensors, token_mean),
    "bert": (read_safetensors, bert),
    "efficientnet-lite0": (read_pytorch, efficientnet_lite0),
}
"""Weight reader and model builder of each architecture."""
