"""Apply entries to several learners alike, and store arrays, for both kinds of project."""

from __future__ import annotations

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
    """Return copies of these arrays, as a file without pickle would."""
    found = {name: np.array(array) for name, array in arrays.items()}
    assert not [name for name, array in found.items() if array.dtype.hasobject], "such a file stores no objects"
    return found
