"""Argilla's records, flat and nested; Prodigy's JSONL of `choice` and `classification`, and tasks for `choice`.

Prodigy's layout: prodi.gy/docs/api-interfaces (`options`, `accept`, `answer`). Each record is one person's answer;
those about the same input form one row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from plcore.arrays.words import counted, listed
from plcore.tables.readers.candidate_rows import (
    OWN_VECTOR,
    OWN_WEIGHTS,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    add_own,
    agreed,
    an_object,
    first_of,
    json_text,
    own_object,
    own_vector,
    read_each,
    refuse,
    rows_reading,
    shown,
    unlike_note,
)
from plcore.tables.readers.mapping import LOOK, Fields, RecordTool
from plcore.tables.readers.reading import TableReading, refusal
from plcore.tables.writers.disambiguated import (
    OWN_ID,
    Disambiguated,
    LabelVectorTable,
    Tell,
    names_beside,
    names_labels,
    silent,
)

QUESTION, NOT_QUESTION = "label", "not_label"
"""The questions in records that Winnow wrote; the second, for label vectors, names the labels that are not right."""
OWN_AGENT = "winnow"
"""Suggester in records that Winnow wrote, which is not counted as a voter."""
OWN_PEOPLE = "winnow_people"
"""Names of users by their ids, as JSON, in records that Winnow wrote."""
RESPONSES, SUGGESTION = ".responses", ".suggestion"
SUBMITTED = "submitted"
_OWN = ("id", "status", "_server_id")


def _read_argilla(records: Records, name: str) -> TableReading:
    """Read one row for each record: submitted responses are votes, a suggestion is weighted by its score. Raises
    TableError.

    Of several questions, the one most often answered with labels is read; the others stay as columns.
    """
    if any(isinstance(one, dict) and one.get(OWN_VECTOR) for one in records):
        rows = read_each(records, _vector_row)
        return rows_reading(rows, name, describing=_describing(rows, set()), row_id="id")
    questions = _questions(records)
    if not questions:
        raise refusal("No field ends in .responses or .suggestion.", "Export the records with to_list(flatten=True).")
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
        notes.append(f"The labels are those of the question {question!r}; {listed(others)} are kept as columns.")
    return rows_reading(rows, name, describing=_describing(rows, about), row_id="id", notes=notes)


def _describing(rows: list[Row], about: set[str]) -> set[str]:
    return {name for row in rows for name in row.cells if name not in {*_OWN, *about}}


def _vector_row(record: JsonObject, row: int) -> Row:
    """Read the label vector that Winnow wrote, and the answers given since."""
    questions = {QUESTION: 1, NOT_QUESTION: 0}
    own = {question + end for question in questions for end in _ENDINGS} | {OWN_VECTOR}
    found = Row({name: value for name, value in record.items() if name not in own})
    if found.cells.get(OWN_ID) == found.cells.get("id"):  # the only field of a table without other columns
        found.cells.pop(OWN_ID, None)
    found.vector = own_vector(record.get(OWN_VECTOR), row, OWN_VECTOR) or {}
    for question, cell in questions.items():
        answered = {name: value for name, value in record.items() if not name.startswith(question + SUGGESTION)}
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
    """Return the question with the most answers that are labels; on ties the one with the fewest different answers,
    because free texts seldom repeat. None if there is none."""
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
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(isinstance(one, (str, int)) for one in values)


def _labels(value: Json, row: int, where: str) -> list[str]:
    """Return a label, or a list of labels, as a list."""
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
    """Add a model's suggestions as names, each label with its score, or all with one score; 1 if there is none."""
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
    reading = _read_argilla(read_each(records, _flat_record), name)
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
        given = [an_object(one, row, f"{where}[{place}]") for place, one in enumerate(a_list(value, row, where))]
        flat[question + RESPONSES] = [one.get("value") for one in given]
        flat[f"{question}{RESPONSES}.users"] = [one.get("user_id") for one in given]
    return flat


def _are_flat(records: Records) -> bool:
    seen = records[:LOOK]
    return bool(seen) and all(isinstance(one, dict) for one in seen) and bool(_questions(seen))


ARGILLA = RecordTool("Argilla records", _are_flat, _read_argilla)
ARGILLA_NESTED = RecordTool(
    "Argilla records as JSON", (Fields({"fields": dict, "responses": dict, "suggestions": dict}),), _read_nested
)


SHOWN = ("text", "image", "audio", "video", "html")
ANSWERS = ("accept", "reject", "ignore")
_ABOUT_ANSWERS = {"options", "accept", "answer", "label", "config", "meta"}
_TAKEN = {*_ABOUT_ANSWERS, "id"}
_REJECTED = "reject with options"


