"""What each column of a label table is for, as its owner chose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from plcore.common.words import listed
from plcore.tables.problems import Problem

_LISTS = ("label_columns", "annotators", "numbers", "categories")
_SWITCHES = ("image_features", "label_vectors")


@dataclass(frozen=True)
class Roles:
    """The role of each column, by name; a column without a role is kept, shown and exported, but not used.

    The candidate labels of a row come in exactly one of three ways:

    candidates : one column whose cells list them, as in `wren|robin`, split at `separator`; where `form` is "json",
        as a JSON list;
    label_columns : one 0/1 column for each label, named like the label;
    annotators : columns with one vote each; the distinct votes of a row are its candidates.

    label_vectors : whether, instead of one true label among candidates, every label of a row is right, is not, or
        was not asked about. `label_columns` then hold 1, 0 or nothing; or `candidates` lists the labels that are
        right and `not_labels` those that are not, split at the same `separator`.
    truth : the true label, where known (empty cells: unknown).
    id : names the rows; each id occurs once.
    text, image, audio : shown or played when the row is asked. Text also gives features where there are no numbers.
        Images are data URLs (`data:image/png;base64,...`) or, where the table came in a zip, names of files in
        it (see `plcore.tables.media`); recordings are always files.
    image_features : whether what the images look like (see `plcore.tables.descriptor`) is a feature.
    numbers, categories : the features.
    """

    candidates: str | None = None
    separator: str = "|"
    form: str = "list"
    label_columns: tuple[str, ...] = ()
    label_vectors: bool = False
    not_labels: str | None = None
    annotators: tuple[str, ...] = ()
    truth: str | None = None
    id: str | None = None
    text: str | None = None
    image: str | None = None
    audio: str | None = None
    image_features: bool = False
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def used(self) -> Iterator[tuple[str, str]]:
        """(role, column) for every column that has a role."""
        labels = ("candidates", "not_labels", "label_columns", "annotators", "truth")
        for role in (*labels, "id", "text", "image", "audio"):
            value = getattr(self, role)
            for column in value if isinstance(value, tuple) else (value,):
                if column is not None:
                    yield role, column
        for role in ("numbers", "categories"):
            for column in getattr(self, role):
                yield role, column

    def to_json(self) -> dict[str, Any]:
        """A plain dict of strings, lists, None and bools, for `json.dumps`."""
        return {name: list(value) if name in _LISTS else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Roles:
        """The roles written by `to_json`. Raises ValueError for names or values that it never writes."""
        unknown = set(data) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"Roles have no {listed(sorted(unknown))}.")
        values: dict[str, Any] = {}
        for name, value in data.items():
            if name in _LISTS:
                if not (isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)):
                    raise ValueError(f"Role {name!r} must be a list of column names. Got {value!r} instead.")
                value = tuple(value)
            elif name in _SWITCHES:
                if not isinstance(value, bool):
                    raise ValueError(f"Role {name!r} must be true or false. Got {value!r} instead.")
            elif not (isinstance(value, str) or (value is None and name != "separator")):
                raise ValueError(f"Role {name!r} must be a string or null. Got {value!r} instead.")
            values[name] = value
        return cls(**values)


_WORDS = {
    "candidates": "candidate labels",
    "not_labels": "the labels that are not right",
    "label_columns": "a 0/1 label column",
    "annotators": "an annotator's votes",
    "truth": "the true label",
    "id": "the row's id",
    "text": "the text shown",
    "image": "the image shown",
    "audio": "the recording played",
    "numbers": "a number feature",
    "categories": "a category feature",
}
WAYS = (
    "Name one column whose cells list the candidates, such as wren|robin; or one 0/1 column for each label; "
    "or the columns that hold the annotators' votes."
)


def role_problems(roles: Roles, columns: Sequence[str]) -> list[Problem]:
    """What is wrong with these roles for a table with these columns, before any cell is looked at."""
    problems: list[Problem] = []

    def add(column: str | None, message: str, fix: str) -> None:
        problems.append(Problem(None, None, column, message, fix))

    ways = [bool(roles.candidates is not None), bool(roles.label_columns), bool(roles.annotators)]
    if not any(ways):
        add(None, f"No column holds the candidate labels; the columns are {listed(columns)}.", WAYS)
    elif sum(ways) > 1:
        add(None, "The candidate labels are given in more than one way.", f"Keep one of the ways. {WAYS}")
    if roles.candidates is not None and not roles.separator:
        add(roles.candidates, "no separator is given for the candidates.", "Choose one, such as '|'.")
    problems += _vector_problems(roles)
    present = set(columns)
    taken: dict[str, str] = {}
    for role, column in roles.used():
        if column not in present:
            add(
                column, f"there is no such column; the columns are {listed(columns)}.", "Choose one of these."
            )
        elif column in taken:
            same = taken[column] == role
            message = (
                f"it is named twice as {_WORDS[role]}."
                if same
                else f"it cannot be both {_WORDS[taken[column]]} and {_WORDS[role]}."
            )
            add(column, message, "Give every column one role.")
        taken.setdefault(column, role)
    if roles.image_features and roles.image is None:
        message = "The images are to be learned from, but no column of images has been chosen."
        add(None, message, "Choose the column that holds or names them.")
    if not (roles.numbers or roles.categories or roles.text is not None or roles.image_features):
        message = "There is nothing to learn from: no column of numbers, categories or text has been chosen."
        fix = "Choose the columns that describe a row, such as measurements or a text"
        add(None, message, f"{fix}, or learn from the images." if roles.image is not None else f"{fix}.")
    return problems


def _vector_problems(roles: Roles) -> list[Problem]:
    """What is wrong with the roles that only label vectors have, or that these have not."""
    found: list[tuple[str | None, str, str]] = []
    if not roles.label_vectors:
        if roles.not_labels is not None:
            message = "labels that are not right are listed only of label vectors."
            found.append((roles.not_labels, message, "Choose label vectors, or take this role away."))
    else:
        if roles.annotators:
            message = "votes make candidates of one true label, not label vectors."
            found.append((roles.annotators[0], message, "Choose candidates, or one column for each label."))
        if roles.truth is not None:
            message = "label vectors have no one true label."
            fix = "Take this role away. Rows whose labels are all known can be held out as a test."
            found.append((roles.truth, message, fix))
        if roles.not_labels is not None and roles.candidates is None:
            message = "it only goes beside a column that lists the labels that are right."
            found.append((roles.not_labels, message, "Choose that column, or take this role away."))
    return [Problem(None, None, column, message, fix) for column, message, fix in found]
