"""The role of each column of a label table, chosen by the owner, and problems with that choice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from plcore.arrays.words import counted, listed
from plcore.tables.problems import Problem

_LISTS = (
    "label_columns", "annotators", "choices", "choice_scores", "score_columns", "ignored", "numbers", "categories",
    "more_texts", "more_images", "caption",
)  # fmt: skip
_SWITCHES = ("image_features", "sound_features", "label_vectors")
_SINGLE = ("voters", "id", "text", "image", "audio", "start", "end", "embedding")
WAYS_IN = ("candidates", "label_columns", "annotators", "choices", "score_columns")
FORMS = ("list", "weighted", "json")
CUTS = ("all", "threshold", "top", "mass")
UNLABELLED = ("refuse", "all", "leave-out")
OUTSIDE = ("refuse", "add", "unknown")
_NAMED = {
    "form": FORMS,
    "cut": CUTS,
    "vote_weights": ("counts", "dawid-skene"),
    "unlabelled": UNLABELLED,
    "truth_outside": OUTSIDE,
}
_LATER: tuple[tuple[str, object], ...] = (
    ("voters", None),
    ("vote_weights", "counts"),
    ("scored_by", None),
    ("unlabelled", "refuse"),
    ("truth_outside", "refuse"),
    ("source", None),
    ("more_texts", []),
)  # defaults that are not written, so that older tables do not change


_MARKS = frozenset("|;,/&+")
_CLOSING = {"(": ")", "[": "]"}
_OPENED = re.compile(r"([(\[])(?:\w+=)?$")


def marks_of(separator: str) -> tuple[str, ...]:
    """Return the marks at which cells are split: each mark of a separator such as `|,`, or the separator itself."""
    several = len(separator) > 1 and len(set(separator)) == len(separator) and set(separator) <= _MARKS
    return tuple(separator) if several else (separator,)


def label_in_name(name: str, prefix: str) -> str:
    """Return the label in the name of a column of scores. prefix : `Roles.score_prefix`"""
    before, _, behind = prefix.partition("*")
    opened = _OPENED.search(before)  # p(wren), P (class=wren)
    behind = behind or (_CLOSING[opened[1]] if opened else "")
    return name.strip().removeprefix(before).removesuffix(behind).strip() or name


@dataclass(frozen=True)
class Roles:
    """The role of each column, by name. Columns without a role are stored and exported, but neither displayed nor used.

    The candidate labels of a row come in exactly one of five ways:

    candidates : one column whose cells list them, in the form `form`: "list", as in `wren|robin`, split at `separator`
        (if it has several different marks, as in `|,`, at each of them); "weighted", as in `wren:0.6|robin:0.3`; or
        "json", JSON or Python lists, sets and objects, as in `["wren", "robin"]` or `{"wren": 0.6}`;
    label_columns : one 0/1 column per label, named like the label;
    annotators : columns with one vote each; the distinct votes of a row are its candidates;
    choices : columns with one candidate each, best first. `choice_scores` are the number columns of their scores, in
        the same order, or empty;
    score_columns : one number column per label: probabilities, scores or counts of votes. Its name is the label after
        `score_prefix`; a `*` in the prefix stands for the label, as in `*_prob`.

    cut : candidates with weights that stay: "all" above 0; "threshold", those of at least `cut_at` (all, if none
        reaches it); "top", the `cut_at` heaviest and those tied with the last of them; "mass", the smallest set of the
        heaviest that holds the share `cut_at` of the row's weight.
    ignored : placeholders for "no label" in label cells, such as `nan`.
    voters : next to `candidates`, the column with the voters of each label in JSON, as in `{"wren": ["Ann", "Bob"]}`.
    vote_weights : weights from named votes: "counts", or "dawid-skene", by the reliability of each voter.

    unlabelled : rows without a candidate: "refuse" the table, "all" (every class is a candidate), or "leave-out" the
        rows.
    truth_outside : true labels that are not among the candidates of their row: "refuse" the table, "add" them to the
        candidates, or treat them as "unknown".
    scored_by : name of the model whose scores were added after import and replace the weights in the cells
        (`plcore.tables.growing`).

    label_vectors : if True, each label of a row is right, wrong or not asked, instead of one true label among
        candidates. `label_columns` then hold 1, 0 or nothing; or `candidates` lists the right labels and `not_labels`
        the wrong ones, split at the same `separator`.
    truth : the true label; an empty cell is unknown.
    id : names the rows; each id occurs once.
    text, image, audio : displayed or played when the row is asked. Text also gives features. Images are data URLs
        (`data:image/png;base64,...`) or, if the table came in a zip, names of files in it (see
        `plcore.tables.media.cells`). Recordings are always files.
    more_texts : further texts of the row, such as the premise of a hypothesis. All are displayed alike, in the order of
        the file, under the names of their columns. Each gives features of its own.
    more_images : further image columns of the same row, such as a camera's burst, displayed after `image`. A cell of
        any image column may name several, as in `a.jpg|b.jpg`.
    start, end : seconds at which the row begins and ends in its recording; an empty cell means the recording's own
        begin or end. Such rows are segments; several may share one recording.
    embedding : vectors from the owner's own model, a list of numbers in each cell, of the same length in all rows.
    image_features : whether features of the images (see `plcore.tables.media.images`) are used.
    sound_features : whether features of the recordings or their segments (see `media.sound`) are used.
    numbers, categories : the features.
    source : the photo, recording, scene or other source of a row, which several rows may share. A row with an empty
        cell shares none. It may also be the column of images, recordings, a further text or a caption.
    caption : columns displayed next to the row's name, such as a date or a place; never used for training.
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
    unlabelled: str = "refuse"
    truth_outside: str = "refuse"
    truth: str | None = None
    id: str | None = None
    text: str | None = None
    image: str | None = None
    more_texts: tuple[str, ...] = ()
    more_images: tuple[str, ...] = ()
    audio: str | None = None
    start: str | None = None
    end: str | None = None
    embedding: str | None = None
    source: str | None = None
    image_features: bool = False
    sound_features: bool = False
    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    caption: tuple[str, ...] = ()

    @property
    def picture_columns(self) -> tuple[str, ...]:
        """All image columns, in order."""
        return () if self.image is None else (self.image, *self.more_images)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """All text columns that models learn from: `text`, then `more_texts`."""
        return () if self.text is None else (self.text, *self.more_texts)

    @property
    def may_be_source(self) -> tuple[str, ...]:
        """Columns with other roles that may also name the source of a row."""
        return tuple(one for one in (self.image, self.audio, *self.more_texts, *self.caption) if one is not None)

    @property
    def has_candidates(self) -> bool:
        """Whether any column holds labels."""
        return any(getattr(self, way) for way in WAYS_IN)

    def used(self) -> Iterator[tuple[str, str]]:
        """Yield (role, column) for every column that has a role."""
        labels = (*WAYS_IN, "not_labels", "choice_scores", "truth")
        for role in (*labels, *_SINGLE):
            value = getattr(self, role)
            for column in value if isinstance(value, tuple) else (value,):
                if column is not None:
                    yield role, column
        for role in ("more_texts", "more_images", "numbers", "categories", "caption"):
            for column in getattr(self, role):
                yield role, column
        if self.source is not None and self.source not in self.may_be_source:
            yield "source", self.source

    def to_json(self) -> dict[str, object]:
        """Return a plain dict of strings, lists, None and bools, for `json.dumps`."""
        said = {name: list(value) if name in _LISTS else value for name, value in asdict(self).items()}
        return {name: value for name, value in said.items() if (name, value) not in _LATER}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Roles:
        """Read the roles written by `to_json`. Raises ValueError for names or values that it never writes."""
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
                    raise ValueError(f"Role {name!r} must be one of {listed(_NAMED[name])}. Got {value!r} instead.")
            elif not (isinstance(value, str) or (value is None and name not in ("separator", "score_prefix"))):
                raise ValueError(f"Role {name!r} must be a string or null. Got {value!r} instead.")
            values[name] = value
        return cls(**values)


