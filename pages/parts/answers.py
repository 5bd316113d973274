"""Answers in plain words."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 12
"""Labels that are named; of the rest their number is given."""


def said(kind: str, labels: Sequence[str]) -> str:
    """An answer as a person would say it."""
    names = first_of(labels)
    about = f": {names}" if names else ""
    return {
        "is": f"is {names}",
        "among": f"is one of {names}",
        "not": f"is not {names}",
        "none": "none of its candidates",
        "yes": f"yes to {names}",
        "no": f"no to {names}",
        "bad": "bad item",
        "right": f"verdict: {names} right",
        "wrong": f"verdict: {names} not right",
        "verdict": f"verdict{about or ': bad item'}",
        "unsure": f"cannot tell{about}",
        "skip": f"skipped{about}",
        "withdraw": f"took an answer back{about}",
    }.get(kind, kind)


def candidates(labels: Sequence[str]) -> str:
    """A row's candidates in words; those of a bad item are none."""
    return " | ".join(labels) or "none (taken out)"


def first_of(names: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
