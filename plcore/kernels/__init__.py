"""Compiled loops: arrays in, arrays filled. `.compiled` says why they are fast and which rules they keep."""

from __future__ import annotations

from plcore.kernels.scores import largest_change, margins, softmax_rows
