"""Write small ONNX files without the package `onnx`: they are a few Protocol Buffers messages.

Sources: https://protobuf.dev/programming-guides/encoding, and for the field numbers
https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from plcore.arrays.types import AnyArray

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
