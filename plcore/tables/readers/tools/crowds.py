"""Answers of crowds and surveys: Mechanical Turk, Toloka, Prolific, Appen, Qualtrics and Gorilla.

Each layout is converted to a table with one vote per line, which `plcore.tables.readers.tools.votes` reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
import pandas as pd

from plcore.arrays.words import counted, listed, quoted
from plcore.tables.columns import Finder
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import At, Json, JsonObject, Records, json_in, objects_in, read_each
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import (
    Fingerprint,
    TableReading,
    by_plain_name,
    first_named,
    names,
    plain_name,
    refusing,
    texts_of,
)
from plcore.tables.readers.records import flat_cells
from plcore.tables.readers.tools.votes import LEFT_OUT, OUT, VoteColumns, answers_in, votes_reading

_LABEL, _TIME, _GOLD, _STATUS = "\x1flabel", "\x1ftime", "\x1fgold", "\x1fstatus"
"""Columns added here; no file has these names."""

_YES, _NO = ("true", "on", "1"), ("false", "", "off", "0")
_TURK_TIMES = ("%a %b %d %H:%M:%S UTC %Y", "%a %b %d %H:%M:%S GMT %Y", "%a %b %d %H:%M:%S %Z %Y")
_ASIDE = re.compile(
    r"(^|[.:_ ])(comments?|feedback|opt_?in|suggestions?|remarks?|notes?|e?mail|age|gender|browser|user_?agent"
    r"|survey_?code|time_?(?:spent|taken)?)$",
    re.IGNORECASE,
)
"""Additional questions, such as comments."""
_TASK_ANSWERS = "answer.taskanswers"
_WORKERS = ("workerid", "turkle.username")


def _reading(
    cells: pd.DataFrame,
    name: str,
    columns: VoteColumns,
    labels: Sequence[Sequence[str]],
    out: Sequence[bool],
    times: Sequence[str],
    notes: Iterable[str] = (),
    golds: Sequence[str] = (),
) -> TableReading:
    """Read the tasks with these answers; a task without any counted answer stays, without votes.

    labels : of each line; several form one answer, an empty list is none      out : whether a line does not count
    times : of each line; may be unknown      golds : the true label of each line, "" if unknown
    notes : why lines do not count
    """
    places = [(place, label) for place, of_line in enumerate(labels) for label in (of_line or [""])]
    at = [place for place, _ in places]
    lines = cells.iloc[at].copy()
    timed = all(times)
    lines[_LABEL] = [label for _, label in places]
    # Without times, the last line of the file counts; the labels of one line are one answer.
    lines[_TIME] = [times[place] if timed else str(place) for place in at]
    lines[_STATUS] = [LEFT_OUT if out[place] else "" for place in at]
    if golds:
        lines[_GOLD] = [golds[place] for place in at]
    said = replace(columns, label=_LABEL, time=_TIME, status=_STATUS, gold=_GOLD if golds else None)
    return votes_reading(lines, said, name, notes)


def _singly(cells: pd.DataFrame, column: str | None) -> list[list[str]]:
    """Return the label of each line, as a list."""
    return [[text] if text else [] for text in texts_of(cells, column)]


def _left_out(lines: Sequence[bool], why: str) -> tuple[str, ...]:
    count = sum(lines)
    return (f"Left out: {count} answer{'s' if count > 1 else ''} {why}.",) if count else ()


def left_out_by(cells: pd.DataFrame, column: str | None, words: Sequence[str]) -> tuple[list[bool], tuple[str, ...]]:
    """Return whether each line does not count, as its status is one of these words, and a note about such lines."""
    status = [text.lower() for text in texts_of(cells, column)]
    out = [text in words for text in status]
    said = sorted({text.upper() for text in status if text in words})
    return out, _left_out(out, f"with the status {listed(said)}")


def _read_turk(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    question = _question(list(map(str, cells.columns)))
    if question is None:
        answers = [name for plain, name in columns.items() if plain.startswith("answer.")]
        raise refusal(f"Several questions were answered: {listed(answers)}.", "Keep the columns of one question.")
    if question[1] == ():
        labels = _singly(cells, question[0])
    else:
        labels = _json_answers(cells, question[0]) if question[1] is None else _marked(cells, question)
    rejected = [text.lower() == "rejected" for text in texts_of(cells, columns.get("assignmentstatus"))]
    notes = _left_out(rejected, "that the requester rejected")
    times = [_turk_time(text) for text in texts_of(cells, columns.get("submittime"))]
    inputs = tuple(name for plain, name in columns.items() if plain.startswith("input."))
    about = tuple(name for plain, name in columns.items() if not plain.startswith("input."))
    hits, said = cells[columns["hitid"]].nunique(), len(cells[[*inputs]].drop_duplicates()) if inputs else 0
    if 0 < said < hits:
        notes = (*notes, f"The {hits:,} HITs have {said:,} different inputs: each of these is an item.")
    task = None if 0 < said < hits else columns["hitid"]  # a batch that was run again has other HITs
    worker = next(columns[name] for name in _WORKERS if name in columns)
    voted = VoteColumns(task, inputs, worker, _LABEL, about_votes=about)
    return _reading(cells, called, voted, labels, rejected, times, notes)


def _question(columns: Sequence[str]) -> tuple[str, tuple[str, ...] | None] | None:
    """Find the question that was asked: a column of JSON and None; a column of plain answers and (); or the prefix of
    the option columns, and the columns. None if there are several questions. Comments do not count."""
    answers = [name for name in columns if name.strip().lower().startswith("answer.") and not _ASIDE.search(name)]
    for name in answers:
        low = name.strip().lower()
        if low == _TASK_ANSWERS or (low.endswith(".labels") and len(answers) == 1):
            return name, None
    groups: dict[str, list[str]] = {}
    for name in answers:
        stem, _, option = name.strip()[len("answer.") :].rpartition(".")
        if stem and option.lower() not in ("label", "labels"):
            groups.setdefault(stem, []).append(name)
    marked = {stem: options for stem, options in groups.items() if len(options) > 1}
    # A checkbox or radio button with a name of its own: Answer.cat.on, Answer.cat.cat.
    alone = all(option.lower() == "on" or option == stem for stem, option in map(_last_two, answers))
    if not marked and alone and len(answers) > 1:
        return "", tuple(answers)
    if not marked and len(answers) == 1:
        return answers[0], ()
    if len(marked) != 1:
        return None
    ((stem, options),) = marked.items()
    return stem, tuple(options)


def _last_two(name: str) -> tuple[str, str]:
    """Return the last two parts of a column's name: `q` and `cat` of `Answer.q.cat`."""
    *_, stem, option = ["", *map(str.strip, name.split("."))]
    return stem, option


