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

__all__ = [
    "SCALINGS",
    "SEARCHES",
    "WEIGHTS",
    "Graph",
    "NeighborGraph",
    "NeighborParts",
    "PLKNeighborsClassifier",
    "RecallError",
    "RowParts",
    "VoteTable",
    "check_graph",
    "compile_search",
    "find_graph",
    "find_parts",
    "graph_key",
    "make_scaler",
    "make_search",
    "neighbor_weights",
    "pack",
    "reverse_parts",
    "scale_rows",
    "votes_to_distributions",
]
