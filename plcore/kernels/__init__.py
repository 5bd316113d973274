"""Compiled loops: arrays in, arrays filled. `.compiled` says why they are fast and which rules they keep."""

from __future__ import annotations

from plcore.kernels.compiled import kernel
from plcore.kernels.effects import NARROW, SETTLED, find_effects, find_imprecise
from plcore.kernels.linear import mean_weights, score_rows, score_sparse_rows, two_products
from plcore.kernels.margin import (
    add_rows,
    best_candidates,
    candidate_losses,
    hard_rows,
    simplex_quadratic,
    smooth_rows,
    spread,
)
from plcore.kernels.near import (
    add_listed_votes,
    count_labels,
    find_most_listed,
    number_labels,
    offer_proposed,
    scan_dense,
    scan_sparse,
)
from plcore.kernels.online import MASS, MISTAKES, OBJECTIVE, ROUNDS, SCALE, UPDATES, learn_dense, learn_sparse
from plcore.kernels.possible import search_effects
from plcore.kernels.scores import (
    FAN,
    SHARE_UNIT,
    add_scores,
    add_shares,
    build_maxima,
    change_maxima,
    count_open,
    find_best,
    find_sets,
    largest_change,
    margins,
    pick_batch,
    softmax_margins,
    softmax_rows,
)
from plcore.kernels.sensing import recover_rows
from plcore.kernels.transport import place_rows
from plcore.kernels.votes import (
    add_scaled_votes,
    add_votes,
    change_scaled_votes,
    count_places,
    fill_masks,
    fill_places,
    find_most_votes,
    has_repeated,
)
