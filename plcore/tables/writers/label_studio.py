"""Tasks for Label Studio: one annotation for each answer, one prediction for each remaining candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal
from xml.sax.saxutils import quoteattr

import numpy as np

from plcore.tables.readers.candidate_rows import OWN_VECTOR, json_text
from plcore.tables.readers.tools.label_studio import (
    NOT_QUESTION,
    OTHERS_LEFT,
    OWN_CANDIDATES,
    OWN_PERSON,
    OWN_SAID,
    QUESTION,
)
from plcore.tables.roles.roles import Roles
from plcore.tables.roles.suggestion import suggest_roles
from plcore.tables.writers.disambiguated import (
    OWN_ID,
    SAYS,
    Disambiguated,
    LabelVectorTable,
    Tell,
    names_labels,
    silent,
)
from plcore.tables.writers.records import json_list

Tag = Literal["Text", "Image", "Audio", "HyperText"]
"""The tags of Label Studio that show a column."""

_LOOK = 1000
SHOWN = "item"
"""Name of the tag that shows the row in the labelling interface."""
_ASKED = {QUESTION: "Right", NOT_QUESTION: "Not right"}


def label_studio_tasks(table: Disambiguated, tell: Tell = silent) -> Iterator[str]:
    """Yield the JSON of all tasks, piece by piece.

    `data` is the imported row; `meta` has its id, the remaining candidates, the true label and the imported votes.
    Answers that name labels are annotations with these labels; all others (not, none, skip, ...) cannot be expressed
    and are written as cancelled. The person is in `winnow_person` of the annotation and in the `meta` of its result:
    Label Studio refuses a `completed_by` that is not a member. A known label has its probability as score, and its
    weight as the score of its result. Each other remaining candidate is a prediction with its weight as score. Scores
    must be in [0, 1]: if weights are above 1, like counts of votes, all are divided by the largest.
    """
    return json_list(_tasks(table, tell))


def _tasks(table: Disambiguated, tell: Tell) -> Iterator[dict[str, object]]:
    scale, number = table.scale(), 0
    for piece in table.pieces():
        answers, left = piece.answers_by_row(), piece.weighted()
        for row, (cells, carried) in enumerate(zip(piece.records(), piece.carried(), strict=True)):
            number += 1
            own = {OWN_ID: piece.ids[row], OWN_CANDIDATES: json_text(_scaled(left[row], scale))}
            yield {
                "id": number,
                "data": cells,
                "meta": {**own, **carried},
                "annotations": [_annotation(answer) for answer in answers.get(row, [])],
                "predictions": _predictions(piece, row, left[row], scale),
            }
        tell(number)


def label_studio_vectors(table: LabelVectorTable, tell: Tell = silent) -> Iterator[str]:
    """Yield the JSON of tasks with label vectors, piece by piece.

    `meta` holds the id and the vector, which Label Studio keeps. Each person's answers are an annotation, with the
    right labels in one question and the others in a second; an annotation without labels is cancelled. The known labels
    are one prediction, and the model's another; the score of the latter is how likely its least certain label is right.
    """
    return json_list(_vector_tasks(table, tell))


def _vector_tasks(table: LabelVectorTable, tell: Tell) -> Iterator[dict[str, object]]:
    number = 0
    for piece in table.pieces():
        answers = piece.answers_by_row()
        predicted, sure = piece.found.predicted, _sureness(piece)
        parts = zip(piece.records(), piece.known(), piece.said(), predicted.tolist(), sure, strict=True)
        for row, (cells, vector, said, of_row, score) in enumerate(parts):
            number += 1
            guessed = dict(zip(vector, of_row, strict=True))
            yield {
                "id": number,
                "data": cells,
                "meta": {OWN_ID: piece.ids[row], OWN_VECTOR: json_text(vector)},
                "annotations": [
                    _vector_annotation(person, given, said.get(person, {}))
                    for person, given in _by_person(answers.get(row, [])).items()
                ],
                "predictions": [
                    {"model_version": source, "result": result} | ({} if least is None else {"score": least})
                    for source, values, least in (("known", vector, None), ("model", guessed, score))
                    if (result := _vector_result(values))
                ],
            }
        tell(number)


def _sureness(piece: LabelVectorTable) -> list[float | None]:
    """Return how likely the least certain prediction about each row is right; None if there is none."""
    shares, guessed = piece.found.probabilities, piece.found.predicted >= 0
    likely = np.where(guessed & ~np.isnan(shares), np.where(piece.found.predicted == 1, shares, 1 - shares), np.inf)
    least = likely.min(axis=1, initial=np.inf)
    return [float(one) if np.isfinite(one) else None for one in least]


def _by_person(answers: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for one in answers:
        found.setdefault(one["person"], []).append(one)
    return found


def _vector_annotation(person: str, given: list[dict[str, Any]], said: dict[str, int]) -> dict[str, object]:
    named = [one for one in given if one["kind"] in SAYS] or given
    return {
        "result": _vector_result(said, person),
        "was_cancelled": not said,
        "ground_truth": False,
        OWN_PERSON: person,
        "created_at": named[-1]["at"],
        "lead_time": sum(one.get("seconds") or 0.0 for one in named),
    }


def _vector_result(values: Mapping[str, int | None], person: str | None = None) -> list[dict[str, object]]:
    """Return the results of both questions; for a person with their answers, so that a later change can be detected."""
    found = []
    for question, wanted in ((QUESTION, 1), (NOT_QUESTION, 0)):
        if labels := [label for label, value in values.items() if value == wanted]:
            (result,) = _result(labels, question=question)
            meta = {} if person is None else {"meta": {OWN_PERSON: person, OWN_SAID: labels}}
            found.append({**result, **meta})
    return found


def label_studio_config(
    classes: Sequence[str], shown: str, tag: Tag = "Text", questions: Sequence[str] = (QUESTION,)
) -> str:
    """Return the labelling interface for these tasks: the displayed part of a row, and in each question a choice for
    each class.

    shown : the displayed column; tag : how it is displayed
    """
    names = "\n".join(f"    <Choice value={quoteattr(name)}/>" for name in classes)
    heads = {one: f'  <Header value="{_ASKED[one]}"/>\n' if len(questions) > 1 else "" for one in questions}
    asked = "".join(
        f'{head}  <Choices name="{question}" toName="{SHOWN}" choice="multiple">\n{names}\n  </Choices>\n'
        for question, head in heads.items()
    )
    return f'<View>\n  <{tag} name="{SHOWN}" value={quoteattr("$" + shown)}/>\n{asked}</View>\n'


def write_label_studio_config(table: Disambiguated | LabelVectorTable, file: BinaryIO, tell: Tell) -> None:
    """Write the labelling interface for the table's tasks: it shows the picture, the recording, or else the text."""
    questions: tuple[str, ...] = (QUESTION,)
    if isinstance(table, LabelVectorTable):
        cells, classes, questions = table.kept(), table.found.labels, (QUESTION, NOT_QUESTION)
    else:
        cells, classes = table.cells, table.classes
    roles = suggest_roles(cells.iloc[:_LOOK], files=True) if len(cells.columns) else Roles()
    shown: list[tuple[str | None, Tag]] = [(roles.image, "Image"), (roles.audio, "Audio"), (roles.text, "Text")]
    column, tag = next(((name, tag) for name, tag in shown if name), (str(next(iter(cells.columns), OWN_ID)), "Text"))
    file.write(label_studio_config(classes, column, tag, questions).encode())
    tell(len(table.ids))


