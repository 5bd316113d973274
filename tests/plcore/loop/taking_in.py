"""Apply entries to several learners alike, and round-trip arrays through a file, for both kinds of project."""

from __future__ import annotations

import io

import numpy as np

from plcore.loop import AnswerError


def take_in(learners, entry, taken):
    """Apply one entry to all these learners, which must accept or refuse it alike; if accepted, add it to taken.

    Returns whether it was."""
    refused = []
    for learner in learners:
        try:
            learner.apply(entry)
        except AnswerError as error:
            refused.append(str(error))
    assert refused in ([], refused[:1] * len(learners))  # all learners must refuse with the same message
    if not refused:
        taken.append(entry)
    return not refused


def stored(arrays):
    """Return these arrays after a round trip through a file without pickle."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as found:
        return dict(found)
