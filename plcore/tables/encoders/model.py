"""An ONNX model of the owner's own: opened on one thread of the processor, its first output made a vector a row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plcore.arrays.types import AnyArray
from plcore.arrays.words import listed
from plcore.tables.encoders.description import MODEL, EncoderError, Pooling, inside
from plcore.tables.features.embeddings import MAX_WIDTH, Dense

AT_ONCE = 16
"""Rows that a model takes in together, if it does not say how many."""
_NUMBERS = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
_TEXT = "tensor(string)"
_WHOLE = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INSTALL = (
    "Encoders need ONNX Runtime, which is not installed. Fix: pip install 'plcore[onnx]', then try again."
)


class OnnxModel:
    """A model and what it takes in.

    Neither providers but the processor nor libraries of custom operators are loaded, and ONNX Runtime itself refuses
    weights that are outside the model's folder.

    Attributes
    ----------
    inputs : shape of each input by name; sides that may be of any length are None
    types : of each input, a NumPy type; object for text
    at_once : how many rows it takes together; it always gets as many
    """

    def __init__(self, folder: Path, output: str | None = None, pooling: Pooling = "mean") -> None:
        """output, pooling : as in `Description`. Raises EncoderError if there is no ONNX Runtime, or it cannot run the
        model."""
        try:
            import onnxruntime
        except ImportError as error:
            raise EncoderError(_INSTALL) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # what matters is raised
        path = inside(folder, MODEL)
        try:
            self._session = onnxruntime.InferenceSession(
                str(path.resolve()), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # of ONNX Runtime's own, of many kinds
            raise EncoderError(f"{MODEL} cannot be opened: {_said(error)}. Fix: export it again.") from error
        self.inputs: dict[str, tuple[int | None, ...]] = {}
        self.types: dict[str, Any] = {}
        for one in self._session.get_inputs():
            kind = {**_NUMBERS, **_WHOLE, _TEXT: object}.get(one.type)
            if kind is None:
                raise EncoderError(f"{MODEL} takes {one.type} as {one.name!r}. Fix: give it numbers or text.")
            self.inputs[one.name] = tuple(side if isinstance(side, int) else None for side in one.shape)
            self.types[one.name] = kind
        outputs = [one.name for one in self._session.get_outputs()]
        if output is not None and output not in outputs:
            raise EncoderError(f"{MODEL} has no output {output!r}. Fix: name one of {listed(outputs)}.")
        self._output = output or outputs[0]
        self._pooling = pooling
        first = {shape[0] for shape in self.inputs.values() if shape and shape[0] is not None}
        self.at_once = min(first, default=AT_ONCE)

    def run(self, given: Mapping[str, AnyArray]) -> Dense:
        """(n, d) the vectors of n rows, at most `at_once`. given : by input, (n, ...)

        An output of three sides (n, tokens or moments, d) becomes its mean over the second, where tokens that
        `attention_mask` leaves out do not count; or its first, where `pooling` says so. Raises EncoderError: the model
        fails, or its output has other sides.
        """
        n = len(next(iter(given.values())))
        missing = self.at_once - n
        full = {
            name: np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)])
            if missing and self._is_fixed
            else rows
            for name, rows in given.items()
        }
        try:
            found = self._session.run(
                [self._output], {name: full[name].astype(kind) for name, kind in self.types.items()}
            )[0]
        except Exception as error:
            raise EncoderError(f"{MODEL} failed: {_said(error)}. Fix: correct encoder.json.") from error
        return self._pooled(found[:n], full, n)

    @property
    def _is_fixed(self) -> bool:
        return any(shape and shape[0] is not None for shape in self.inputs.values())

    def _pooled(self, found: Any, given: Mapping[str, AnyArray], n: int) -> Dense:
        is_numbers = isinstance(found, np.ndarray) and found.dtype.kind in "fiu"
        if not is_numbers or len(found) != n or found.ndim not in (2, 3) or 0 in found.shape:
            shape = f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else type(found).__name__
            raise EncoderError(
                f"The output {self._output!r} of {MODEL} is {shape} for {n} rows. Fix: name one of numbers, (rows, d) "
                "or (rows, tokens or moments, d), as 'output' in encoder.json."
            )
        if found.shape[-1] > MAX_WIDTH:
            message = f"{MODEL} gives {found.shape[-1]:,} numbers a row; at most {MAX_WIDTH:,} are taken."
            raise EncoderError(f"{message} Fix: name another output.")
        if found.ndim == 3 and self._pooling == "first":
            found = found[:, 0]
        values = found.astype(np.float64)
        if found.ndim == 3:
            mask = given.get("attention_mask")
            counts = np.ones(found.shape[:2])
            if mask is not None and mask.shape[1] == found.shape[1]:
                counts = mask[:n].astype(np.float64)
            weights = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
            # Of moments that do not count, what is not finite does not count either.
            values = np.einsum("nt,ntd->nd", weights, np.where(counts[:, :, None] > 0, values, 0.0))
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float32)


def _said(error: Exception) -> str:
    """Message of ONNX Runtime, without its number, shortened."""
    return " ".join(str(error).split(" : ")[-1].split()).rstrip(".")[:300]
