"""Learners that take one row at a time: Perceptrons and Pegasos for partial labels, and streams of chunks."""

from __future__ import annotations

from plcore.online.pegasos import PLPegasos
from plcore.online.perceptron import PLPerceptron
from plcore.online.stream import learn_stream

__all__ = ["PLPegasos", "PLPerceptron", "learn_stream"]
