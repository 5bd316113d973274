"""Answers in plain words."""

from __future__ import annotations

from collections.abc import Sequence

KINDS = {
    "is": "is one label",
    "among": "is one of several",
    "not": "is not a label",
    "none": "is none of its candidates",
    "bad": "is a bad item",
    "unsure": "cannot tell",
}
"""What can be looked for."""


def said(kind: str, labels: Sequence[str]) -> str:
    """An answer as a person would say it."""
    names = ", ".join(labels)
    return {
        "is": f"is {names}",
        "among": f"is one of {names}",
        "not": f"is not {names}",
        "none": "none of its candidates",
        "bad": "bad item",
        "unsure": "cannot tell",
        "skip": "skipped",
        "withdraw": "took an answer back",
    }.get(kind, kind)


def candidates(labels: Sequence[str]) -> str:
    """A set of labels, or that there is none."""
    return " | ".join(labels) or "none (taken out)"
