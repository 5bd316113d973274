"""Every question is about a row, or a label, of its own: nothing is confirmed together."""

from __future__ import annotations

from workflow.kinds.batching import Batching

BATCHING: Batching | None = None
