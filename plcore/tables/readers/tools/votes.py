"""Long tables of votes (`task, worker, label`) -> one row for each task, recognized by the column names that tools
write."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.columns import LARGEST, Finder
from plcore.tables.problems import MAX_PROBLEMS, refusal
from plcore.tables.readers.candidate_rows import Row, agreed, rows_reading
from plcore.tables.readers.joining import join_rows
from plcore.tables.readers.mapping import TableTool
from plcore.tables.readers.reading import TableReading, moment_in, number_in
from plcore.tables.readers.tools.detections import LEAST_WEIGHT
from plcore.tables.roles.cells import MISSING, NO_NAMES
from plcore.tables.roles.facts import never_labels
from plcore.tables.roles.sample import VERDICTS, is_prose, key_of
from plcore.tables.text.csv import csv_text
from plcore.tables.writers.disambiguated import (
    DECIDING,
    PIECE_ROWS,
    SAYS,
    VOTES,
    Disambiguated,
    LabelVectorTable,
    Tell,
    silent,
)

_PLAIN_TASKS = ("task", "task_id", "taskid", "_unit_id", "unit_id", "hitid", "hit_id")
_ITEM_NAMES = (
    *("item", "item_id", "example_id", "instance_id", "document_id"),
    *("aufgabe", "element", "elemento", "élément", "tâche", "tarea", "tarefa", "compito", "taak"),
)
_ROW_NAMES = (*_ITEM_NAMES, "id", "row", "row_id", "question_id", "object")
_WORKERS = (
    "worker", "worker_id", "workerid", "_worker_id", "performer", "performer_id", "annotator", "annotator_id",
    "assignment:worker_id", "rater", "rater_id", "coder", "labeler", "labeller", "user", "user_id", "person",
    "participant", "participant_id", "voter", "voter_id", "labelled_by", "labeled_by", "annotated_by", "coded_by",
    "rated_by", "classified_by", "teilnehmer", "bearbeiter", "kodierer", "anotador", "anotadora", "evaluador",
    "participante", "annotateur", "annotatrice", "codeur", "annotatore", "valutatore", "partecipante", "annoteur",
)  # fmt: skip
_LABELS = (
    *("label", "vote", "answer", "response", "choice", "annotation", "etikett", "antwort", "urteil", "etiqueta"),
    *("respuesta", "resposta", "étiquette", "etiquette", "réponse", "reponse", "etichetta", "risposta", "antwoord"),
)
_GOLD = ("gold", "gold_label", "golden", "truth", "true_label", "ground_truth")
_TIMES = ("timestamp", "time", "at", "created_at", "_created_at", "submitted_at", "submittime", "assignment:started")
_STATUS = ("assignment:status", "assignmentstatus")
OUT = ("rejected", "returned", "timed-out", "timed out", "screened out")
"""Statuses of submissions that do not count, as Prolific writes them."""
_SUBMITTED = {"", "approved", "accepted", "awaiting review", "submitted", "completed", *OUT}
_QUESTION = re.compile(
    r"(?:\w+_)?(?:question|aspect|attribute|dimension|field|criteri(?:on|a)|property|facet|trait)s?(?:_?(?:id|name|no|number))?"
)
_MOST_QUESTIONS = 50
_FEW_ROWS = 500
_VERDICT = re.compile(
    r"(?:is_|was_)?(?:vote|value|presen(?:t|ce)|answer|response|agree[sd]?|selected|checked|accepted|(?:in)?valid|deleted|removed"
    r"|rejected|spam|skip(?:ped)?|discarded|cancell?ed|appl(?:ies|icable)|confirmed|verdict|supports?|polarity|negated"
    r"|endorsed|hidden|retracted|excluded|revoked|withdrawn)"
)
_UNDONE = re.compile(
    r"(?:deleted|removed|retracted|rejected|revoked|withdrawn|cancell?ed|discarded)_(?:at|on|by|date|time)"
)
_SETTLES = ("right", "wrong")
_KINDS = ("", *DECIDING, *SAYS, "unsure", "skip")
"""Values of the column `kind` in votes that Winnow wrote; other tools may have an unrelated column of that name."""
_OTHERS = (
    "seconds", "model_version", "assignment:link", "assignment:assignment_id", "assignment:task_id", "status",
)  # fmt: skip


@dataclass(frozen=True)
class VoteColumns:
    """Columns by their names in the file.

    `task` is None if the tasks have no names but `inputs` that are the same for every vote on one of them. `kind` tells
    whether a line names a label (`plcore.tables.writers.disambiguated.VOTES`).
    """

    task: str | None
    inputs: tuple[str, ...]
    worker: str
    label: str
    gold: str | None = None
    time: str | None = None
    weight: str | None = None
    status: str | None = None
    kind: str | None = None
    about_votes: tuple[str, ...] = ()

    @property
    def taken(self) -> set[str]:
        """All columns that describe a vote, not a task."""
        single = (self.task, self.worker, self.label, self.gold, self.time, self.weight, self.status, self.kind)
        return {name for name in single if name is not None} | set(self.about_votes)


def vote_columns(cells: pd.DataFrame) -> VoteColumns | None:
    """Find the columns of a table with one vote per row; None if it seems to be another table.

    Common names (`id, user, label`) only count if the ids repeat, as those of tasks do.
    """
    names = [str(name) for name in cells.columns]
    low = {name.strip().lower(): name for name in reversed(names)}

    def first(options: Sequence[str]) -> str | None:
        return next((low[option] for option in options if option in low), None)

    worker = first(_WORKERS)
    label, gold = _question(names, {name: own for name, own in low.items() if not _is_text_of_item(cells, low, own)})
    if worker is None or label is None or worker == label:
        return None
    inputs = tuple(name for name in names if name.lower().startswith(("input:", "input.")))
    task = first(_PLAIN_TASKS)
    if task is not None and not inputs and cells[task].is_unique:  # an assignment of one worker
        task = first([one for one in _ITEM_NAMES if one in low and not cells[low[one]].is_unique]) or task
    if task is None and not inputs:
        task = first(_ROW_NAMES)
        if task is None or not bool(cells[task].duplicated().any()):
            return None
    about = tuple(low[name] for name in _OTHERS if name in low)
    status, kind = first(_STATUS), low.get("kind")
    if status is None and (plain := low.get("status")) and _SUBMITTED.issuperset(cells[plain].str.strip().str.lower()):
        status = plain
    own_kinds = kind is not None and bool(cells[kind].str.strip().isin(_KINDS).all())
    appen = tuple(name for name in names if name.startswith("_")) if "_unit_id" in low else ()
    toloka = tuple(name for name in names if name.lower().startswith(("assignment:", "hint:")))
    turk: tuple[str, ...] = ()
    if "hitid" in low and "assignmentstatus" in low:
        turk = tuple(name for name in names if not name.lower().startswith("input."))
    return VoteColumns(
        task,
        inputs,
        worker,
        label,
        gold or first(_GOLD),
        first(_TIMES),
        first(("weight",)),
        status,
        kind if own_kinds else None,
        (*about, *appen, *toloka, *turk),
    )


def _is_text_of_item(cells: pd.DataFrame, low: dict[str, str], name: str) -> bool:
    """Whether a column holds a text for each item, which is called response or answer but is what the votes are
    about."""
    item = next((low[one] for one in (*_PLAIN_TASKS, *_ROW_NAMES) if one in low), None)
    if item in (None, name) or not is_prose(cells[name].head(_FEW_ROWS)):
        return False
    pairs = cells[[item, name]].drop_duplicates()
    return 2 < len(pairs) == cells[name].nunique() == cells[item].nunique() < len(cells)


def _question(names: list[str], low: dict[str, str]) -> tuple[str | None, str | None]:
    """Find the column with the voted label, and the one with the right label, if its name follows from the first.

    None if there is none, or if Toloka or Mechanical Turk has several, which would be ambiguous.
    """
    outputs = [name for name in names if name.lower().startswith(("output:", "answer."))]
    if outputs:
        if len(outputs) > 1:
            return None, None
        return outputs[0], low.get("golden:" + outputs[0][len("output:") :].lower())
    if "_unit_id" in low:
        pairs = [name for name in names if f"{name.strip().lower()}_gold" in low]
        if len(pairs) == 1:
            return pairs[0], low[f"{pairs[0].strip().lower()}_gold"]
    return next(((low[name], None) for name in _LABELS if name in low), (None, None))


NO_LABEL = "say nan, NA, None or the like, which is not a label (if it is a class, give it another name in the file),"
LEFT_OUT = "left out by the reader"
"""Value in a status column: the vote does not count, and the reader of the file says why."""

_HEADER = ("task", "worker", "label", "kind", "timestamp", "seconds", "weight", "model_version")


@dataclass(frozen=True)
class _Vote:
    place: int  # 0-based row of the file
    label: str
    kind: str
    weight: float
    time: float | None


def votes_reading(
    cells: pd.DataFrame, columns: VoteColumns, format_name: str, notes: Iterable[str] = (), *, typed: bool = False
) -> TableReading:
    """Read one row for each task of a table with one vote per row, in order of first occurrence.

    notes : about answers that were already left out      typed : whether NA and None are names, as in JSON and Parquet
    Raises TableError.
    """
    constant = _constant(cells, columns)
    if constant == [columns.task] and "text" not in cells and is_prose(cells[columns.task]):
        cells, constant = cells.assign(text=cells[columns.task]), [*constant, "text"]  # the text names its row
    rows, said = _tasks_with_votes(cells, columns, constant, typed)
    describing = [name for name in constant if name != columns.task]
    found = rows_reading(
        list(rows.values()), format_name, describing=describing, row_id=columns.task, notes=[*notes, *said]
    )
    return replace(found, asks=_asks(cells, columns, constant))


def _differing(cells: pd.DataFrame, columns: VoteColumns, constant: Sequence[str]) -> list[str]:
    """Return the columns that describe neither a vote nor, being `constant`, a task."""
    return [str(name) for name in cells.columns if str(name) not in {*constant, *columns.taken}]


def _asks(cells: pd.DataFrame, columns: VoteColumns, constant: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    """Return the doubts that stop the import of these votes. constant : as from `_constant`"""
    questions = tuple(_several_questions(cells, columns, constant))
    labels = () if questions else _several_labels(cells, columns)
    return (*questions, *_verdicts(cells, columns, constant), *labels)


def _several_questions(
    cells: pd.DataFrame, columns: VoteColumns, constant: Sequence[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield the doubt that a column says which question of several a vote answers: by its name, because votes next to
    each of its values say other words, or because all votes say yes or no."""
    labels = cells[columns.label].str.strip()
    yes_or_no = VERDICTS.issuperset({*labels.str.lower()} - {""}) and labels.nunique() > 1
    for name in _differing(cells, columns, constant):
        asked = cells[name].str.strip()
        if not 1 < asked.nunique() <= _MOST_QUESTIONS:
            continue
        said = [set(words) - {""} for _, words in labels.groupby(asked)]
        apart = sum(map(len, said)) == len(set().union(*said)) and all(len(words) > 1 for words in said)
        verdict = yes_or_no and not never_labels(key_of(name)) and not VERDICTS.issuperset({*asked.str.lower()})
        if apart or verdict or _QUESTION.fullmatch(key_of(name)):
            message = (
                f"Votes on one task differ in column {quoted(name)}, which holds {listed(sorted(set(asked)), 3)}: read "
                "here as votes on one question, but it may say which of several was asked."
            )
            yield "several-questions", message, "If it does, import the votes on one question only."
            return


