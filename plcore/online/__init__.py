"""Online learners: Perceptrons and Pegasos for partial labels, and streams of chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.online.classifiers import PLPegasos, PLPerceptron, learn_stream
else:
    __getattr__, __dir__ = lazy_names(__name__)
