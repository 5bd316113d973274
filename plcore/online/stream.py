"""Streams: chunks that come one after the other and need not fit into memory together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def learn_stream(
    estimator: Any,
    chunks: Iterable[tuple[Any, Any]],
    classes: Any = None,
    progress: Callable[[int, int], object] | None = None,
) -> int:
    """Learn a stream in one pass with `partial_fit`; one chunk is held at a time. Returns the number of rows.

    chunks : any iterable of (X (k, d), y), k at least 1, as `partial_fit` of the estimator takes them
    classes : (m,) passed with the first chunk, None where y are candidate matrices or the estimator has its classes
    progress : called after each chunk as progress(rows so far, chunks so far); what it raises ends the stream.
        `estimator.mistakes_ / estimator.rounds_` is the running ambiguous loss of an online learner
    What is wrong with a chunk is raised as `partial_fit` raises it, with the chunk's number noted; the chunks before
    stay learnt.
    """
    rows = 0
    number = 0
    for X, y in chunks:  # enumerate would keep the chunk before in the tuple it uses again
        number += 1  # noqa: SIM113
        try:
            if number == 1 and classes is not None:
                estimator.partial_fit(X, y, classes=classes)
            else:
                estimator.partial_fit(X, y)
        except ValueError as error:
            error.add_note(
                f"In chunk {number} of the stream, which begins with its row {rows} (counted from 0)."
            )
            raise
        rows += X.shape[0] if hasattr(X, "shape") else len(X)
        if progress is not None:
            progress(rows, number)
        del X, y  # or two chunks would be held while the next is made
    return rows
