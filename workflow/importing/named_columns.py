"""A user's choices about the columns of a file, applied to the guess."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from plcore import Problem, Roles, TableError
from plcore.tables import WAYS_IN, suggest_reading

CUT_AT: Mapping[str, float] = {"all": 0.0, "threshold": 0.1, "top": 5.0, "mass": 0.95}
"""Default thresholds for candidates with weights."""

_PAIRED = ("choices", "choice_scores")
_ONE_COLUMN = (
    *(
        "candidates",
        "not_labels",
        "voters",
        "truth",
        "id",
        "text",
        "image",
        "audio",
        "start",
        "end",
        "embedding",
        "source",
    ),
)
_NO_COLUMNS = (
    "separator",
    "form",
    "ignored",
    "score_prefix",
    "cut",
    "cut_at",
    "label_vectors",
    "image_features",
    "sound_features",
    "vote_weights",
    "unlabelled",
    "truth_outside",
)


def adjusted(guess: Roles, chosen: Mapping[str, Any], cells: pd.DataFrame) -> Roles:
    """Return the guessed roles with a person's choices; a column chosen for one role leaves the role guessed for it.

    chosen : fields of `Roles`; None: as guessed; "" for a role of one column, or [""] for one of several: no column.
        Labels to ignore are added to the guessed ones; with a "" among them, they replace those.
    cells : of the file, to guess how a newly chosen column of candidates or scores is read
    Raises ValueError for an unknown role, TableError for a choice that would change nothing.
    """
    named = {role: _plain(role, value) for role, value in chosen.items() if value is not None}
    if "ignored" in named and "" not in chosen["ignored"]:
        named["ignored"] = list(dict.fromkeys([*guess.ignored, *named["ignored"]]))
    taken = {role: _columns_of(role, value) for role, value in named.items()}
    roles: dict[str, Any] = guess.to_json()
    if way := next((way for way in WAYS_IN if named.get(way)), None):
        alone = Roles().to_json()
        gone = {*WAYS_IN, "choice_scores", "not_labels", "form", "score_prefix", "cut", "cut_at"} - {way}
        roles |= {role: alone[role] for role in gone}
        for role in ("voters", "vote_weights"):  # the voter's name does not depend on other columns
            roles.pop(role, None)
        if way != "label_columns" and "label_vectors" not in named:
            roles["label_vectors"] = False
        roles |= _reading(guess, way, named[way], cells)
    roles |= freed({role: value for role, value in roles.items() if role not in named}, taken)
    if roles["text"] is None and "text" not in named and roles.get("more_texts"):  # the next one takes its place
        roles["text"], *roles["more_texts"] = roles["more_texts"]
    if named.get("text", roles["text"]) is None:
        roles["more_texts"] = []
    if named.get("image", roles["image"]) is None:
        roles |= {"image_features": False, "more_images": []}
    if named.get("audio", roles["audio"]) is None:
        roles |= {"sound_features": False, "start": None, "end": None}
    if "cut" in named and named["cut"] != roles["cut"]:
        roles["cut_at"] = CUT_AT.get(named["cut"], 0.0)
    found = Roles.from_json(roles | named)
    if problems := list(_in_vain(found, named)):
        raise TableError(*problems)
    return found


def without_further(roles: Roles, further: Collection[str]) -> Roles:
    """Return the roles of the first question if further questions are about these columns, which are not learnt from.

    Raises TableError if one of them holds the labels of the first question.
    """
    labels = {column for way in WAYS_IN for column in _columns_of(way, getattr(roles, way))}
    if both := [column for column in further if column in labels]:
        message = f"Column {both[0]!r} holds the labels of the first question."
        raise TableError(Problem(None, None, None, message, "Choose another column for the further question."))
    return Roles.from_json(freed(roles.to_json(), {"further": further}))


def further_roles(roles: Roles, column: str, cells: pd.DataFrame) -> Roles:
    """Return the roles of a further question about the same rows, whose candidates are in this column. Rows without a
    candidate stay, and keep every class. roles : of the first question, `without_further`"""
    return adjusted(roles, {"candidates": column, "truth": "", "unlabelled": "all"}, cells)


def freed(roles: Mapping[str, Any], taken: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """Return roles by name without the columns that other roles have taken. A label leaves with its score and a score
    with its label, because the rest would be paired wrongly. A column of images, recordings, further texts or captions
    may also be the source.

    taken : columns by the role that has them now
    """
    found = dict(roles)
    for role, value in roles.items():
        if role in _NO_COLUMNS:
            continue
        columns = {name for other, names in taken.items() if not _may_share(role, other) for name in names}
        if isinstance(value, (list, tuple)):
            found[role] = [name for name in value if name not in columns]
        elif value in columns:
            found[role] = None
    labels, scores = (roles.get(role) or [] for role in _PAIRED)
    if labels and len(labels) == len(scores):
        columns = {name for names in taken.values() for name in names}
        kept = [pair for pair in zip(labels, scores, strict=True) if not set(pair) & columns]
        found |= {role: [pair[place] for pair in kept] for place, role in enumerate(_PAIRED)}
    return found


def _may_share(role: str, other: str) -> bool:
    """Whether two roles may have the same column."""
    return "source" in (role, other) and bool({role, other} & {"image", "audio", "more_texts", "caption"})


def _plain(role: str, value: object) -> Any:
    """The value as `Roles` has it: an empty string is not a column."""
    if role in _ONE_COLUMN:
        return value or None
    return [name for name in value if name] if isinstance(value, (list, tuple)) else value


def _columns_of(role: str, value: Any) -> tuple[str, ...]:
    """The columns that a person chose for a role."""
    if role in _NO_COLUMNS:
        return ()
    return (value,) if isinstance(value, str) else tuple(value or ())


def _reading(guess: Roles, way: str, named: Any, cells: pd.DataFrame) -> dict[str, Any]:
    """How to read the cells of the columns chosen for a format: as guessed if the guess had the same columns, else
    guessed again."""
    columns = _columns_of(way, named)
    if columns == _columns_of(way, getattr(guess, way)):
        return {name: getattr(guess, name) for name in _HOW.get(way, ())}
    return newly_named(way, columns, cells)


def newly_named(role: str, columns: Sequence[str], cells: pd.DataFrame) -> dict[str, object]:
    """Guess how to read the cells of columns just chosen for a role: fields of `Roles` with a guess at their values.
    Missing columns are reported elsewhere."""
    if role not in _HOW or not set(columns) <= set(cells.columns):
        return {}
    read = suggest_reading(cells, columns, scores=role == "score_columns")
    return {name: getattr(read, name) for name in _HOW[role]}


_HOW = {"candidates": ("form", "separator"), "score_columns": ("score_prefix", "cut", "cut_at")}


def _in_vain(roles: Roles, named: Mapping[str, Any]) -> Iterator[Problem]:
    """Choices that change nothing."""

    def vain(message: str, fix: str) -> Problem:
        return Problem(None, None, None, message, fix)

    in_list = roles.candidates is not None and roles.form != "list"
    weighted = in_list or roles.score_columns or roles.choice_scores or roles.annotators
    if roles.cut != "all" and "cut" in named and not weighted:
        message = f"The candidates cannot be cut by {roles.cut!r}: they come without weights."
        yield vain(message, "Leave the cut out, or name the columns that hold scores.")
    elif "cut_at" in named and roles.cut == "all":
        message = f"Nothing is cut at {roles.cut_at:g}: all labels with a weight are candidates."
        yield vain(message, "Choose which of them stay: those above a threshold, the top ones, or a mass.")
    if "score_prefix" in named and not roles.score_columns:
        message = f"There are no columns of scores whose names could begin with {roles.score_prefix!r}."
        yield vain(message, "Name them, or leave the prefix out.")
    if roles.candidates is None and (said := [role for role in ("form", "separator") if role in named]):
        yield vain(f"No column lists candidates, so a {said[0]} changes nothing.", "Name that column.")
    elif "separator" in named and roles.form == "json":
        message = f"Cells of JSON are not split at {roles.separator!r}."
        yield vain(message, "Leave the separator out, or choose another form.")