def _result(labels: list[str], person: str | None = None, question: str = QUESTION) -> list[dict[str, object]]:
    value = {"choices": labels}
    result: dict[str, object] = {"from_name": question, "to_name": SHOWN, "type": "choices", "value": value}
    # Label Studio drops unknown fields of an annotation, but keeps its results unchanged.
    return [result if person is None else {**result, "meta": {OWN_PERSON: person}}]


def _annotation(answer: dict[str, Any]) -> dict[str, object]:
    named = names_labels(answer)
    return {
        "result": _result(list(answer["labels"]), answer["person"]) if named else [],
        "was_cancelled": not named,
        "ground_truth": False,
        OWN_PERSON: answer["person"],
        "created_at": answer["at"],
        "lead_time": answer.get("seconds"),
    }


def _scaled(left: dict[str, float | None], scale: float) -> dict[str, float | None]:
    return {name: None if weight is None else weight / scale for name, weight in left.items()}


def _predictions(
    table: Disambiguated, row: int, left: dict[str, float | None], scale: float
) -> list[dict[str, object]]:
    weighted = _scaled(left, scale)
    label = table.label_name(row)
    found = []
    if label is not None:
        weight, probability = weighted.pop(label, None), table.known_probability(row)
        prediction = _prediction(label, weight if probability is None else probability, str(table.source[row]))
        if weight is not None:
            prediction["result"] = [{**one, "score": weight} for one in _result([label])]
        found.append(prediction)
    return found + [_prediction(name, weight, OTHERS_LEFT) for name, weight in weighted.items()]


def _prediction(label: str, score: float | None, source: str) -> dict[str, object]:
    prediction: dict[str, object] = {"model_version": source, "result": _result([label])}
    return prediction if score is None else {**prediction, "score": score}