def _button(name: str) -> str:
    """Return the option of a column: `cat` of `Answer.q.cat` and of `Answer.cat.on`."""
    stem, option = _last_two(name)
    return stem if option.lower() == "on" else option


def _marked(cells: pd.DataFrame, question: tuple[str, tuple[str, ...] | None]) -> list[list[str]]:
    """Return the options of each line that are true."""
    finder, found = Finder.of(cells), []
    options = {name: _button(name) for name in question[1] or ()}
    texts = {name: texts_of(cells, name) for name in options}
    for row in range(len(cells)):
        chosen = []
        for name, option in options.items():
            text = texts[name][row].lower()
            if text in _YES:
                chosen.append(option)
            elif text not in _NO:
                finder.add(row, name, f"expected true or false, got {quoted(text)}.", "Write true or false.")
        found.append(chosen)
    finder.refuse()
    return found


def _json_answers(cells: pd.DataFrame, column: str) -> list[list[str]]:
    """Return the labels in `[{"q": {"cat": true, "dog": false}}]`, `[{"q": "cat"}]` and `[{"q": {"label": "cat"}}]`."""
    finder = Finder.of(cells)
    parsed: list[JsonObject] = []
    for row, text in enumerate(texts_of(cells, column)):
        value = _parsed(text)
        if value is None:
            finder.add(row, column, "expected the answers as JSON, as in [{...}].", "Correct the cell, or remove it.")
        parsed.append(value or {})
    finder.refuse()
    asked = dict.fromkeys(name for one in parsed for name, value in one.items() if _chosen(value))
    if len(asked) > 1:
        asked = {name: None for name in asked if not _ASIDE.search(f".{name}")}
    if len(asked) > 1:
        raise refusal(
            f"Column {quoted(column)} answers several questions: {listed(list(asked))}.",
            "Keep the answers of one question in it.",
        )
    return [[label for name in asked for label in _chosen(one.get(name))] for one in parsed]


