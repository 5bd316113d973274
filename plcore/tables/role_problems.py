"""What is wrong with the roles of a table's columns, said before any cell is looked at."""

from __future__ import annotations

from collections.abc import Sequence

from plcore.common.words import listed
from plcore.tables.problems import Problem
from plcore.tables.roles import WAYS_IN, Roles

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
    "more_images": "a further image shown",
    "audio": "the recording played",
    "start": "where the segment begins",
    "end": "where the segment ends",
    "embedding": "the embedding",
    "numbers": "a number feature",
    "categories": "a category feature",
    "caption": "part of the caption",
}
WAYS = (
    "Name one column whose cells list the candidates, such as wren|robin; or one 0/1 column for each label; "
    "or the columns that hold the annotators' votes; or columns with a candidate each, with their scores; or one "
    "column of scores for each label."
)


def role_problems(roles: Roles, columns: Sequence[str]) -> list[Problem]:
    """What is wrong with these roles for a table with these columns, before any cell is looked at."""
    problems: list[Problem] = []

    def add(column: str | None, message: str, fix: str) -> None:
        problems.append(Problem(None, None, column, message, fix))

    ways = [bool(getattr(roles, way)) for way in WAYS_IN]
    if not any(ways):
        add(None, f"No column holds the candidate labels; the columns are {listed(columns)}.", WAYS)
    elif sum(ways) > 1:
        add(None, "The candidate labels are given in more than one way.", f"Keep one of the ways. {WAYS}")
    if roles.candidates is not None and roles.form != "json" and not roles.separator:
        add(roles.candidates, "no separator is given for the candidates.", "Choose one, such as '|'.")
    if roles.choice_scores and len(roles.choice_scores) != len(roles.choices):
        message = (
            f"There are {len(roles.choices)} columns of candidates and {len(roles.choice_scores)} of scores."
        )
        add(
            None,
            message,
            "Choose a column of scores for each column of candidates, in the same order, or none.",
        )
    prefix = roles.score_prefix
    if prefix and roles.score_columns and not any(name.startswith(prefix) for name in roles.score_columns):
        message = f"no name of a column of scores begins with {prefix!r}; they are {listed(roles.score_columns, 5)}."
        add(None, message, "Correct what stands before the labels, or leave it empty.")
    problems += _cut_problems(roles)
    problems += _voter_problems(roles)
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
    if roles.sound_features and roles.audio is None:
        message = "The recordings are to be learned from, but no column of recordings has been chosen."
        add(None, message, "Choose the column that names them.")
    if roles.more_images and roles.image is None:
        message = "it holds further images, but no column holds the first."
        add(roles.more_images[0], message, "Choose a column of images, or take this role away.")
    for second in (roles.start, roles.end):
        if second is not None and roles.audio is None:
            message = "it says where a segment lies, but no column of recordings has been chosen."
            add(second, message, "Choose the column that names them, or take this role away.")
    single = (roles.text, roles.embedding)
    described = roles.numbers or roles.categories or roles.image_features or roles.sound_features
    if not (described or single != (None, None)):
        message = "There is nothing to learn from: no column of numbers, categories or text has been chosen."
        fix = "Choose the columns that describe a row, such as measurements or a text"
        media = [word for word, column in (("images", roles.image), ("recordings", roles.audio)) if column]
        add(None, message, f"{fix}, or learn from the {' or '.join(media)}." if media else f"{fix}.")
    return problems


def _cut_problems(roles: Roles) -> list[Problem]:
    """What is wrong with the cut."""
    allowed = {
        "all": (True, ""),
        "threshold": (roles.cut_at > 0, "a threshold is a number above 0"),
        "top": (roles.cut_at >= 1 and float(roles.cut_at).is_integer(), "it is a whole number from 1 on"),
        "mass": (0 < roles.cut_at <= 1, "a share of the weight lies above 0 and at most at 1"),
    }
    good, wanted = allowed[roles.cut]
    if good:
        return []
    message = f"The candidates cannot be cut at {roles.cut_at:g}: {wanted}."
    return [Problem(None, None, None, message, "Choose another number, or keep all candidates.")]


def _voter_problems(roles: Roles) -> list[Problem]:
    """What is wrong with who voted."""
    if roles.voters is not None and (roles.candidates is None or roles.label_vectors):
        message = "it says who named each label, but no column lists the candidates of one true label."
        return [Problem(None, None, roles.voters, message, "Choose that column, or take this role away.")]
    if roles.vote_weights != "counts" and roles.voters is None and not roles.annotators:
        message = "Votes are to count by how right each voter is, but no column says who voted."
        return [Problem(None, None, None, message, "Choose the annotators' columns, or count all alike.")]
    return []


def _vector_problems(roles: Roles) -> list[Problem]:
    """What is wrong with the roles that only label vectors have, or that these have not."""
    found: list[tuple[str | None, str, str]] = []
    if not roles.label_vectors:
        if roles.not_labels is not None:
            message = "labels that are not right are listed only of label vectors."
            found.append((roles.not_labels, message, "Choose label vectors, or take this role away."))
    else:
        for columns in (roles.annotators, roles.choices, roles.score_columns):
            if columns:
                message = "votes and scores make candidates of one true label, not label vectors."
                found.append((columns[0], message, "Choose candidates, or one column for each label."))
        if roles.truth is not None:
            message = "label vectors have no one true label."
            fix = "Take this role away. Rows whose labels are all known can be held out as a test."
            found.append((roles.truth, message, fix))
        if roles.not_labels is not None and roles.candidates is None:
            message = "it only goes beside a column that lists the labels that are right."
            found.append((roles.not_labels, message, "Choose that column, or take this role away."))
    return [Problem(None, None, column, message, fix) for column, message, fix in found]