def _verdicts(cells: pd.DataFrame, columns: VoteColumns, constant: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the doubt that a column says yes or no of each vote: that its label is right, or that it was deleted."""
    for name in (name for name in map(str, cells.columns) if name not in {*constant, columns.label, columns.kind}):
        said = {*cells[name].str.strip().str.lower()}
        if len(said) > 1 and said <= VERDICTS | {""} and _VERDICT.fullmatch(key_of(name)):
            message = (
                f"Column {quoted(name)} says {listed(sorted(said - {''}), 3)} of each vote: read here, all votes count "
                "for their label, but some may be against it, or not count."
            )
            fix = "If so, remove these votes, or write a row for each task and a column for each label with 1 or 0."
            yield "verdicts-on-votes", message, fix
            return
        if "" in said and len(said) > 1 and _UNDONE.fullmatch(key_of(name)):
            message = (
                f"Column {quoted(name)} is filled in some rows: read here, all votes "
                "count for their label, but those may not count."
            )
            yield "verdicts-on-votes", message, "If so, remove these votes."
            return


def _several_labels(cells: pd.DataFrame, columns: VoteColumns) -> Iterator[tuple[str, str, str]]:
    """Yield the doubt that all labels that a worker named for a task are their answer, not only the last."""
    if columns.time is not None or columns.kind is not None:
        return
    tasks = np.array(_task_names(cells, columns), dtype=object)
    named = cells[columns.label].str.strip().groupby([tasks, cells[columns.worker].str.strip().to_numpy()]).nunique()
    several = int((named > 1).sum())
    if several > 1 and 2 * several >= len(named):
        message = (
            "Most workers named several labels for one task: read here, the last of them in the file is their vote, "
            "but all may be their answer."
        )
        fix = "If they are, write a row for each task, with all its labels in one cell, as in wren|robin."
        yield "several-labels-of-one", message, fix


LONG_VOTES = TableTool(
    "table with a vote in each row",
    lambda cells, name, typed=False: votes_reading(cells, _columns_of(cells), name, typed=typed),
    also=lambda cells: vote_columns(cells) is not None,
    has_rows=False,
    takes_typed=True,
)


def join_votes(votes: pd.DataFrame, tasks: pd.DataFrame, *, typed: bool = False) -> TableReading:
    """Join the votes to the tasks, as `join_rows` does.

    votes, tasks : DataFrames of str
    Raises TableError.
    """
    columns = _columns_of(votes)
    if columns.task is None:
        raise refusal(
            f"The votes have no column with the task they are about; the columns are {listed(list(votes.columns))}.",
            "Add a column 'task' that holds the name of a row of the other table.",
        )
    constant = _constant(votes, columns)
    voted, notes = _tasks_with_votes(votes, columns, constant, typed)
    for row in voted.values():
        del row.cells[columns.task]
    form = "table of tasks and a table of votes on them"
    found = join_rows(voted, tasks, format_name=form, notes=notes, what="votes")
    return replace(found, asks=(*found.asks, *_asks(votes, columns, constant)))


def _columns_of(cells: pd.DataFrame) -> VoteColumns:
    columns = vote_columns(cells)
    if columns is None:
        raise refusal(
            f"No votes were found in the columns {listed([str(name) for name in cells.columns])}.",
            "Name the columns task, worker and label.",
        )
    return columns


def _task_names(cells: pd.DataFrame, columns: VoteColumns) -> list[str]:
    """Return the task of each vote: its name, or all its inputs together."""
    if columns.task is not None:
        return cells[columns.task].str.strip().tolist()
    inputs = [cells[name].tolist() for name in columns.inputs]
    return ["\x1f".join(values) if any(values) else "" for values in zip(*inputs, strict=True)]


def _constant(cells: pd.DataFrame, columns: VoteColumns) -> list[str]:
    """Return the columns that are the same for all votes on a task, and so belong to the task."""
    others = [str(name) for name in cells.columns if str(name) not in columns.taken]
    names = np.array(_task_names(cells, columns), dtype=object)
    same = [name for name in others if bool((cells[name].groupby(names).nunique() == 1).all())]
    return ([columns.task] if columns.task is not None else []) + same


def _tasks_with_votes(
    cells: pd.DataFrame, columns: VoteColumns, kept: list[str], typed: bool = False
) -> tuple[dict[str, Row], list[str]]:
    """Return the rows of all tasks by name, each with its votes counted; and notes about what was left out. kept : the
    columns of the tasks"""
    finder = Finder.of(cells)
    tasks = _task_names(cells, columns)
    words = set(MISSING) if typed else _words_among(cells[columns.label].str.strip().tolist(), tasks)
    vectors, unlike = _vectors(cells, columns, tasks)
    votes, left_out = ({}, {}) if vectors else _votes(cells, columns, tasks, finder, words)
    if unlike:
        left_out["are on labels about which people differ, which are read as not asked"] = unlike
    golds = _golds(cells, columns, tasks, finder)
    finder.refuse()
    notes = [f"Votes left out, as they {why}: {count:,}." for why, count in left_out.items() if count]
    if dropped := _differing(cells, columns, kept):
        n = len(dropped)
        notes.append(
            f"{either(n, 'Column', 'Columns')} {listed(dropped)} {either(n, 'differs', 'differ')} between votes on one "
            f"task and {either(n, 'was', 'were')} left out."
        )
    first: dict[str, int] = {}
    for place, task in enumerate(tasks):
        first.setdefault(task, place)
    records = cells[kept].iloc[list(first.values())].to_dict("records")
    rows = {name: Row({str(k): v for k, v in record.items()}) for name, record in zip(first, records, strict=True)}
    again = Counter[bool]()
    for (task, worker), given in votes.items():
        last = _last(given)
        if len(given) > len(last):
            again[_are_timed(given)] += 1
        for label, weight in {vote.label: vote.weight for vote in last}.items():
            rows[task].name(label, weight, worker if worker.strip("\x1f") == worker else None)
    notes += [
        f"{counted(count, 'time')} one worker voted on one task more than once: {_which(columns, timed)}."
        for timed, count in sorted(again.items(), reverse=True)
    ]
    missed = [task for task, gold in golds.items() if rows[task].weights and gold not in rows[task].weights]
    for task, gold in golds.items():
        rows[task].truth = gold
    for task in missed:
        rows[task].name(golds[task], LEAST_WEIGHT)
    if missed:
        notes.append(
            f"Tasks whose right label no one voted for: {len(missed)}. It is the true label and a candidate there, too."
        )
    for task, vector in vectors.items():
        rows[task].vector = vector
    return rows, notes


def _words_among(labels: list[str], tasks: list[str]) -> set[str]:
    """Return words such as NA and None that were voted next to other labels of a task. They are names: read as missing,
    they would make the other labels certain."""
    said: dict[str, set[str]] = {}
    for task, label in zip(tasks, labels, strict=True):
        said.setdefault(task, set()).add(label)
    may_be = set(MISSING) - set(NO_NAMES)
    return {word for one in said.values() if one - set(MISSING) - {""} for word in one & may_be}


def _vectors(
    cells: pd.DataFrame, columns: VoteColumns, tasks: list[str]
) -> tuple[dict[str, dict[str, int | None]], int]:
    """Return the label vector of each task if the votes are yes and no to labels, else nothing; and the number of
    disputed labels. A reviewer's vote outranks others, and a worker's last vote their earlier ones."""
    if columns.kind is None or not bool(cells[columns.kind].isin(list(SAYS)).any()):
        return {}, 0
    said: dict[str, dict[str, dict[str, tuple[bool, int]]]] = {task: {} for task in tasks}
    parts = (cells[name].str.strip().tolist() for name in (columns.label, columns.worker, columns.kind))
    for task, label, worker, kind in zip(tasks, *parts, strict=True):
        if label and kind in SAYS:
            said[task].setdefault(label, {})[worker] = kind in _SETTLES, SAYS[kind]
    vectors: dict[str, dict[str, int | None]] = {}
    unlike = 0
    for task, of_task in said.items():
        found = {
            label: {value for by_reviewer, value in given.values() if by_reviewer}
            or {value for _, value in given.values()}
            for label, given in of_task.items()
        }
        unlike += sum(len(values) > 1 for values in found.values())
        vectors[task] = agreed(found)
    return vectors, unlike


def _votes(
    cells: pd.DataFrame, columns: VoteColumns, tasks: list[str], finder: Finder, words: set[str]
) -> tuple[dict[tuple[str, str], list[_Vote]], dict[str, int]]:
    """Return the votes of each worker on each task; and how many were left out, by reason."""
    nothing = [""] * len(cells)

    def texts(name: str | None) -> list[str]:
        return nothing if name is None else cells[name].str.strip().tolist()

    votes: dict[tuple[str, str], list[_Vote]] = {}
    left_out = {"name no label": 0, NO_LABEL: 0, "name a label that is wrong, or say that someone cannot tell": 0}
    lines = zip(
        tasks, *map(texts, (columns.worker, columns.label, columns.weight, columns.time, columns.status, columns.kind)),
        strict=True,
    )  # fmt: skip
    for place, (task, worker, label, weight, time, status, kind) in enumerate(lines):
        if not task.strip("\x1f "):
            if len(finder.problems) < MAX_PROBLEMS:
                finder.add(place, columns.task, "the vote names no task.", "Write the task, or remove the row.")
        elif status == LEFT_OUT:
            continue
        elif status.lower() in OUT:
            why = "were rejected" if status.lower() == "rejected" else f"have the status {status.upper()}"
            left_out[why] = left_out.get(why, 0) + 1
        elif kind and kind not in VOTES:
            left_out["name a label that is wrong, or say that someone cannot tell"] += 1
        elif not label:
            left_out["name no label"] += 1
        elif label in MISSING and not (kind or label in words):  # if the kind is known, it names a class of that name
            left_out[NO_LABEL] += 1
        else:
            # A worker without a name is a different person each time.
            key = task, worker or f"\x1f{place}"
            vote = _Vote(place, label, kind, _weight(weight, place, columns, finder), _instant(time))
            votes.setdefault(key, []).append(vote)
    return votes, left_out


def _weight(text: str, place: int, columns: VoteColumns, finder: Finder) -> float:
    """Return the weight of a vote; 1 if the cell is empty."""
    number = number_in(text or "1")
    weight = -1.0 if number is None else number
    if not 0 <= weight <= LARGEST and len(finder.problems) < MAX_PROBLEMS:
        message = f"expected the weight of a vote, a number from 0 on, got {quoted(text)}."
        finder.add(place, columns.weight, message, "Write such a number, or leave the cell empty: the vote counts 1.")
    return weight


def _instant(text: str) -> float | None:
    """Return the seconds since 1970 from a number or an ISO 8601 date and time; None if it is neither."""
    if (seconds := number_in(text)) is not None:
        return seconds if math.isfinite(seconds) else None
    return moment_in(text)


def _last(given: list[_Vote]) -> list[_Vote]:
    """Return the latest answer of a worker. Several labels at the same time, or on consecutive lines without times, are
    one answer: the row is one of them."""
    if len(given) == 1:
        return given
    if not _are_timed(given):
        first = len(given) - 1
        while first > 0 and {(one.kind, one.time) for one in given[first - 1 : first + 1]} == {("among", None)}:
            if given[first - 1].place + 1 != given[first].place:
                break
            first -= 1
        return given[first:]
    latest = max(vote.time for vote in given if vote.time is not None)
    return [vote for vote in given if vote.time == latest]


def _are_timed(given: list[_Vote]) -> bool:
    return all(vote.time is not None for vote in given)


def _which(columns: VoteColumns, timed: bool) -> str:
    """Say which of several votes of a worker counts."""
    if timed:
        return "the latest by time counts"
    if columns.time is None:
        return "the last in the file counts"
    return (
        f"the last in the file counts, for not all of their times in {quoted(columns.time)} are numbers or such as "
        "2026-01-31T13:05:00"
    )


def _golds(cells: pd.DataFrame, columns: VoteColumns, tasks: list[str], finder: Finder) -> dict[str, str]:
    """Return the right label of each task that has one; reports a problem if a task has two."""
    golds: dict[str, str] = {}
    if columns.gold is None:
        return golds
    for place, (task, gold) in enumerate(zip(tasks, cells[columns.gold].str.strip().tolist(), strict=True)):
        if gold and golds.setdefault(task, gold) != gold and len(finder.problems) < MAX_PROBLEMS:
            message = f"the task {quoted(task)} has the right label {quoted(golds[task])} above, here {quoted(gold)}."
            finder.add(place, columns.gold, message, "Write the same right label in all rows of a task.")
    return golds


def long_votes(table: Disambiguated | LabelVectorTable, tell: Tell = silent) -> Iterator[str]:
    """Yield the imported votes, which have no time, and the answers as CSV text, one line for each label of each, as
    `LONG_VOTES` and crowd-kit read it.

    Answers without a label have an empty one; those of kind `not` name the excluded label. For label vectors, `kind` is
    yes or no, for a reviewer right or wrong.
    """
    yield csv_text([_HEADER])
    for piece in table.pieces() if isinstance(table, Disambiguated) and table.votes is not None else ():
        yield csv_text(
            [row_id, voter, label, "is" if len(labels) == 1 else "among", "", "", 1, ""]
            for row_id, voters in zip(piece.ids, piece.voters(all_labels=True), strict=True)
            for voter, labels in voters.items()
            for label in labels
        )
    for count, one in enumerate(table.answers):
        facts = (one["kind"], one["at"], one.get("seconds"), 1, one.get("model_version"))
        yield csv_text([table.ids[one["row"]], one["person"], label, *facts] for label in one["labels"] or [""])
        if count % PIECE_ROWS == 0:
            tell(len(table.ids) * count // len(table.answers))
    tell(len(table.ids))


def answers_in(text: str) -> list[str]:
    """Return the answers of a cell, one per line."""
    return [line.strip() for line in text.splitlines() if line.strip()]