def _parsed(text: str) -> JsonObject | None:
    """Return the answers of a cell by question; None if it holds something else."""
    value = json_in(text or "{}")
    parts: list[Json] = value if isinstance(value, list) else [value]
    if all(isinstance(one, str) for one in parts):
        return {"": parts}
    objects = objects_in(parts)
    return {name: answer for one in objects for name, answer in one.items()} if len(objects) == len(parts) else None


def _chosen(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [label for one in value for label in _chosen(one)]
    if isinstance(value, dict):
        for name in ("label", "labels"):
            if isinstance(value.get(name), (str, list)):
                return _chosen(value[name])
        return [option for option, marked in value.items() if marked is True]
    return []


def _turk_time(text: str) -> str:
    """Return the seconds since 1970 of a time such as `Thu Oct 09 08:01:00 UTC 2025`; "" for other text."""
    for form in _TURK_TIMES:
        try:
            return str((datetime.strptime(text, form) - datetime(1970, 1, 1)).total_seconds())
        except ValueError:
            continue
    return ""


_NOT_DONE = ("rejected", "skipped", "expired", "active")


def _read_toloka(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    outputs = [name for plain, name in columns.items() if plain.startswith("output:")]
    asked = [name for name in outputs if not _ASIDE.search(name)]
    controlled = [name for name in asked if any(texts_of(cells, _golden(columns, name)))]
    chosen = controlled if len(controlled) == 1 else asked
    if len(chosen) != 1:
        raise refusal(f"Several questions were answered: {listed(outputs)}.", "Keep the columns of one question.")
    out, notes = left_out_by(cells, columns.get("assignment:status"), _NOT_DONE)
    inputs = tuple(name for plain, name in columns.items() if plain.startswith("input:"))
    about = tuple(name for name in columns.values() if name not in inputs)
    voted = VoteColumns(None, inputs, columns["assignment:worker_id"], _LABEL, about_votes=about)
    times = texts_of(cells, first_named(columns, "assignment:submitted", "assignment:started"))
    golds = texts_of(cells, _golden(columns, chosen[0]))
    return _reading(cells, called, voted, _singly(cells, chosen[0]), out, times, notes, golds)


def _golden(columns: dict[str, str], output: str) -> str | None:
    return columns.get("golden:" + plain_name(output).removeprefix("output:"))


_IMPORT_ID = '{"ImportId"'
_SURVEY = frozenset((
    "startdate", "enddate", "status", "ipaddress", "progress", "duration (in seconds)", "finished", "recordeddate",
    "responseid", "recipientlastname", "recipientfirstname", "recipientemail", "externalreference",
    "locationlatitude", "locationlongitude", "distributionchannel", "userlanguage",
))  # fmt: skip
_LONGEST_ANSWER = 60
_LOOPED = re.compile(r"(\d+)_(\w.*)", re.ASCII)  # names of Loop & Merge: the number of the item, the question


def _read_qualtrics(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each question of a survey, whose respondents are the voters. Raises TableError.

    Below the header, Qualtrics writes a row with the questions' texts and one with their ids as JSON.
    """
    columns = by_plain_name(cells.columns)
    ids = [name for name in cells.columns if cells[name].iloc[:2].str.startswith(_IMPORT_ID).any()]
    n_heads = 2 if ids else 0
    texts = {str(name): str(cells[name].iloc[0]) if n_heads else str(name) for name in cells.columns}
    body = cells.iloc[n_heads:]
    previews = [text.lower() in _PREVIEWS for text in texts_of(body, columns.get("status"))]
    started = _are_started(body)
    kept = body[~(np.array(previews, dtype=bool) | np.array(started, dtype=bool))]
    asked = {
        str(name): {text for text in texts_of(kept, str(name)) if text}
        for name in cells.columns
        if plain_name(name) not in _SURVEY
    }
    asked = {name: words for name, words in asked.items() if words and max(map(len, words)) <= _LONGEST_ANSWER}
    items, asks = _loop_items(asked)
    if not items:
        items = {name: name for name in _most_alike(asked)}
    if len(items) < 2:
        raise refusal(
            f"No two questions of the survey share their answers: {listed(list(asked))}.",
            "Turn the table round, so that each line is one answer: task, worker and label.",
        )
    lines = pd.DataFrame(
        [
            {"question_id": item, "question": texts[column], "respondent": person, "answer": answer}
            for item, column in items.items()
            for person, answer in zip(texts_of(kept, columns["responseid"]), texts_of(kept, column), strict=True)
        ],
        dtype="str",
    )
    rest = [name for name in asked if name not in items.values()]
    looped = any(item != column for item, column in items.items())
    what = "items that the survey loops over" if looped else "questions with the same answers"
    notes = [
        f"Each of the {len(items)} {what} is an item: {listed(list(items), 5)}.",
        *_left_out(previews, "that are previews or spam"),
        *_left_out(started, "of people who did not finish"),
    ]
    if rest:
        notes.append(f"Other questions are left out: {listed(rest, 5)}.")
    if count := sum(started):
        message = (
            f"{counted(count, 'person', 'people')} of {counted(len(body) - sum(previews), 'person', 'people')} did not "
            "finish the survey: read here, their answers are left out, but those that they gave may count."
        )
        fix = "If they do, choose that they are counted (--unfinished count); accept to leave them out."
        asks = (*asks, ("unfinished-answers", message, fix))
    found = votes_reading(lines, VoteColumns("question_id", (), "respondent", "answer"), called, notes)
    return replace(found, asks=asks)


def _most_alike(asked: Mapping[str, set[str]]) -> list[str]:
    """Return the largest group of questions with shared answers. asked : their different answers"""
    alike = {
        name: [other for other, more in asked.items() if 2 * len(words & more) >= min(len(words), len(more))]
        for name, words in asked.items()
    }
    return max(alike.values(), key=len, default=[])


def _loop_items(asked: Mapping[str, set[str]]) -> tuple[dict[str, str], tuple[tuple[str, str, str], ...]]:
    """Return the column of each item that a survey loops over (`1_Q3`, `2_Q3`), and the doubt about further questions
    about each item; none if it does not loop."""
    loops: dict[str, dict[str, str]] = {}
    for name in asked:
        if (match := _LOOPED.fullmatch(name.strip())) is not None:
            loops.setdefault(match[2], {})[match[1]] = name
    loops = {
        question: named
        for question, named in loops.items()
        if len(named) > 1 and len(_most_alike({name: asked[name] for name in named.values()})) == len(named)
    }
    question = max(loops, key=lambda one: len(loops[one]), default=None)
    if question is None:
        return {}, ()
    others = [one for one in loops if one != question]
    if not others:
        return loops[question], ()
    message = (
        f"The survey asks several questions about each item, {listed(list(loops), 5)}: read here, {quoted(question)} "
        f"asks for the label, but {listed(others, 5)} may."
    )
    fix = "If so, remove the columns of the others and import the file again."
    return loops[question], (("several-questions", message, fix),)


UNFINISHED = ("leave-out", "count")
"""Choices for answers of people who did not finish a survey."""
_UNFINISHED = ("false", "0")
_PREVIEWS = ("survey preview", "spam", "1", "8")
"""Qualtrics statuses of answers that never count."""


def _are_started(cells: pd.DataFrame) -> list[bool]:
    """Whether each line of Qualtrics' file is the answer of a person who did not finish, ignoring previews."""
    columns = by_plain_name(cells.columns)
    lines = zip(texts_of(cells, columns["finished"]), texts_of(cells, columns.get("status")), strict=True)
    return [done.lower() in _UNFINISHED and status.lower() not in _PREVIEWS for done, status in lines]


def has_unfinished(reading: TableReading) -> bool:
    """Whether this is a Qualtrics file with answers of people who did not finish."""
    if reading.roles is not None or not QUALTRICS.fits(reading.cells):
        return False
    return any(_are_started(reading.cells))


def with_answers(reading: TableReading, value: str) -> TableReading:
    """Return the file with the answers of people who did not finish left out, or counted. value : one of
    `UNFINISHED`"""
    finished = by_plain_name(reading.cells.columns)["finished"]
    started = pd.Series(_are_started(reading.cells), index=reading.cells.index)
    people = counted(int(started.sum()), "person", "people")
    if value == "count":
        cells = reading.cells.assign(**{finished: reading.cells[finished].mask(started, "True").astype("str")})
        return replace(reading, cells=cells, notes=(*reading.notes, f"Answers of {people} who did not finish count."))
    said = f"Left out, as chosen: the answers of {people} who did not finish."
    return replace(reading, cells=reading.cells[~started], notes=(*reading.notes, said))


def _read_gorilla(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    kinds = [text.lower() for text in texts_of(cells, first_named(columns, "response type", "zone type"))]
    answers = texts_of(cells, columns["response"])
    is_answer = ["response" in kind or "button" in kind or not kind for kind in kinds]
    given = [bool(answer) and good for answer, good in zip(answers, is_answer, strict=True)]
    body = cells[given]
    sheets = [name for plain, name in columns.items() if plain.startswith("spreadsheet")]
    sheets = [name for name in sheets if body[name].str.strip().ne("").all()] if len(body) else []
    if not sheets:
        raise refusal(
            "No column of the spreadsheet names the item in every line with a response.",
            "Export the task with its spreadsheet columns.",
        )
    item = max(sheets, key=lambda name: body[name].nunique())
    golds = texts_of(body, columns.get("answer"))
    known: dict[str, set[str]] = {}
    for name, gold in zip(texts_of(body, item), golds, strict=True):
        known.setdefault(name, set()).add(gold)
    single = all(len(one) == 1 for one in known.values()) and any(golds)
    about = tuple(str(name) for name in cells.columns if str(name) not in sheets)
    voted = VoteColumns(
        item,
        (),
        str(first_named(columns, "participant private id", "participant public id")),
        columns["response"],
        columns.get("answer") if single else None,
        first_named(columns, "utc timestamp"),
        about_votes=about,
    )
    notes = [f"An item is what {quoted(item)} names; lines without a response are left out."]
    if any(golds) and not single:
        notes.append("Answer differs between lines of one item, so it is not a true label.")
    return votes_reading(body, voted, called, notes)


_PARTICIPANTS = ("participant_id", "participant id")
_ITEMS = ("item_id", "item", "stimulus_id", "trial_id", "stimulus")
_RESPONSES = ("response", "label", "answer", "choice", "rating")


def _read_prolific(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    label, item, worker = (first_named(columns, *names) for names in (_RESPONSES, _ITEMS, _PARTICIPANTS))
    out, notes = left_out_by(cells, columns.get("status"), OUT)
    times = texts_of(cells, first_named(columns, "completed_at", "submitted_at", "completed at"))
    facts = ("submission_id", "submission id", "status", "age", "sex", "rt", "started_at", "completed_at")
    about = [columns[name] for name in facts if name in columns]
    voted = VoteColumns(item, (), str(worker), _LABEL, about_votes=(*about, str(label)))
    return _reading(cells, called, voted, _singly(cells, label), out, times, notes)


def _read_appen(cells: pd.DataFrame, called: str) -> TableReading:
    columns = by_plain_name(cells.columns)
    question = _appen_question(cells.columns)
    if question is None:
        raise refusal(
            "No column has a second one that ends in _gold, or several have.", "Keep the columns of one question."
        )
    tainted = [text.lower() == "true" for text in texts_of(cells, columns.get("_tainted"))]
    notes = [*_left_out(tainted, "of workers who failed the checks (_tainted)")]
    golds = [answers_in(text) for text in texts_of(cells, columns[f"{plain_name(question)}_gold"])]
    several = sum(len(one) > 1 for one in golds)
    if several:
        notes.append(f"Test questions that accept several answers, so no single true label: {several:,}.")
    own = tuple(name for plain, name in columns.items() if plain.startswith("_"))
    about = (*own, question, columns[f"{plain_name(question)}_gold"])
    weight = columns.get("_trust")
    voted = VoteColumns(columns["_unit_id"], (), columns["_worker_id"], _LABEL, weight=weight, about_votes=about)
    labels = [answers_in(text) for text in texts_of(cells, question)]
    times = [_appen_time(text) for text in texts_of(cells, columns.get("_created_at"))]
    right = [one[0] if len(one) == 1 else "" for one in golds]
    return _reading(cells, called, voted, labels, tainted, times, notes, right)


def _appen_question(columns: Iterable[object]) -> str | None:
    plain = by_plain_name(columns)
    pairs = [name for low, name in plain.items() if f"{low}_gold" in plain]
    return pairs[0] if len(pairs) == 1 else None


def _appen_time(text: str) -> str:
    """Return the ISO 8601 form of a time such as `1/2/2016 10:00:10`, month first; other text unchanged."""
    try:
        return datetime.strptime(text, "%m/%d/%Y %H:%M:%S").isoformat()
    except ValueError:
        return text


TOLOKA = TableTool(
    "Toloka assignments",
    _read_toloka,
    Fingerprint(names("assignment:worker_id"), starts=("input:", "output:")),
    has_rows=False,
)
"""Control tasks have a right answer in GOLDEN, which is their true label."""


def _toloka_lines(assignment: At) -> list[JsonObject]:
    """Return a line for each task of an assignment, with the columns of Toloka's table."""
    tasks, given = assignment["tasks"].items(), assignment["solutions"]
    solutions = given.items_for(tasks, "a solution", "task") if given.value else [At({})] * len(tasks)
    lines = []
    for task, solution in zip(tasks, solutions, strict=True):
        kinds = [("INPUT", task["input_values"]), ("OUTPUT", solution["output_values"])]
        kinds += [("GOLDEN", one["output_values"]) for one in task["known_solutions"].objects()[:1]]
        line = {f"{kind}:{name}": one.value for kind, at in kinds for name, one in at.fields()}
        facts = {"worker_id": assignment["user_id"], "status": assignment["status"]}
        facts |= {"assignment_id": assignment["id"], "submitted": assignment["submitted"]}
        lines.append(line | {f"ASSIGNMENT:{name}": at.value for name, at in facts.items()})
    return lines


def _read_toloka_json(records: Records, called: str) -> TableReading:
    lines = [line for one in read_each(records, _toloka_lines) for line in one]
    return replace(TOLOKA.read(flat_cells(lines)), format=called)


TOLOKA_JSON = RecordTool(
    "Toloka assignments as JSON",
    (Fields({"tasks": list, "user_id": str}, inside={"tasks": ("input_values",)}),),
    _read_toloka_json,
)
"""Assignments as Toloka's API returns them."""

QUALTRICS = TableTool(
    "Qualtrics responses", _read_qualtrics, Fingerprint(names("startdate", "finished", "recordeddate", "responseid"))
)

GORILLA = TableTool(
    "Gorilla task data",
    _read_gorilla,
    Fingerprint(
        names("event index", "response"),
        one_of=(names("participant private id", "participant public id"), names("zone type", "response type")),
    ),
    has_rows=False,
)

PROLIFIC_EXPORT = TableTool(
    "Prolific export of submissions",
    refusing(
        "A Prolific export lists participants and their submissions, but none of their answers.",
        "Import the answers of the survey itself, with the participant ids as voters.",
    ),
    Fingerprint(names("submission id", "participant id", "completion code", "time taken")),
)

MECHANICAL_TURK = TableTool(
    "Mechanical Turk results",
    _read_turk,
    Fingerprint(names("hitid"), starts=("answer.",), one_of=(frozenset(_WORKERS),)),
    has_rows=False,
)
"""The results of a batch of Mechanical Turk, or of Turkle."""

PROLIFIC = TableTool(
    "Prolific answers",
    _read_prolific,
    Fingerprint(
        frozenset(),
        one_of=(
            frozenset(_PARTICIPANTS),
            names("submission_id", "submission id"),
            frozenset(_ITEMS),
            frozenset(_RESPONSES),
        ),
    ),
    has_rows=False,
)
"""A line for each answer of a participant, with the items of the study."""

APPEN = TableTool(
    "Appen full report",
    _read_appen,
    Fingerprint(names("_unit_id", "_worker_id", "_id")),
    lambda cells: _appen_question(cells.columns) is not None,
    has_rows=False,
)
"""The full report of Appen, formerly Figure Eight and CrowdFlower: one judgment per line."""
