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
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import (
    OWN_VECTOR,
    OWN_WEIGHTS,
    At,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    add_own,
    agreed,
    json_text,
    read_each,
    rows_reading,
    shown,
    unlike_note,
)
from plcore.tables.readers.mapping import LOOK, Fields, RecordTool
from plcore.tables.readers.reading import TableReading
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
    rows = read_each(records, lambda record: _row(record, question, left_out))
    notes = [f"Responses that are {status}, so no votes: {count:,}." for status, count in left_out.items()]
    others = [one for one in questions if one != question]
    if others:
        notes.append(f"The labels are those of the question {question!r}; {listed(others)} are kept as columns.")
    return rows_reading(rows, name, describing=_describing(rows, about), row_id="id", notes=notes)


def _describing(rows: list[Row], about: set[str]) -> set[str]:
    return {name for row in rows for name in row.cells if name not in {*_OWN, *about}}


def _without_own_id(found: Row) -> Row:
    if found.cells.get(OWN_ID) == found.cells.get("id"):  # the only field of a table without other columns
        found.cells.pop(OWN_ID, None)
    return found


def _vector_row(record: At) -> Row:
    """Read the label vector that Winnow wrote, and the answers given since."""
    questions, given = {QUESTION: 1, NOT_QUESTION: 0}, record.object()
    own = {question + end for question in questions for end in _ENDINGS} | {OWN_VECTOR}
    found = Row({name: value for name, value in given.items() if name not in own})
    found.vector = record[OWN_VECTOR].own_vector() or {}
    for question, cell in questions.items():
        answered = {name: value for name, value in given.items() if not name.startswith(question + SUGGESTION)}
        found.vector |= dict.fromkeys(_row(At(answered, record.row), question, Counter()).weights, cell)
    return _without_own_id(found)


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


def _labels(said: At) -> list[str]:
    """Return a label, or a list of labels, as a list."""
    return [one.name() for one in (said.items() if isinstance(said.value, list) else [said])]


def _row(record: At, question: str, left_out: Counter[str]) -> Row:
    own = {question + end for end in _ENDINGS} | {OWN_PEOPLE}
    told = record[OWN_PEOPLE]
    people = {} if told.value in (None, "") else {user: str(name) for user, name in told.own_object().object().items()}
    found = Row({name: value for name, value in record.object().items() if name not in own})
    responses = record[question + RESPONSES].items()
    users, statuses = (
        more.items_for(responses, "one", "response") if more.items() else []
        for more in (record[f"{question}{RESPONSES}.{name}"] for name in ("users", "status"))
    )
    for place, response in enumerate(responses):
        status = statuses[place].name_or_none("a status") if statuses else None
        if status not in (None, SUBMITTED):
            left_out[status] += 1
        elif response.value is not None:
            user = users[place].name_or_none("a user") if users else None
            for label in _labels(response):
                found.name(label, 1.0, people.get(user or "", user))
    _suggest(found, record, question + SUGGESTION)
    add_own(found, record)
    return _without_own_id(found)


def _suggest(found: Row, record: At, name: str) -> None:
    """Add a model's suggestions as names, each label with its score, or all with one score; 1 if there is none."""
    if record[name].value is None:
        return
    labels, score = _labels(record[name]), record[f"{name}.score"]
    agent = record[f"{name}.agent"].name_or_none("an agent")
    scores = (
        score.items_for(labels, "a score", "label suggested")
        if isinstance(score.value, list)
        else [score] * len(labels)
    )
    for label, one in zip(labels, scores, strict=True):
        found.name(label, one.number_or(1.0, "a score"), None if agent == OWN_AGENT else agent)


def _read_nested(records: Records, name: str) -> TableReading:
    reading = _read_argilla(read_each(records, _flat_record), name)
    note = (
        "This form of export loses the status of responses: drafts and discarded answers count as submitted. "
        "Export with to_list(flatten=True) to tell them apart."
    )
    return replace(reading, notes=(*reading.notes, note))


