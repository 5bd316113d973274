"""Entries for one learner or several alike, and arrays that went through a file, for both kinds of project."""

from __future__ import annotations

import io

import numpy as np

from plcore.loop import AnswerError


def take_in(learners, entry, taken):
    """Put one entry to all these learners, which take it in or refuse it alike; applied, it is added to taken.

    Returns whether it was."""
    refused = []
    for learner in learners:
        try:
            learner.apply(entry)
        except AnswerError as error:
            refused.append(str(error))
    assert refused in ([], refused[:1] * len(learners))  # by all of them, in the same words
    if not refused:
        taken.append(entry)
    return not refused


def stored(arrays):
    """The value that a file returns of these arrays, without pickle."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as found:
        return dict(found)
