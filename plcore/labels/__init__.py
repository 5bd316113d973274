"""What people know of labels: candidate matrices and label vectors with holes, their checks, accuracy without truth."""

from __future__ import annotations

from plcore.labels.accuracy import candidate_accuracy, score_of
from plcore.labels.candidates import (
    CandidateError,
    check_candidates,
    column_names,
    holds_sets,
    infer_labels,
    is_candidate_matrix,
    name_rows,
)
from plcore.labels.temperature import fit_temperature, log_shares, tempered
from plcore.labels.vectors import UNKNOWN, LabelVectors, check_label_vectors
