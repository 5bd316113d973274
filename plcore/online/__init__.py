"""Learners that take one row at a time: Perceptrons and Pegasos for partial labels, and streams of chunks."""

from __future__ import annotations

from plcore.online.classifiers import PLPegasos, PLPerceptron, learn_stream
