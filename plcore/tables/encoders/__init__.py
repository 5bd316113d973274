"""Encoders of the owner's own: a folder with an ONNX model of images, texts or sounds makes a vector of each row."""

from __future__ import annotations

from plcore.tables.encoders.description import DESCRIPTION, MODEL, Description, EncoderError, read_description
from plcore.tables.encoders.encoding import Encoded, Encoder, Key, ModelInputs, Take, taken

__all__ = [
    "DESCRIPTION",
    "MODEL",
    "Description",
    "Encoded",
    "Encoder",
    "EncoderError",
    "Key",
    "ModelInputs",
    "Take",
    "read_description",
    "taken",
]
