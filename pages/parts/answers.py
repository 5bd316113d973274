"""Answers in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from pages.parts.words import counted
from workflow.projects.standing import OwnAnswer

MOST = 12
"""Labels named in full; the rest are counted."""


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
        "withdraw": f"withdrew an answer{about}",
    }.get(kind, kind)


def answer_words(kind: str, labels: Sequence[str]) -> str:
    """The same for a list of answers, where a single label needs no verb."""
    return {"is": first_of(labels)}.get(kind) or said(kind, labels)


def candidates(labels: Sequence[str]) -> str:
    """Describe a row's candidates; a bad item has none."""
    return " | ".join(labels) or "none (excluded)"


def first_of(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more


# Answers in words: the card's saved message, and the answer history.

NAMED = 6
"""Labels named when an answer is put into words; the rest are counted."""


def given_before(one: OwnAnswer) -> dict[str, object]:
    """Return one of a person's own answers for the history list."""
    return {
        "seq": one.seq,
        "words": in_words(one.kind, one.row_id, one.labels, one.rows),
        "withdrawn": one.withdrawal is not None,
        "redoable": one.redoable,
        "note": one.note,
        "flagged": one.flagged,
    }


def in_words(kind: str, row_id: str, labels: Sequence[str], rows: int) -> str:
    """Describe an answer, such as "row r3 is ant". rows : number of rows it was given to at once"""
    named = ", ".join(labels[:NAMED])
    if len(labels) > NAMED:
        named += f" and {len(labels) - NAMED:,} more"
    if rows > 1:  # a batch, or its withdrawal
        several = counted(rows, "row")
        together = {"is": f"{several} are {named}", "withdraw": f"your answers to {several} were withdrawn"}
        return together.get(kind, f"{several} are answered")
    about = f"row {row_id}, {named}" if labels else f"row {row_id}"
    return {
        "is": f"row {row_id} is {named}",
        "among": f"row {row_id} is one of {named}",
        "not": f"row {row_id} is not {named}",
        "none": f"row {row_id} is none of its candidates",
        "yes": f"row {row_id} has {named}",
        "no": f"row {row_id} does not have {named}",
        "unsure": f"{about}, you cannot tell",
        "bad": f"row {row_id} excluded as a bad item",
        "skip": f"{about} skipped",
        "withdraw": f"your answer to row {row_id} was withdrawn",
        "right": f"row {row_id} has {named}, by your verdict",
        "wrong": f"row {row_id} does not have {named}, by your verdict",
        "verdict": f"row {row_id} {f'is {named}' if labels else 'is a bad item'}, by your verdict",
    }.get(kind, f"row {row_id}, {kind}")