def column_way(roles: Roles) -> str | None:
    """Return the role of the label columns that more columns can be added to; None if there is no such role."""
    ways = ("label_columns", "annotators", "score_columns")
    return next((way for way in ways if getattr(roles, way) and not roles.label_vectors), None)


_WORDS = {
    "candidates": "candidate labels",
    "not_labels": "the labels that are not right",
    "label_columns": "a 0/1 label column",
    "annotators": "an annotator's votes",
    "choices": "a column of candidates",
    "choice_scores": "the score of a candidate",
    "voters": "who named each label",
    "score_columns": "the scores of a label",
    "truth": "the true label",
    "id": "the row's id",
    "text": "the text shown",
    "image": "the image shown",
    "more_texts": "a further text",
    "more_images": "a further image shown",
    "audio": "the recording played",
    "start": "where the segment begins",
    "end": "where the segment ends",
    "embedding": "the embedding",
    "source": "the source of the row",
    "numbers": "a number feature",
    "categories": "a category feature",
    "caption": "part of the caption",
}
WAYS = (
    "Name one column whose cells list the candidates, such as wren|robin; or one 0/1 column for each label; "
    "or the columns that hold the annotators' votes; or columns with a candidate each, with their scores; or one "
    "column of scores for each label."
)


def role_problems(roles: Roles, columns: Sequence[str], hint: Callable[[], str] = str) -> list[Problem]:
    """Return the problems with these roles for a table with these columns.

    hint : returns a sentence, after a space, for users who have not chosen the label columns
    """
    problems: list[Problem] = []

    def add(column: str | None, message: str, fix: str) -> None:
        problems.append(Problem(None, None, column, message, fix))

    ways = [bool(getattr(roles, way)) for way in WAYS_IN]
    if not any(ways):
        add(None, f"No column holds the candidate labels; the columns are {listed(columns)}.{hint()}", WAYS)
    elif sum(ways) > 1:
        add(None, "The candidate labels are given in more than one way.", f"Keep one of the ways. {WAYS}")
    if roles.candidates is not None and roles.form != "json" and not roles.separator:
        add(roles.candidates, "no separator is given for the candidates.", "Choose one, such as '|'.")
    if roles.choice_scores and len(roles.choice_scores) != len(roles.choices):
        have = counted(len(roles.choices), "column")
        message = f"Got {have} of candidates and {len(roles.choice_scores)} of scores."
        add(None, message, "Choose a column of scores for each column of candidates, in the same order, or none.")
    prefix = roles.score_prefix
    before, _, behind = prefix.partition("*")
    around = [name for name in roles.score_columns if name.startswith(before) and name.strip().endswith(behind)]
    if roles.score_columns and not around:
        like = f"is like {prefix!r}" if behind else f"begins with {prefix!r}"
        message = f"no name of a column of scores {like}; they are {listed(roles.score_columns, 5)}."
        add(None, message, "Correct the text before the labels, or leave it empty.")
    problems += _cut_problems(roles)
    problems += _voter_problems(roles)
    problems += _vector_problems(roles)
    present = set(columns)
    taken: dict[str, str] = {}
    for role, column in roles.used():
        if column not in present:
            add(column, f"there is no such column; the columns are {listed(columns)}.", "Choose one of these.")
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
        message = "Learning from images is on, but no column of images has been chosen."
        add(None, message, "Choose the column that holds or names them.")
    if roles.sound_features and roles.audio is None:
        message = "Learning from recordings is on, but no column of recordings has been chosen."
        add(None, message, "Choose the column that names them.")
    if roles.more_images and roles.image is None:
        message = "it holds further images, but no column holds the first."
        add(roles.more_images[0], message, "Choose a column of images, or remove this role.")
    if roles.more_texts and roles.text is None:
        message = "it holds further texts, but no column holds the first."
        add(roles.more_texts[0], message, "Choose a column of texts, or remove this role.")
    for second in (roles.start, roles.end):
        if second is not None and roles.audio is None:
            message = "it gives the position of a segment, but no column of recordings has been chosen."
            add(second, message, "Choose the column that names them, or remove this role.")
    single = (roles.text, roles.embedding)
    described = roles.numbers or roles.categories or roles.image_features or roles.sound_features
    if not (described or single != (None, None)):
        message = "There is nothing to learn from: no column of numbers, categories or text has been chosen."
        fix = (
            "Put the table of the rows, or the images or recordings that the file names, into one zip with it; or "
            "choose the columns that describe a row, such as measurements or a text"
        )
        media = [word for word, column in (("images", roles.image), ("recordings", roles.audio)) if column]
        add(None, message, f"{fix}, or learn from the {' or '.join(media)}." if media else f"{fix}.")
    return problems