def _read_prodigy(records: Records, name: str) -> TableReading:
    """Read one row for each input. Raises TableError.

    The candidates of a row are the labels that people accepted, weighted by how many did; if there are none, its
    options. A rejected `label` is ruled out. Ignored tasks do not count.
    """
    if any(_vector_of(record, row) for row, record in enumerate(records, start=1)):
        return _vectors(records, name)
    rows: dict[str, Row] = {}
    options: dict[str, dict[str, float | None]] = {}
    metas: dict[str, tuple[JsonObject, int]] = {}
    counts: Counter[str] = Counter()
    for number, task in enumerate(read_each(records, _task), start=1):
        key = task.key
        row = rows.setdefault(key, Row(task.cells))
        options.setdefault(key, {}).update(task.options)
        metas.setdefault(key, (task.meta, number))
        counts[task.answer] += 1
        for label in task.votes:
            row.name(label, 1.0, task.person)
        row.ruled_out.update(task.ruled_out)
    chosen = 0
    for key, row in rows.items():
        chosen += bool(row.weights and options[key])
        row.ruled_out -= row.weights.keys()
        if not row.weights:
            for label, weight in options[key].items():
                if label not in row.ruled_out:
                    row.name(label, weight)
        add_own(row, *metas[key], "meta.")
    notes = []
    if chosen:
        notes.append(
            f"In {counted(chosen, 'row')} the options that people accepted are the candidates, not all of the options."
        )
    if counts["ignore"]:
        notes.append(f"Tasks that people ignored, which are no votes: {counts['ignore']:,}.")
    if counts[_REJECTED]:
        notes.append(f"Tasks with options that people rejected as a whole, which are no votes: {counts[_REJECTED]:,}.")
    labels = {label for row in options.values() for label in row}
    return rows_reading(list(rows.values()), name, row_id="id", classes=labels, notes=notes)


def _vector_of(record: Json, row: int) -> dict[str, int | None] | None:
    meta = record.get("meta") if isinstance(record, dict) else None
    return own_vector(meta.get(OWN_VECTOR), row, f"meta.{OWN_VECTOR}") if isinstance(meta, dict) else None


def _vectors(records: Records, name: str) -> TableReading:
    """Read one row for each input, with the label vector that Winnow wrote. Raises TableError.

    Options that people accepted are right; those that were right and are no longer accepted are wrong. If people differ
    on an option, it stays open.
    """
    rows: dict[str, Row] = {}
    said: dict[str, dict[str, set[int]]] = {}

    def read(record: JsonObject, number: int) -> None:
        task = _task(record, number)
        row = rows.setdefault(task.key, Row({one: cell for one, cell in task.cells.items() if one != OWN_VECTOR}))
        if row.vector is None:
            row.vector = _vector_of(record, number) or {}
        if task.answer == "accept":
            of_task = said.setdefault(task.key, {})
            right = {label for label, cell in row.vector.items() if cell == 1}
            for label in right | set(task.votes):
                of_task.setdefault(label, set()).add(int(label in task.votes))

    read_each(records, read)
    for key, of_task in said.items():
        rows[key].vector = {**(rows[key].vector or {}), **agreed(of_task)}
    return rows_reading(list(rows.values()), name, row_id="id", notes=unlike_note(said.values()))


def _are_tasks(records: Records) -> bool:
    seen = records[:LOOK]
    tasks = [record for record in seen if isinstance(record, dict) and _is_task(record)]
    return len(tasks) == len(seen) and any(task.get("options") or "label" in task for task in tasks)


def _is_task(record: JsonObject) -> bool:
    has_input = any(name in record for name in (*SHOWN, "_input_hash"))
    binary = "label" in record and record.get("answer") in ANSWERS
    options = record.get("options")
    # No options if a row was excluded.
    texts = isinstance(options, list) and all(isinstance(o, dict) and "id" in o for o in options)
    return has_input and (binary or texts)


@dataclass(frozen=True)
class _Task:
    """One record: its input, and the answer. options : with their weights, None without any"""

    key: str
    cells: Cells
    options: dict[str, float | None]
    meta: JsonObject
    votes: tuple[str, ...]
    ruled_out: tuple[str, ...]
    person: str | None
    answer: str


