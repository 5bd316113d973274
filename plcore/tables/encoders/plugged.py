"""Encoders of plug-ins (`.declared`): their functions, in place of an ONNX model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plcore.arrays.plugins import PluginError, import_part
from plcore.arrays.types import AnyArray
from plcore.tables.encoders.description import EncoderError
from plcore.tables.encoders.model import AT_ONCE
from plcore.tables.features.embeddings import MAX_WIDTH, Dense

_ITEMS = "items"


class PluggedModel:
    """The function of a plug-in, used instead of an `OnnxModel`; only `run` imports it.

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