def _cut_problems(roles: Roles) -> list[Problem]:
    """Return the problem with the cut, if any."""
    allowed = {
        "all": (True, ""),
        "threshold": (roles.cut_at > 0, "a threshold is a number above 0"),
        "top": (roles.cut_at >= 1 and float(roles.cut_at).is_integer(), "it is a whole number from 1 on"),
        "mass": (0 < roles.cut_at <= 1, "a share of the weight is above 0 and at most 1"),
    }
    good, wanted = allowed[roles.cut]
    if good:
        return []
    message = f"The candidates cannot be cut at {roles.cut_at:g}: {wanted}."
    return [Problem(None, None, None, message, "Choose another number, or keep all candidates.")]


def _voter_problems(roles: Roles) -> list[Problem]:
    """Return the problem with the voters, if any."""
    if roles.voters is not None and (roles.candidates is None or roles.label_vectors):
        message = "it says who named each label, but no column lists the candidates of one true label."
        return [Problem(None, None, roles.voters, message, "Choose that column, or remove this role.")]
    if roles.vote_weights != "counts" and roles.voters is None and not roles.annotators:
        message = "Votes are to count by how right each voter is, but no column says who voted."
        return [Problem(None, None, None, message, "Choose the annotators' columns, or count all alike.")]
    return []


def _vector_problems(roles: Roles) -> list[Problem]:
    """Return the problems with roles that only label vectors have, or that they cannot have."""
    found: list[tuple[str | None, str, str]] = []
    if not roles.label_vectors:
        if roles.not_labels is not None:
            message = "labels that are not right are listed only of label vectors."
            found.append((roles.not_labels, message, "Choose label vectors, or remove this role."))
    else:
        for columns in (roles.annotators, roles.choices, roles.score_columns):
            if columns:
                message = "votes and scores make candidates of one true label, not label vectors."
                found.append((columns[0], message, "Choose candidates, or one column for each label."))
        if roles.truth is not None:
            message = "label vectors have no one true label."
            fix = "Remove this role. Rows whose labels are all known can be held out as a test."
            found.append((roles.truth, message, fix))
        if roles.not_labels is not None and roles.candidates is None:
            message = "it needs a column that lists the labels that are right."
            found.append((roles.not_labels, message, "Choose that column, or remove this role."))
    return [Problem(None, None, column, message, fix) for column, message, fix in found]