def _task(record: JsonObject, row: int) -> _Task:
    answer = record.get("answer")
    if answer is not None and answer not in ANSWERS:
        message = f"expected one of {', '.join(ANSWERS)}, got {shown(answer)}."
        raise refuse(row, "answer", message, "Correct it, or leave the field out where no one has answered.")
    meta = {} if record.get("meta") is None else an_object(record["meta"], row, "meta")
    cells: Cells = {
        name: value for name, value in record.items() if not name.startswith("_") and name not in _ABOUT_ANSWERS
    }
    cells |= {name: value for name, value in meta.items() if name not in cells and name != OWN_WEIGHTS}
    person = a_name_or_none(first_of(record, ("_annotator_id", "_session_id")), row, "_annotator_id", "a person")
    said = answer or "nothing"
    if "options" not in record:
        label = a_name(record.get("label"), row, "label")
        yes, no = ([label] if answer == wanted else [] for wanted in ("accept", "reject"))
        return _Task(_key(record, row), cells, {}, meta, tuple(yes), tuple(no), person, said)
    names = {}
    for place, value in enumerate(a_list(record["options"], row, "options")):
        option = an_object(value, row, f"options[{place}]")
        number = a_name(option.get("id"), row, f"options[{place}].id", "an id")
        numbered = isinstance(option["id"], int) and option.get("text") is not None
        names[number] = a_name(option["text"], row, f"options[{place}].text") if numbered else number
    if len(set(names.values())) < len(names):  # numbers distinguish options with the same text
        names = {number: number for number in names}
    votes = tuple(_option(names, value, row) for value in a_list(record.get("accept"), row, "accept"))
    if answer == "reject":
        said = _REJECTED
    weights = own_object(meta.get(OWN_WEIGHTS) or {}, row, f"meta.{OWN_WEIGHTS}")
    options = {
        name: a_number(weights[name], row, f"meta.{OWN_WEIGHTS}") if weights.get(name) is not None else None
        for name in names.values()
    }
    accepted = votes if answer == "accept" else ()
    return _Task(_key(record, row), cells, options, meta, accepted, (), person, said)


def _option(names: dict[str, str], value: Json, row: int) -> str:
    number = a_name(value, row, "accept", "an id")
    if number not in names:
        message = f"{number!r} was accepted, but the options are {listed(list(names))}."
        raise refuse(row, "accept", message, "Add it to the options, or remove it.")
    return names[number]


def _key(record: JsonObject, row: int) -> str:
    """Return the fields that all records about one input share."""
    number = a_name_or_none(record.get("_input_hash"), row, "_input_hash", "a number")
    return json_text([record.get(name) for name in SHOWN]) if number is None else number


PRODIGY = RecordTool("Prodigy JSONL", _are_tasks, _read_prodigy)
"""Records with `options`, or with one accepted or rejected `label`."""


def prodigy_tasks(table: Disambiguated, tell: Tell = silent) -> Iterator[str]:
    """Yield lines of JSON for the interface `choice`: one for each answer that names labels, and one without an answer
    for each row that has none. The options are the remaining candidates and the labels of the answer. Prodigy shows a
    column `text`, `image`, `audio`, `video` or `html`; columns whose names have another meaning there go into `meta`,
    whose `id` names the row; a different column of that name is renamed `before_id`."""
    number = 0
    columns = [str(name) for name in table.cells.columns]
    new_names = {} if table.id_column() == "id" else names_beside(columns, ["id"])
    for piece in table.pieces():
        answers, left, carried = piece.answers_by_row(), piece.weighted(), piece.carried()
        for row, record in enumerate(piece.records()):
            cells = {new_names.get(column, column): cell for column, cell in record.items()}
            number += 1
            said = answers.get(row, [])
            given: list[dict[str, Any] | None] = [one for one in said if names_labels(one)]
            own = carried[row]
            if piece.weights is not None:
                own[OWN_WEIGHTS] = json_text(left[row])
            for answer in given or [None]:
                yield json_text(_written(cells, list(left[row]), answer, piece.ids[row], number, own)) + "\n"
        tell(number)


def prodigy_vectors(table: LabelVectorTable, tell: Tell = silent) -> Iterator[str]:
    """Yield lines of JSON for the interface `choice` with the style `multiple`, one for each row: all labels are
    options, the right ones are already accepted, and `meta` has the vector."""
    number = 0
    new_names = {} if table.id_column() == "id" else names_beside(list(table.kept().columns), ["id"])
    for piece in table.pieces():
        for name, record, vector in zip(piece.ids, piece.records(), piece.known(), strict=True):
            cells = {new_names.get(column, column): cell for column, cell in record.items()}
            number += 1
            task = _written(cells, list(vector), None, name, number, {OWN_VECTOR: json_text(vector)})
            task["accept"] = [label for label, cell in vector.items() if cell == 1]
            task["config"] = {"choice_style": "multiple"}
            yield json_text(task) + "\n"
        tell(number)


def _written(
    cells: dict[str, str],
    left: list[str],
    answer: dict[str, Any] | None,
    name: str,
    number: int,
    carried: Mapping[str, str],
) -> JsonObject:
    """Return the task of one answer. left : the remaining candidates      name : the id of the row      carried : goes
    to `meta`"""
    accepted = [] if answer is None else list(answer["labels"])
    own = [column for column in cells if column in _TAKEN or column.startswith("_")]
    task: JsonObject = {column: cell for column, cell in cells.items() if column not in own}
    task["options"] = [{"id": option, "text": option} for option in dict.fromkeys([*left, *accepted])]
    task["meta"] = {"id": name, **{column: cells[column] for column in own}, **carried}
    task["_input_hash"] = number
    if answer is not None:
        task |= {"accept": accepted, "answer": "accept", "_annotator_id": answer["person"]}
    return task
