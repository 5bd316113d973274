"""Argilla: flat records and nested ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from plcore.arrays.words import listed
from plcore.tables.readers.candidate_rows import (
    OWN_VECTOR,
    Json,
    JsonObject,
    Records,
    Row,
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    add_own,
    an_object,
    json_text,
    own_object,
    own_vector,
    read_each,
    refuse,
    rows_reading,
)
from plcore.tables.readers.mapping import LOOK, Fields, RecordTool
from plcore.tables.readers.reading import TableReading, refusal
from plcore.tables.writers.disambiguated import OWN_ID

QUESTION, NOT_QUESTION = "label", "not_label"
"""The questions of records that were written here; the second, of label vectors, names what is not right."""
OWN_AGENT = "winnow"
"""Who suggests in records that were written here: nobody who has voted."""
OWN_PEOPLE = "winnow_people"
"""Names of users by their ids, as JSON, in records that were written here."""
RESPONSES, SUGGESTION = ".responses", ".suggestion"
SUBMITTED = "submitted"
_OWN = ("id", "status", "_server_id")


def _read(records: Records, name: str) -> TableReading:
    """One row for each record: submitted responses are votes, a suggestion weighs its score. Raises TableError.

    Of several questions the one that is answered with labels most often is read; the others stay as columns.
    """
    if any(isinstance(one, dict) and one.get(OWN_VECTOR) for one in records):
        rows = read_each(records, _vector_row)
        return rows_reading(rows, name, describing=_describing(rows, set()), row_id="id")
    questions = _questions(records)
    if not questions:
        raise refusal(
            "No field ends in .responses or .suggestion.",
            "Export the records with to_list(flatten=True).",
        )
    question = _most_answered(records, questions)
    if question is None:
        raise refusal(
            f"None of the questions {listed(questions)} is answered with labels.",
            "Export records with answers or suggestions of a label question.",
        )
    about = {one + end for one in questions for end in _ENDINGS}
    left_out: Counter[str] = Counter()
    rows = read_each(records, lambda record, row: _row(record, row, question, left_out))
    notes = [f"Responses that are {status}, so no votes: {count:,}." for status, count in left_out.items()]
    others = [one for one in questions if one != question]
    if others:
        notes.append(
            f"The labels are those of the question {question!r}; {listed(others)} are kept as columns."
        )
    return rows_reading(rows, name, describing=_describing(rows, about), row_id="id", notes=notes)


def _describing(rows: list[Row], about: set[str]) -> set[str]:
    return {name for row in rows for name in row.cells if name not in {*_OWN, *about}}


def _vector_row(record: JsonObject, row: int) -> Row:
    """The label vector that was written here, and what people have said of it since."""
    questions = {QUESTION: 1, NOT_QUESTION: 0}
    own = {question + end for question in questions for end in _ENDINGS} | {OWN_VECTOR}
    found = Row({name: value for name, value in record.items() if name not in own})
    if found.cells.get(OWN_ID) == found.cells.get("id"):  # the only field of a table without other columns
        found.cells.pop(OWN_ID, None)
    found.vector = own_vector(record.get(OWN_VECTOR), row, OWN_VECTOR) or {}
    for question, cell in questions.items():
        answered = {
            name: value for name, value in record.items() if not name.startswith(question + SUGGESTION)
        }
        found.vector |= dict.fromkeys(_row(answered, row, question, Counter()).weights, cell)
    return found


_ENDINGS = (
    RESPONSES, f"{RESPONSES}.users", f"{RESPONSES}.status", SUGGESTION, f"{SUGGESTION}.score", f"{SUGGESTION}.agent",
)  # fmt: skip


def _questions(records: Records) -> list[str]:
    names = dict.fromkeys(name for record in records if isinstance(record, dict) for name in record)
    return list(
        dict.fromkeys(
            name.removesuffix(end)
            for name in names
            if isinstance(name, str)
            for end in (RESPONSES, SUGGESTION)
            if name.endswith(end) and len(name) > len(end)
        )
    )


def _most_answered(records: Records, questions: list[str]) -> str | None:
    """The question with most answers that are labels; of those with as many the one with the fewest different ones, as
    texts written by hand seldom repeat. None where there are none."""
    counts: dict[str, tuple[int, int]] = {}
    for question in questions:
        said = []
        for record in (one for one in records if isinstance(one, dict)):
            responses = record.get(question + RESPONSES)
            said += responses if isinstance(responses, list) else []
            suggestion = record.get(question + SUGGESTION)
            said.append(suggestion)
        labels = [json_text(value) for value in said if _is_label(value)]
        if labels:
            counts[question] = (len(labels), -len(set(labels)))
    return max(counts, key=lambda question: counts[question], default=None)


def _is_label(value: Json) -> bool:
    """Whether it is a label, or a list of some."""
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(one, (str, int)) for one in values)


def _labels(value: Json, row: int, where: str) -> list[str]:
    """A label, or a list of them."""
    return [a_name(one, row, where) for one in (value if isinstance(value, list) else [value])]


def _row(record: JsonObject, row: int, question: str, left_out: Counter[str]) -> Row:
    own = {question + end for end in _ENDINGS} | {OWN_PEOPLE}
    people = _people(record.get(OWN_PEOPLE), row)
    found = Row({name: value for name, value in record.items() if name not in own})
    where = question + RESPONSES
    responses = a_list(record.get(where), row, where)
    users = a_list(record.get(f"{where}.users"), row, f"{where}.users")
    statuses = a_list(record.get(f"{where}.status"), row, f"{where}.status")
    for more, name in ((users, "users"), (statuses, "status")):
        if more and len(more) != len(responses):
            message = f"expected one for each of the {len(responses)} responses, got {len(more)}."
            raise refuse(row, f"{where}.{name}", message, "Export the records again.")
    for place, response in enumerate(responses):
        status = a_name_or_none(statuses[place] if statuses else None, row, f"{where}.status", "a status")
        if status not in (None, SUBMITTED):
            left_out[status] += 1
        elif response is not None:
            user = a_name_or_none(users[place] if users else None, row, f"{where}.users", "a user")
            for label in _labels(response, row, where):
                found.name(label, 1.0, people.get(user or "", user))
    _suggest(found, record, row, question + SUGGESTION)
    add_own(found, record, row)
    if found.cells.get(OWN_ID) == found.cells.get("id"):  # the only field of a table without other columns
        found.cells.pop(OWN_ID, None)
    return found


def _people(value: Json, row: int) -> dict[str, str]:
    told = {} if value is None or value == "" else own_object(value, row, OWN_PEOPLE)
    return {user: str(name) for user, name in told.items()}


def _suggest(found: Row, record: JsonObject, row: int, where: str) -> None:
    """Name what a model suggests, each label with its score, or all with one score; 1 without any."""
    if record.get(where) is None:
        return
    labels = _labels(record[where], row, where)
    score = record.get(f"{where}.score")
    agent = a_name_or_none(record.get(f"{where}.agent"), row, f"{where}.agent", "an agent")
    agent = None if agent == OWN_AGENT else agent
    scores = score if isinstance(score, list) else [score] * len(labels)
    if len(scores) != len(labels):
        message = f"expected a score for each label suggested ({len(labels)}), got {len(scores)}."
        raise refuse(row, f"{where}.score", message, "Write one number, or one for each label.")
    for label, one in zip(labels, scores, strict=True):
        found.name(label, 1.0 if one is None else a_number(one, row, f"{where}.score", "a score"), agent)


def _read_nested(records: Records, name: str) -> TableReading:
    """One row for each record, as of flat ones. Raises TableError."""
    reading = _read(read_each(records, _flat_record), name)
    note = (
        "This form of export loses the status of responses: drafts and discarded answers count as submitted. "
        "Export with to_list(flatten=True) to tell them apart."
    )
    return replace(reading, notes=(*reading.notes, note))


def _flat_record(record: JsonObject, row: int) -> JsonObject:
    flat: JsonObject = {"id": record.get("id"), "status": record.get("status")}
    for part in ("fields", "metadata"):
        flat |= an_object(record.get(part) or {}, row, part)
    for question, value in an_object(record.get("suggestions") or {}, row, "suggestions").items():
        said = an_object(value, row, f"suggestions.{question}")
        flat[question + SUGGESTION] = said.get("value")
        flat[f"{question}{SUGGESTION}.score"] = said.get("score")
        flat[f"{question}{SUGGESTION}.agent"] = said.get("agent")
    for question, value in an_object(record.get("responses") or {}, row, "responses").items():
        where = f"responses.{question}"
        given = [
            an_object(one, row, f"{where}[{place}]") for place, one in enumerate(a_list(value, row, where))
        ]
        flat[question + RESPONSES] = [one.get("value") for one in given]
        flat[f"{question}{RESPONSES}.users"] = [one.get("user_id") for one in given]
    return flat


def _are_flat(records: Records) -> bool:
    seen = records[:LOOK]
    return bool(seen) and all(isinstance(one, dict) for one in seen) and bool(_questions(seen))


ARGILLA = RecordTool("Argilla records", _are_flat, _read)
ARGILLA_NESTED = RecordTool(
    "Argilla records as JSON",
    (Fields({"fields": dict, "responses": dict, "suggestions": dict}),),
    _read_nested,
)