def _flat_record(record: At) -> JsonObject:
    flat: JsonObject = {"id": record["id"].value, "status": record["status"].value}
    for part in ("fields", "metadata"):
        flat |= {name: one.value for name, one in record[part].or_empty.fields()}
    for question, said in record["suggestions"].or_empty.fields():
        flat[question + SUGGESTION] = said["value"].value
        flat |= {f"{question}{SUGGESTION}.{name}": said[name].value for name in ("score", "agent")}
    for question, given in record["responses"].or_empty.fields():
        flat[question + RESPONSES] = [one["value"].value for one in given.items()]
        flat[f"{question}{RESPONSES}.users"] = [one["user_id"].value for one in given.items()]
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
    if any(_vector_of(At(record, row)) for row, record in enumerate(records, start=1)):
        return _vectors(records, name)
    rows: dict[str, Row] = {}
    options: dict[str, dict[str, float | None]] = {}
    metas: dict[str, At] = {}
    counts: Counter[str] = Counter()
    for task in read_each(records, _task):
        key = task.key
        row = rows.setdefault(key, Row(task.cells))
        options.setdefault(key, {}).update(task.options)
        metas.setdefault(key, task.meta)
        counts[task.answer] += 1
        for label in task.votes:
            row.name(label, 1.0, task.person)
        row.ruled_out.update(task.ruled_out)
    chosen = disputed = 0
    for key, row in rows.items():
        chosen += bool(row.weights and options[key])
        if row.weights and row.weights.keys() <= row.ruled_out:
            disputed += 1
            row.ruled_out -= row.weights.keys()
            row.weights.clear()
            row.sources.clear()
        row.ruled_out -= row.weights.keys()
        if not row.weights:
            for label, weight in options[key].items():
                if label not in row.ruled_out:
                    row.name(label, weight)
        add_own(row, metas[key])
    notes = []
    if chosen:
        notes.append(
            f"In {counted(chosen, 'row')} the options that people accepted are the candidates, not all of the options."
        )
    if disputed:
        notes.append(
            f"Rows whose only label some people accepted and others rejected: {disputed:,}. No vote counts there."
        )
    if counts["ignore"]:
        notes.append(f"Tasks that people ignored, which are not votes: {counts['ignore']:,}.")
    if counts[_REJECTED]:
        notes.append(f"Tasks with options that people rejected as a whole, which are not votes: {counts[_REJECTED]:,}.")
    labels = {label for row in options.values() for label in row}
    return rows_reading(list(rows.values()), name, row_id="id", classes=labels, notes=notes)


def _vector_of(record: At) -> dict[str, int | None] | None:
    return record.get("meta").get(OWN_VECTOR).own_vector()


def _vectors(records: Records, name: str) -> TableReading:
    """Read one row for each input, with the label vector that Winnow wrote. Raises TableError.

    Options that people accepted are right; those that were right and are no longer accepted are wrong. If people differ
    on an option, it stays open.
    """
    rows: dict[str, Row] = {}
    said: dict[str, dict[str, set[int]]] = {}

    def read(record: At) -> None:
        task = _task(record)
        row = rows.setdefault(task.key, Row({one: cell for one, cell in task.cells.items() if one != OWN_VECTOR}))
        if row.vector is None:
            row.vector = _vector_of(record) or {}
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
    meta: At
    votes: tuple[str, ...]
    ruled_out: tuple[str, ...]
    person: str | None
    answer: str


def _task(record: At) -> _Task:
    given, answer, meta = record.object(), record["answer"].value, record["meta"]
    if answer is not None and answer not in ANSWERS:
        message = f"expected one of {', '.join(ANSWERS)}, got {shown(answer)}."
        fix = "Correct it, or leave the field out where no one has answered."
        raise record["answer"].refuse(message, fix)
    cells: Cells = {
        name: value for name, value in given.items() if not name.startswith("_") and name not in _ABOUT_ANSWERS
    }
    cells |= {name: one.value for name, one in meta.fields() if name not in cells and name != OWN_WEIGHTS}
    person = record.first(("_annotator_id", "_session_id")).name_or_none("a person")
    # The fields that all records about one input share.
    number = record["_input_hash"].name_or_none("a number")
    key = json_text([given.get(name) for name in SHOWN]) if number is None else number
    said = answer or "nothing"
    if "options" not in given:
        label = record["label"].name()
        yes, no = ([label] if answer == wanted else [] for wanted in ("accept", "reject"))
        return _Task(key, cells, {}, meta, tuple(yes), tuple(no), person, said)
    names = {}
    for option in record["options"].items():
        number = option["id"].name("an id")
        numbered = isinstance(option["id"].value, int) and option["text"].value is not None
        names[number] = option["text"].name() if numbered else number
    if len(set(names.values())) < len(names):  # numbers distinguish options with the same text
        names = {number: number for number in names}
    votes = tuple(_option(names, one) for one in record["accept"].items())
    if answer == "reject":
        said = _REJECTED
    weights = dict(meta.get(OWN_WEIGHTS).or_empty.own_object().fields())
    options = {name: weights[name].number_or(None) if name in weights else None for name in names.values()}
    return _Task(key, cells, options, meta, votes if answer == "accept" else (), (), person, said)


def _option(names: dict[str, str], accepted: At) -> str:
    number = accepted.name("an id")
    if number not in names:
        message = f"{number!r} was accepted, but the options are {listed(list(names))}."
        raise accepted.refuse(message, "Add it to the options, or remove it.")
    return names[number]


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
