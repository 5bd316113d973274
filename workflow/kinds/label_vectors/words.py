"""How pages speak of projects of label vectors: what is asked, and why."""

from __future__ import annotations

from workflow.kinds.kind import KindWords

WORDS = KindWords(
    title="label vectors: yes, no or not asked for every label",
    classes="labels",
    finished="Every label is known, or its row is out.",
)
CAN_CHANGE_CLASSES = False
