"""Tasks to be opened in Label Studio: one annotation for each answer, a prediction for each candidate left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Literal
from xml.sax.saxutils import quoteattr

from plcore.tables.readers.candidate_rows import json_text
from plcore.tables.readers.tools.label_studio import OWN_ID, OWN_PERSON
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.writers.disambiguated import VERDICT, VOTES, Disambiguated, Tell, silent

Tag = Literal["Text", "Image", "Audio", "HyperText"]
"""The tags of Label Studio that show a column."""

_LOOK = 1000
SHOWN, QUESTION = "item", "label"
"""Names of the tags in the labelling interface."""


def label_studio_tasks(table: Disambiguated, tell: Tell = silent) -> Iterator[str]:
    """The JSON of all tasks, piece by piece.

    `data` is the row as it came, `meta` its id. Answers that name labels are annotations with these labels; all others
    (not, none, skip, ...) have no form there and are written as cancelled. The person is in `winnow_person`, of the
    annotation and in the `meta` of its result: Label Studio refuses a `completed_by` that is no member there. A label
    known has its probability as score, and its weight as that of its result. Each other candidate left is a prediction
    of its own with its weight as score.
    Scores have to lie in [0, 1] there: where weights are above 1, as counts of votes are, all are divided by the
    largest.
    """
    scale = 1.0 if table.weights is None else float(table.weights.max(initial=1.0))
    yield "["
    number = 0
    for piece in table.pieces():
        answers, left = piece.answers_by_row(), piece.weighted(after=True)
        for row, cells in enumerate(piece.records()):
            number += 1
            task = {
                "id": number,
                "data": cells,
                "meta": {OWN_ID: piece.ids[row]},
                "annotations": [_annotation(answer) for answer in answers.get(row, [])],
                "predictions": _predictions(piece, row, left[row], scale),
            }
            yield ("\n" if number == 1 else ",\n") + json_text(task)
        tell(number)
    yield "\n]\n"


def label_studio_config(table: Disambiguated, shown: str, tag: Tag = "Text") -> str:
    """The labelling interface for these tasks: what is shown of a row, and one choice for each class.

    shown : the column that is shown; tag : how
    """
    names = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in table.classes)
    return (
        f'<View>\n  <{tag} name="{SHOWN}" value={quoteattr("$" + shown)}/>\n'
        f'  <Choices name="{QUESTION}" toName="{SHOWN}" choice="multiple">\n{names}\n  </Choices>\n</View>\n'
    )


def write_label_studio_config(table: Disambiguated, file: BinaryIO, tell: Tell) -> None:
    """The labelling interface for the tasks of the table: it shows its picture, its recording, or else its text."""
    roles = suggest_roles(table.cells.iloc[:_LOOK], files=True)
    shown: list[tuple[str | None, Tag]] = [
        (roles.image, "Image"),
        (roles.audio, "Audio"),
        (roles.text, "Text"),
    ]
    column, tag = next(((name, tag) for name, tag in shown if name), (str(table.cells.columns[0]), "Text"))
    file.write(label_studio_config(table, column, tag).encode())
    tell(len(table.ids))


def _result(labels: list[str], person: str | None = None) -> list[dict[str, object]]:
    value = {"choices": labels}
    result: dict[str, object] = {"from_name": QUESTION, "to_name": SHOWN, "type": "choices", "value": value}
    # Label Studio drops what it does not know of an annotation, but keeps its results as they are.
    return [result if person is None else {**result, "meta": {OWN_PERSON: person}}]


def _annotation(answer: dict[str, Any]) -> dict[str, object]:
    names_labels = answer["kind"] in VOTES or (answer["kind"] == VERDICT and bool(answer["labels"]))
    return {
        "result": _result(list(answer["labels"]), answer["person"]) if names_labels else [],
        "was_cancelled": not names_labels,
        "ground_truth": False,
        OWN_PERSON: answer["person"],
        "created_at": answer["at"],
        "lead_time": answer.get("seconds"),
    }


def _predictions(
    table: Disambiguated, row: int, left: dict[str, float | None], scale: float
) -> list[dict[str, object]]:
    weighted = {name: None if weight is None else weight / scale for name, weight in left.items()}
    label = table.label_name(row)
    found = []
    if label is not None:
        weight, probability = weighted.pop(label, None), table.known_probability(row)
        prediction = _prediction(
            label, weight if probability is None else probability, str(table.source[row])
        )
        if weight is not None:
            prediction["result"] = [{**one, "score": weight} for one in _result([label])]
        found.append(prediction)
    return found + [_prediction(name, weight, "candidates") for name, weight in weighted.items()]


def _prediction(label: str, score: float | None, source: str) -> dict[str, object]:
    prediction: dict[str, object] = {"model_version": source, "result": _result([label])}
    return prediction if score is None else {**prediction, "score": score}
