"""Compiled loops: arrays in, arrays filled. `.compiled` explains why they are fast and the rules they follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.kernels.compiled import code_is_kept, code_is_there, wait_for_code
    from plcore.kernels.scores import largest_change, margins, softmax_rows
else:
    __getattr__, __dir__ = lazy_names(__name__)
