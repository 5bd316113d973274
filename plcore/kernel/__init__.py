"""Kernel ridge regression on soft labels, with leave-one-out scores and class masses."""

from __future__ import annotations

from plcore.kernel.ridge import PLKernelRidge
