"""Forests on soft labels, with out-of-bag scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.trees.forest import PLForest
else:
    __getattr__, __dir__ = lazy_names(__name__)
