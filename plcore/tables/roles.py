"""What each column of a label table is for, as its owner chose it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from plcore.common.words import listed

_LISTS = (
    "label_columns", "annotators", "choices", "choice_scores", "score_columns", "ignored", "numbers", "categories",
    "more_images", "caption",
)  # fmt: skip
_SWITCHES = ("image_features", "sound_features", "label_vectors")
_SINGLE = ("voters", "id", "text", "image", "audio", "start", "end", "embedding")
WAYS_IN = ("candidates", "label_columns", "annotators", "choices", "score_columns")
FORMS = ("list", "weighted", "json")
CUTS = ("all", "threshold", "top", "mass")
_NAMED = {"form": FORMS, "cut": CUTS, "vote_weights": ("counts", "dawid-skene")}
_LATER = (
    ("voters", None),
    ("vote_weights", "counts"),
    ("scored_by", None),
)  # not written: older tables keep their bytes


@dataclass(frozen=True)
class Roles:
    """The role of each column, by name; a column without a role is kept, shown and exported, but not used.

    The candidate labels of a row come in exactly one of five ways:

    candidates : one column whose cells list them, in the form that `form` names: "list", as in `wren|robin`, split at
        `separator`; "weighted", as in `wren:0.6|robin:0.3`; "json", JSON or Python lists, sets and objects, as in
        `["wren", "robin"]` or `{"wren": 0.6}`;
    label_columns : one 0/1 column for each label, named like the label;
    annotators : columns with one vote each; the distinct votes of a row are its candidates;
    choices : columns with one candidate each, best first; `choice_scores`, as many columns of numbers in the same order
        or none, say how much speaks for it;
    score_columns : one column of numbers for each label, named like the label with `score_prefix` before it:
        probabilities, scores, counts of votes.

    cut : which candidates with weights stay: "all" above 0; "threshold", those of at least `cut_at` (where none is, all
        stay); "top", the `cut_at` heaviest and those as heavy as the last of them; "mass", the smallest set of the
        heaviest that holds the share `cut_at` of the row's weight.
    ignored : what stands in label cells for nothing, such as `nan`.
    voters : beside `candidates`, who named each label, as JSON: `{"wren": ["Ann", "Bob"]}`.
    vote_weights : what weights named votes make: "counts", or "dawid-skene": each counts by how right its voter is.

    scored_by : what the model is called whose scores came after the table and are weights in the place of those of the
        cells (`plcore.tables.scoring`).

    label_vectors : whether, instead of one true label among candidates, every label of a row is right, is not, or
        was not asked about. `label_columns` then hold 1, 0 or nothing; or `candidates` lists the labels that are
        right and `not_labels` those that are not, split at the same `separator`.
    truth : the true label, where known (empty cells: unknown).
    id : names the rows; each id occurs once.
    text, image, audio : shown or played when the row is asked. Text also gives features where there are no numbers.
        Images are data URLs (`data:image/png;base64,...`) or, where the table came in a zip, names of files in
        it (see `plcore.tables.media`); recordings are always files.
    more_images : further columns of pictures of the same row, as of a camera's burst, shown after those of `image`. A
        cell of either may name several, as in `a.jpg|b.jpg`.
    start, end : seconds of the recording between which the row lies; an empty cell stands for its begin or its end.
        Such rows are segments: several of them may name one recording.
    embedding : what a model of the owner's own made of the row, a list of numbers in each cell, as long in all rows.
    image_features : whether what the images look like (see `plcore.tables.descriptor`) is a feature.
    sound_features : whether what the recordings or their segments sound like (see `plcore.tables.sound`) is a feature.
    numbers, categories : the features.
    caption : columns that stand beside the row's name when it is shown, such as a date and a place; nothing is learnt
        from them.
    """

    candidates: str | None = None
    separator: str = "|"
    form: str = "list"
    label_columns: tuple[str, ...] = ()
    label_vectors: bool = False
    not_labels: str | None = None
    annotators: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    choice_scores: tuple[str, ...] = ()
    score_columns: tuple[str, ...] = ()
    score_prefix: str = ""
    cut: str = "all"
    cut_at: float = 0.0
    ignored: tuple[str, ...] = ()
    voters: str | None = None
    vote_weights: str = "counts"
    scored_by: str | None = None
    truth: str | None = None
    id: str | None = None
    text: str | None = None
    image: str | None = None
    more_images: tuple[str, ...] = ()
    audio: str | None = None
    start: str | None = None
    end: str | None = None
    embedding: str | None = None
    image_features: bool = False
    sound_features: bool = False
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()

    @property
    def picture_columns(self) -> tuple[str, ...]:
        """The columns of pictures, the first one first."""
        return () if self.image is None else (self.image, *self.more_images)

    @property
    def has_candidates(self) -> bool:
        """Whether any column holds labels."""
        return any(getattr(self, way) for way in WAYS_IN)

    def used(self) -> Iterator[tuple[str, str]]:
        """(role, column) for every column that has a role."""
        labels = (*WAYS_IN, "not_labels", "choice_scores", "truth")
        for role in (*labels, *_SINGLE):
            value = getattr(self, role)
            for column in value if isinstance(value, tuple) else (value,):
                if column is not None:
                    yield role, column
        for role in ("more_images", "numbers", "categories", "caption"):
            for column in getattr(self, role):
                yield role, column

    def to_json(self) -> dict[str, Any]:
        """A plain dict of strings, lists, None and bools, for `json.dumps`."""
        said = {name: list(value) if name in _LISTS else value for name, value in asdict(self).items()}
        return {name: value for name, value in said.items() if (name, value) not in _LATER}

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
            elif name == "cut_at":
                if isinstance(value, bool) or not isinstance(value, (int, float)):
                    raise ValueError(f"Role {name!r} must be a number. Got {value!r} instead.")
            elif name in _NAMED:
                if value not in _NAMED[name]:
                    raise ValueError(
                        f"Role {name!r} must be one of {listed(_NAMED[name])}. Got {value!r} instead."
                    )
            elif not (
                isinstance(value, str) or (value is None and name not in ("separator", "score_prefix"))
            ):
                raise ValueError(f"Role {name!r} must be a string or null. Got {value!r} instead.")
            values[name] = value
        return cls(**values)


def column_way(roles: Roles) -> str | None:
    """The role of the columns of candidates that more may be added to; None where there are no such."""
    ways = ("label_columns", "annotators", "score_columns")
    return next((way for way in ways if getattr(roles, way) and not roles.label_vectors), None)
