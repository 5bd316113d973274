"""Known labels: candidate matrices and label vectors with missing entries, their checks, accuracy without
truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.labels.candidates import CandidateError, check_candidates, holds_sets, is_candidate_matrix
    from plcore.labels.temperature import fit_temperature, log_shares, tempered
    from plcore.labels.vectors import check_label_vectors
else:
    __getattr__, __dir__ = lazy_names(__name__)
