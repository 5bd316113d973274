"""Several annotators: votes, inter-annotator agreement, reliability, and detection of guessing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.crowd.agreement import LEAST_ROWS, Agreement, cohen_kappa, gwet_ac1, krippendorff_alpha, set_distances
    from plcore.crowd.dawid_skene import DawidSkene
    from plcore.crowd.guessing import (
        GuessCheck,
        PaceCheck,
        check_guessing,
        least_honest,
        probabilities_by_answers,
        too_fast,
        who_is_guessing,
    )
    from plcore.crowd.votes import CrowdVotes, majority, read_votes, votes_by_label
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "LEAST_ROWS",
    "Agreement",
    "CrowdVotes",
    "DawidSkene",
    "GuessCheck",
    "PaceCheck",
    "check_guessing",
    "cohen_kappa",
    "gwet_ac1",
    "krippendorff_alpha",
    "least_honest",
    "majority",
    "probabilities_by_answers",
    "read_votes",
    "set_distances",
    "too_fast",
    "votes_by_label",
    "who_is_guessing",
]
