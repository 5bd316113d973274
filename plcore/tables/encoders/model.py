"""The owner's own ONNX model: runs on one CPU thread and returns a vector per row."""

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
"""Rows per batch, if the model does not fix the number."""
_NUMBERS = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(double)": np.float64}
_TEXT = "tensor(string)"
_WHOLE = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_NO_MEMORY = ("Failed to allocate memory", "bad allocation", "bad_alloc")
_INSTALL = "Encoders need ONNX Runtime, which is not installed. Fix: pip install 'plcore[onnx]', then try again."


class OnnxModel:
    """A model and its inputs.

    Only the CPU provider is used, and no libraries of custom operators are loaded. ONNX Runtime itself refuses weights
    outside the model's folder.

    Attributes
    ----------
    inputs : shape of each input by name; sides of any length are None
    types : NumPy type of each input; object for text
    at_once : rows per batch; smaller batches are padded if the model fixes the number
    """

    def __init__(self, folder: Path, output: str | None = None, pooling: Pooling = "mean") -> None:
        """Open the model. Raises EncoderError if ONNX Runtime is missing or cannot run the model.

        output, pooling : as in `Description`
        """
        try:
            import onnxruntime
        except ImportError as error:
            raise EncoderError(_INSTALL) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised anyway
        path = inside(folder, MODEL)
        try:
            self._session = onnxruntime.InferenceSession(
                str(path.resolve()), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime raises many types of its own
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
        """Return the vectors (n, d) of n rows, at most `at_once`. given : inputs by name, (n, ...)

        An output (n, tokens or time steps, d) is reduced to its mean over the second side, without tokens that
        `attention_mask` excludes; or to its first, depending on `pooling`. Raises EncoderError if the model fails, or
        its output has another shape.
        """
        n = len(next(iter(given.values())))
        missing = self.at_once - n
        full = {
            name: np.concatenate([rows, np.repeat(rows[-1:], missing, axis=0)]) if missing and self._is_fixed else rows
            for name, rows in given.items()
        }
        try:
            found = self._session.run(
                [self._output], {name: full[name].astype(kind) for name, kind in self.types.items()}
            )[0]
        except Exception as error:
            raise EncoderError(
                f"{MODEL} failed: {_said(error)}. Fix: correct encoder.json, or export it again."
            ) from error
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
            message = f"{MODEL} gives {found.shape[-1]:,} numbers a row; at most {MAX_WIDTH:,} are allowed."
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
            # Excluded time steps must not count even if they are not finite.
            values = np.einsum("nt,ntd->nd", weights, np.where(counts[:, :, None] > 0, values, 0.0))
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float32)


def _said(error: Exception) -> str:
    """Shorten the message of ONNX Runtime, without its error number."""
    if isinstance(error, MemoryError) or any(part in str(error) for part in _NO_MEMORY):
        return "it needs more memory than there is"
    return " ".join(str(error).split(" : ")[-1].split()).rstrip(".")[:300]
