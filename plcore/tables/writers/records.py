"""Records for annotation tools that identify labels by name: doccano's lines and Argilla's records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from plcore.tables.readers.candidate_rows import OWN_VECTOR, OWN_WEIGHTS, json_text
from plcore.tables.readers.tools.argilla_prodigy import NOT_QUESTION, OWN_AGENT, OWN_PEOPLE, QUESTION
from plcore.tables.writers.disambiguated import (
    OWN_ID,
    OWN_TRUTH,
    OWN_VOTERS,
    Disambiguated,
    LabelVectorTable,
    Tell,
    names_beside,
    names_labels,
    silent,
)

Table = Disambiguated | LabelVectorTable


def json_list(objects: Iterable[object]) -> Iterator[str]:
    """Yield the JSON of a list of these objects, one per line, piece by piece."""
    yield "["
    for number, one in enumerate(objects):
        yield (",\n" if number else "\n") + json_text(one)
    yield "\n]\n"


@dataclass(frozen=True)
class _Row:
    """A row for export to tools.

    cells : the imported cells, without names in `taken`
    labels : the remaining candidates with their weights, or the labels that are right
    not_labels : for label vectors, those that are not right
    vector : for label vectors, for `OWN_VECTOR`; else empty
    carried : as in `Disambiguated.carried`
    answers : all of them, in order
    """

    name: str
    cells: dict[str, str]
    labels: dict[str, float | None]
    not_labels: list[str]
    vector: dict[str, int | None]
    carried: dict[str, str]
    answers: list[dict[str, Any]]


def _rows(table: Table, taken: Collection[str], tell: Tell) -> Iterator[_Row]:
    """Yield all rows. taken : names that columns must not have; `id` is reserved for the ids"""
    own = [*taken, OWN_ID, OWN_TRUTH, OWN_VOTERS, *([] if table.id_column() == "id" else ["id"])]
    new_names = names_beside([str(name) for name in table.kept().columns], own)
    for piece in table.pieces(tell=tell):
        answers = piece.answers_by_row()
        vectors: list[dict[str, int | None]] = [{} for _ in piece.ids]
        carried: list[dict[str, str]] = [{} for _ in piece.ids]
        left: list[dict[str, float | None]]
        if isinstance(piece, LabelVectorTable):
            vectors = piece.known()
            left = [{label: None for label, cell in one.items() if cell == 1} for one in vectors]
        else:
            left, carried = piece.weighted(), piece.carried()
        for row, record in enumerate(piece.records()):
            yield _Row(
                str(piece.ids[row]),
                {
                    new_names.get(column, column): cell
                    for column, cell in record.items()
                    if column != OWN_ID or cell != str(piece.ids[row])
                },
                left[row],
                [label for label, cell in vectors[row].items() if cell == 0],
                vectors[row],
                carried[row],
                answers.get(row, []),
            )


def doccano_lines(table: Table, tell: Tell = silent) -> Iterator[str]:
    """Yield a line of JSON for each row, for doccano's text classification: its cells, and as `label` its remaining
    candidates, or the right labels of its vector. doccano keeps all other fields: the id, the weights, the vector."""
    for row in _rows(table, ("label", "annotations", "Comments", "meta", OWN_WEIGHTS, OWN_VECTOR), tell):
        weighed = any(weight is not None for weight in row.labels.values())
        own = {OWN_VECTOR: json_text(row.vector)} if row.vector else {}
        own |= {OWN_WEIGHTS: json_text(row.labels)} if weighed else {}
        line = {
            "id": row.name,
            **row.cells,
            "label": list(row.labels),
            "Comments": [],
            OWN_ID: row.name,
            **own,
            **row.carried,
        }
        yield json_text(line) + "\n"


def argilla_records(table: Table, tell: Tell = silent) -> Iterator[str]:
    """Yield the JSON of all records, piece by piece, for Argilla's `records.from_json`.

    The question `label` allows several labels: the remaining candidates are suggested with their weights as scores,
    divided by the largest if that is above 1, and the last answer of each person is a response. User ids are derived
    from names, which are in `metadata`. For label vectors, the right labels are suggested, and the others in the
    question `not_label`.
    """
    return json_list(_records(table, tell))


def _records(table: Table, tell: Tell) -> Iterator[dict[str, object]]:
    scale = table.scale() if isinstance(table, Disambiguated) else 1.0
    for row in _rows(table, ("status", "_server_id", OWN_PEOPLE, OWN_VECTOR), tell):
        last = {one["person"]: one for one in row.answers}  # people who withdrew a label have none any more
        said = {person: one["labels"] for person, one in last.items() if names_labels(one)}
        users = {person: str(uuid5(NAMESPACE_URL, f"winnow:{person}")) for person in said}
        metadata = {OWN_VECTOR: json_text(row.vector)} if row.vector else {}
        metadata |= row.carried
        metadata |= {OWN_PEOPLE: json_text({user: name for name, user in users.items()})} if users else {}
        scores = [None if weight is None else weight / scale for weight in row.labels.values()]
        suggested: dict[str, tuple[list[str], list[float | None]]] = {
            QUESTION: (list(row.labels), scores),
            NOT_QUESTION: (row.not_labels, [None]),
        }
        yield {
            "id": row.name,
            "fields": row.cells or {OWN_ID: row.name},
            "metadata": metadata,
            "suggestions": {
                question: {"value": labels, "score": None if None in scores else scores, "agent": OWN_AGENT}
                for question, (labels, scores) in suggested.items()
                if labels
            },
            "responses": {QUESTION: [{"value": labels, "user_id": users[person]} for person, labels in said.items()]}
            if said
            else {},
            "vectors": {},
        }
