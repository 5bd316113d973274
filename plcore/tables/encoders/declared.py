"""Declarations of encoders by plug-ins: functions of other distributions, which turn texts, images or sounds into
vectors. To list them loads no library.

Each counts as a folder "plugin-NAME" next to those with an ONNX model, which need not be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from plcore.arrays.plugins import PREFIX, Plugin, check_declared, find_plugins
from plcore.tables.encoders.description import Description, described, read_description

ENCODER_GROUP = "winnow.encoders"
"""Group of the entry points."""
_OF_A_MODEL = frozenset(("output", "pooling", "tokenizer", "tokens", "lowercase", "prefix", "classes", "activation"))


@dataclass(frozen=True)
class EncoderPlugin:
    """Declaration of an encoder: a function that turns items of one kind into vectors.

    words : what people read: the name, a colon, how it makes vectors
    encode : "package.module:name" of a function that takes 1 to AT_ONCE items and returns (n, d) numbers. Items are a
        list of texts; images (n, height, width, 3); or windows of sounds (n, rate * seconds). The vector of an item
        must depend on it alone, because vectors are kept
    about : the kind of items and how they are prepared, as in `encoder.json`, such as {"kind": "image", "size": 96}
    Raises ValueError for a wrong one.
    """

    words: str
    encode: str
    about: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_declared(self.words, "how it makes vectors", encode=self.encode)
        if wrong := sorted(_OF_A_MODEL & set(self.about)):
            raise ValueError(f"about must not have {wrong[0]!r}, which is for ONNX models.")
        described(self.about)


@cache
def encoder_plugins() -> tuple[Plugin[EncoderPlugin], ...]:
    """Return every plug-in of an encoder, as installed at the first call; broken ones too."""
    return find_plugins(ENCODER_GROUP, EncoderPlugin)


def plugin_at(folder: Path) -> tuple[Plugin[EncoderPlugin], EncoderPlugin] | None:
    """Return the plug-in that this folder stands for, with its declaration; None if it is another folder."""
    if folder.name.startswith(PREFIX) and not folder.is_dir():
        for one in encoder_plugins():
            if one.declared is not None and PREFIX + one.name == folder.name:
                return one, one.declared
    return None


def describe(folder: Path) -> Description:
    """Return the description of an encoder: that of a plug-in, or `read_description`. Raises EncoderError."""
    plugged = plugin_at(folder)
    return read_description(folder) if plugged is None else described(plugged[1].about)
