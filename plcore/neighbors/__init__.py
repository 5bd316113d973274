"""Nearest neighbours: their search, the graph of weighted neighbours, their votes, PL-KNN."""

from __future__ import annotations

from plcore.neighbors.classifier import PLKNeighborsClassifier, votes_to_distributions
from plcore.neighbors.graph import (
    SCALINGS,
    WEIGHTS,
    Graph,
    NeighborGraph,
    find_graph,
    graph_key,
    make_scaler,
    neighbor_weights,
)
from plcore.neighbors.near import pack
from plcore.neighbors.search import SEARCHES, compile_search, make_search
from plcore.neighbors.search.parts import (
    NeighborParts,
    RecallError,
    RowParts,
    find_parts,
    reverse_parts,
    scale_rows,
)
from plcore.neighbors.votes import VoteTable, check_graph
