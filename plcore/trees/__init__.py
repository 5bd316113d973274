"""Forests on soft labels, with out-of-bag scores."""

from __future__ import annotations

from plcore.trees.forest import PLForest
