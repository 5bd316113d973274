"""Kernel ridge regression on soft labels, with leave-one-out scores and class masses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.kernel.ridge import PLKernelRidge
else:
    __getattr__, __dir__ = lazy_names(__name__)
