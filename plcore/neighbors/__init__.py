"""Nearest neighbours: search, the graph of weighted neighbours, votes, and PL-KNN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = lazy_names(__name__)
