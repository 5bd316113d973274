"""Encoders of plug-ins: functions that other distributions declare, which turn texts, images or sounds into vectors.

Each counts as a folder "plugin-NAME" next to those with an ONNX model, which need not be there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from plcore.arrays.plugins import PREFIX, Plugin, PluginError, check_declared, find_plugins, import_part
from plcore.arrays.types import AnyArray
from plcore.tables.encoders.description import Description, EncoderError, described, read_description
from plcore.tables.encoders.model import AT_ONCE
from plcore.tables.features.embeddings import MAX_WIDTH, Dense

ENCODER_GROUP = "winnow.encoders"
"""Group of the entry points."""
_OF_A_MODEL = frozenset(("output", "pooling", "tokenizer", "tokens", "lowercase", "prefix", "classes", "activation"))
_ITEMS = "items"


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


class PluggedModel:
    """The function of a plug-in in place of an `OnnxModel`; only `run` imports it.

    at_once : rows per batch
    """

    at_once = AT_ONCE

    def __init__(self, reference: str) -> None:
        self._reference = reference
        self._width: int | None = None

    @staticmethod
    def prepare(items: Sequence[Any]) -> Mapping[str, AnyArray]:
        """Return the items of one batch as `run` takes them."""
        return {_ITEMS: np.array(items, dtype=object) if isinstance(items[0], str) else np.stack(items)}

    def run(self, given: Mapping[str, AnyArray]) -> Dense:
        """Return the vectors (n, d). Raises EncoderError if the function fails, or its output has another shape."""
        items = given[_ITEMS]
        try:
            function = import_part(self._reference)
            if not callable(function):
                raise TypeError("it is not a function")
            found = np.asarray(function(items.tolist() if items.dtype == object else items), dtype=np.float32)
        except MemoryError:
            raise
        except PluginError as error:
            raise EncoderError(str(error)) from error
        except Exception as error:  # code of others
            said = f"{type(error).__name__}: {error}"
            raise EncoderError(f"{self._reference} failed ({said}). Fix: ask the plug-in's author.") from error
        wide = found.shape[1] if found.ndim == 2 else 0
        if len(found) != len(items) or not 0 < wide <= MAX_WIDTH or wide != (self._width or wide):
            raise EncoderError(
                f"{self._reference} must return as many numbers for each of {len(items)} items, at most {MAX_WIDTH:,}. "
                f"Got shape {found.shape}. Fix: ask the plug-in's author."
            )
        self._width = wide
        return found
