"""Nearest neighbours: their search, the graph of weighted neighbours, their votes, PL-KNN."""

from __future__ import annotations

from plcore.neighbors.classifier import PLKNeighborsClassifier
from plcore.neighbors.graph import Graph, NeighborGraph, graph_key, make_scaler
from plcore.neighbors.search import make_search
from plcore.neighbors.search.parts import (
    NeighborParts,
    RecallError,
    RowParts,
    find_parts,
    reverse_parts,
    scale_rows,
)
