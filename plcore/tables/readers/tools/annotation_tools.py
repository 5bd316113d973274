"""Exports of tools with several people's answers: Zooniverse, Labelbox, SageMaker Ground Truth, jsPsych, PsychoPy and
tables that name the annotators; and files of tools without candidates, which are refused by name."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pandas as pd

from plcore.arrays.words import listed, quoted
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import (
    At,
    Best,
    Cells,
    Json,
    JsonObject,
    Records,
    Row,
    json_in,
    objects_in,
    read_each,
    rows_reading,
)
from plcore.tables.readers.mapping import LOOK, Fields, RecordTool, TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, by_plain_name, names, refusing, texts_of
from plcore.tables.readers.tools.crowds import left_out_by
from plcore.tables.readers.tools.votes import LEFT_OUT, OUT, VoteColumns, vote_columns, votes_reading
from plcore.tables.roles.answers import PROSE, AnswerColumns, answer_columns, worker_column
from plcore.tables.roles.sample import key_of
from plcore.tables.roles.suggested_labels import is_label_key
from plcore.tables.roles.suggestion import suggest_roles

_ITEM, _VOTER, _LABEL, _TIME = "subject_id", "user", "label", "time"
_ONE_QUESTION = "Keep the answers to one question, and import that."


def _parsed(said: At) -> At:
    """Return the JSON in a text."""
    try:
        return At(json.loads(str(said.value)), said.row, said.where)
    except (ValueError, RecursionError):
        raise said.refuse("this is not JSON.", "Import the file as the tool wrote it.") from None


def _read_zooniverse(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each subject, in order of first occurrence; a classification is a vote for the answers to its
    only task. Raises TableError."""
    columns = by_plain_name(cells.columns)
    lines: list[dict[str, str]] = []
    facts = (columns["subject_ids"], columns["user_name"], columns["annotations"], columns["subject_data"])
    times = texts_of(cells, columns.get("created_at"))
    tasks: Counter[str] = Counter()
    for place, (item, user, said, about) in enumerate(zip(*(texts_of(cells, one) for one in facts), strict=True)):
        row = place + 1
        found = {
            str(task["task_label"].value or task["task"].value): _chosen(task["value"])
            for task in _parsed(At(said, row, "annotations")).objects()
        }
        named = {task: labels for task, labels in found.items() if labels}
        tasks.update(named.keys())
        subject = _parsed(At(about, row, "subject_data"))[item].value
        known = {str(name): str(value) for name, value in subject.items()} if isinstance(subject, dict) else {}
        plain = {name: value for name, value in known.items() if name != "retired"}
        for label in next(iter(named.values()), [""]):
            lines.append({**plain, _ITEM: item, _VOTER: user, _LABEL: label, _TIME: times[place]})
    if len(tasks) != 1:
        asked = listed(sorted(tasks), 5) if tasks else "none with a choice"
        raise refusal(f"The classifications answer several tasks, or none: {asked}.", _ONE_QUESTION)
    table = pd.DataFrame(lines, dtype="str").fillna("")
    return votes_reading(table, VoteColumns(_ITEM, (), _VOTER, _LABEL, time=_TIME), called)


def _chosen(said: At) -> list[str]:
    """Return the answers to a question, or the choices of a survey; none for drawings and composite texts."""
    values = said.items() if isinstance(said.value, list) else [said]
    choices = [one["choice"].value if isinstance(one.value, dict) else one.value for one in values]
    return [one.strip() for one in choices if isinstance(one, str) and one.strip()]


ZOONIVERSE = TableTool(
    "Zooniverse classifications",
    _read_zooniverse,
    Fingerprint(names("classification_id", "user_name", "annotations", "subject_data", "subject_ids")),
)


def _only(question: Counter[str]) -> None:
    """Raise TableError for answers to several questions."""
    if len(question) > 1:
        raise refusal(f"Several questions were answered: {listed(sorted(question), 5)}.", _ONE_QUESTION)


def _labelbox(records: Records, name: str) -> TableReading:
    """Read one row for each data row: every label is a vote for the answers to a classification of the whole row.
    Raises TableError."""
    questions: Counter[str] = Counter()

    def read(record: At) -> Row:
        about = record["data_row"].object()
        found = Row({key: about.get(key) for key in ("id", "external_id", "row_data") if about.get(key) is not None})
        for _, project in record["projects"].or_empty.fields():
            for label in project["labels"].objects():
                by = label["label_details"].get("created_by").name_or_none("a user")
                _name_answers(found, label["annotations"].or_empty["classifications"], by, questions)
        return found

    rows = read_each(records, read)
    _only(questions)
    return rows_reading(rows, name, row_id="id")


def _name_answers(found: Row, said: At, by: str | None, questions: Counter[str]) -> None:
    """Add the answers to Labelbox's classifications as names: one choice, or several."""
    for one in said.objects():
        chosen = one.first(("radio_answer", "checklist_answers", "answer", "answers"))
        answers = [chosen] if isinstance(chosen.value, dict) else chosen.objects()
        if answers:
            questions[one.first(("name", "title")).name("a question")] += 1
        for answer in answers:
            found.name(answer.first(("name", "title")).name(), 1.0, by)


def _labelbox_old(records: Records, name: str) -> TableReading:
    """Read one row for each data row of the older format, whose records are one label by one person. Raises
    TableError."""
    questions: Counter[str] = Counter()
    rows: dict[str, Row] = {}

    def read(record: At) -> None:
        item = record.first(("DataRow ID", "External ID", "ID")).name("an id")
        kept = {key: record[key].value for key in ("Labeled Data", "External ID") if record[key].value}
        found = rows.setdefault(item, Row({"id": item, **kept}))
        by = record["Created By"].name_or_none("a user")
        _name_answers(found, record["Label"].get("classifications"), by, questions)

    read_each(records, read)
    _only(questions)
    return rows_reading(list(rows.values()), name, row_id="id")


LABELBOX = RecordTool(
    "Labelbox export", (Fields({"data_row": dict, "projects": dict}, inside={"data_row": ("id",)}),), _labelbox
)
LABELBOX_OLD = RecordTool(
    "Labelbox export of version 1", (Fields({"ID": str, "Labeled Data": str, "Label": dict, "Created By": str}),),
    _labelbox_old,
)  # fmt: skip

_ALL_WORKERS = "annotationsFromAllWorkers"


def _workers_of(record: At) -> list[At]:
    """Return the answers of Ground Truth's workers about a record: from a custom job, or before consolidation."""
    if not isinstance(record.value, dict) or "datasetObjectId" in record.value:
        return record.get("annotations").objects()
    inner = (record[name].get(_ALL_WORKERS) for name in record.value)
    return next((one.objects() for one in inner if one.value), [])


def _ground_truth(records: Records, name: str) -> TableReading:
    """Read one row for each object, with the vote of each worker. Raises TableError."""
    questions: Counter[str] = Counter()

    def read(record: At) -> Row:
        about = record["dataObject"].value
        told = {**record.object(), **(about if isinstance(about, dict) else {})}
        wanted = ("datasetObjectId", "source", "source-ref", "content", "s3Uri")
        found = Row({key: value for key, value in told.items() if key in wanted and value is not None})
        for one in _workers_of(record):
            by = one["workerId"].name_or_none("a worker")
            content = one["annotationData"].or_empty["content"]
            given = _parsed(content) if isinstance(content.value, str) else content
            for question in given.object():
                said = given[question]
                questions[question] += 1
                answer = said.first(("label", "labels")) if isinstance(said.value, dict) else said
                for label in answer.items() if isinstance(answer.value, list) else [answer]:
                    found.name(label.name(), 1.0, by)
        return found

    rows = read_each(records, read)
    _only(questions)
    return rows_reading(rows, name, row_id="datasetObjectId")


GROUND_TRUTH = RecordTool(
    "SageMaker Ground Truth answers of workers",
    lambda records: (
        bool(records) and all(any("workerId" in first for first in _workers_of(At(one))[:1]) for one in records[:LOOK])
    ),
    _ground_truth,
)


def _people(record: At) -> Row:
    cells: Cells = {key: value for key, value in record.object().items() if key not in ("annotators", "post_tokens")}
    if isinstance(tokens := record["post_tokens"].value, list):
        cells["text"] = " ".join(map(str, tokens))
    found = Row(cells)
    for one in record["annotators"].objects():
        found.name(one["label"].name(), 1.0, one["annotator_id"].name_or_none("an annotator"))
    return found


PEOPLE_IN_RECORDS = RecordTool(
    "records with the label of each annotator",
    (Fields({"annotators": list}, inside={"annotators": ("label", "annotator_id")}),),
    lambda records, name: rows_reading(read_each(records, _people), name, row_id="post_id", text="text"),
)


_BY_LABEL = re.compile(r"label_(?:distribution|votes|annotators)|(?:votes|annotators|workers)_by_label")


def _distribution(record: Json) -> str | None:
    """Return the field with the people who chose each label, `{"pos": ["w1", "w2"], "neg": []}`; None if there is
    none."""
    for name, value in record.items() if isinstance(record, dict) else ():
        if _BY_LABEL.fullmatch(name) and isinstance(value, dict) and len(value) > 1:
            lists = [one for one in value.values() if isinstance(one, list)]
            if len(lists) == len(value) and all(isinstance(one, str) for people in lists for one in people):
                return name
    return None


def _people_by_label(records: Records, name: str) -> TableReading:
    def read(record: At) -> Row:
        field = _distribution(record.value)
        if field is None:
            raise record.refuse("no field lists who named each label.", "Write the field in every record.")
        found = Row({key: value for key, value in record.object().items() if key not in (field, "gold_label")})
        for label, people in record[field].fields():
            for one in people.items() if isinstance(people.value, list) else ():
                found.name(At(label, record.row, field).name(), 1.0, one.name("an annotator"))
        found.truth = record["gold_label"].name_or_none("a label")
        return found

    rows = read_each(records, read)
    ids = [key for one in rows[:1] for key in one.cells if key == "id" or key.endswith("_id")]
    return rows_reading(rows, name, row_id=next(iter(ids), None))


PEOPLE_BY_LABEL = RecordTool(
    "records with the annotators of each label",
    lambda records: bool(records) and all(_distribution(one) is not None for one in records[:LOOK]),
    _people_by_label,
)


_ONE_CLASS = "in which the answers of workers are joined to one class"
_ONE_LABEL = "with what one person said of each item, which is decided"
_AS_TABLE = (
    "If several people labelled, write a table with a row for each answer and the columns task, worker and label; if a "
    "row may be several classes, write them in a column 'labels', as in wren|robin."
)
_SPANS = "Winnow asks for the label of a row: write a table with a row for each text or mention, and its candidates."
_BOXES = "Winnow asks for the label of a row: write a table with a row for each picture or box, and its candidates."


def _refused(name: str, what: str, fix: str, known_by: Fields | Callable[[Records], bool]) -> RecordTool:
    return RecordTool(
        name, (known_by,) if isinstance(known_by, Fields) else known_by, refusing(f"This is {what}.", fix)
    )


def _metadata(record: JsonObject) -> Iterator[JsonObject]:
    for name, value in record.items():
        if name.endswith("-metadata") and isinstance(value, dict) and "job-name" in value:
            yield value


def _is_ground_truth(*kinds: str) -> Callable[[Records], bool]:
    return lambda records: any(
        one.get("type") in kinds for record in records[:1] if isinstance(record, dict) for one in _metadata(record)
    )


NO_CANDIDATES = (
    _refused(
        "Ground Truth boxes", "a manifest of SageMaker Ground Truth with boxes", _BOXES,
        _is_ground_truth("groundtruth/object-detection"),
    ),
    _refused(
        "Ground Truth labels",
        f"a manifest of SageMaker Ground Truth {_ONE_CLASS}",
        "Import the answers of the workers (annotations/worker-response), or write a table with the columns task, "
        "worker and label.",
        _is_ground_truth("groundtruth/text-classification", "groundtruth/image-classification"),
    ),
    _refused(
        "V7 Darwin", "a file of V7 (Darwin JSON), which describes one item", _AS_TABLE,
        Fields({"version": str, "item": dict, "annotations": list}, inside={"item": ("name",)}),
    ),
    _refused(
        "SuperAnnotate", f"a file of SuperAnnotate {_ONE_LABEL}", _AS_TABLE,
        Fields({"metadata": dict, "instances": list}, inside={"metadata": ("name",)}),
    ),
    _refused(
        "Datumaro", "a file of Datumaro, as CVAT exports it, whose labels are numbers in a list of names",
        _AS_TABLE, Fields({"info": dict, "categories": dict, "items": list}),
    ),
    _refused(
        "Encord", f"an export of Encord {_ONE_LABEL}", _AS_TABLE,
        Fields({"label_hash": str, "data_units": dict}),
    ),
    _refused(
        "LabelMe", "a file of LabelMe, which describes one picture", _BOXES,
        Fields({"shapes": list, "imagePath": str, "imageData": object}),
    ),
    _refused("tagtog", "a file of tagtog, which describes one document", _SPANS,
             Fields({"annotatable": dict, "metas": dict, "entities": list})),
    _refused(
        "UIMA CAS", "a document of INCEpTION (UIMA CAS JSON)", _SPANS,
        Fields(one_of=(("%FEATURE_STRUCTURES", "_referenced_fss"),)),
    ),
)  # fmt: skip
"""JSON of tools without candidates."""


def looks_like_brat(data: bytes) -> bool:
    """Whether a text is brat's standoff annotation: `T1<tab>Drug 0 7<tab>aspirin`."""
    kind, _, rest = data.partition(b"\t")
    parts = rest.split(b"\t")[0].split(b" ")
    return kind[:1] == b"T" and kind[1:].isdigit() and len(parts) > 2 and parts[1].isdigit() and parts[2][:1].isdigit()


def looks_like_webanno(data: bytes) -> bool:
    """Whether a text is a TSV of WebAnno or INCEpTION."""
    return data.startswith(b"#FORMAT=WebAnno TSV")


def refuse_spans(what: str) -> Callable[..., TableReading]:
    """Return a reader that refuses a file of annotated spans. what : the file, in words"""
    return refusing(f"This is {what}, which marks words of one text.", _SPANS)


# Answers of a study's participants, one per line: jsPsych, PsychoPy, and tables of any tool.


_ITEM_NUMBER = "item"


def _counting(cells: pd.DataFrame) -> tuple[pd.DataFrame, str | None, tuple[str, ...]]:
    """Return the lines, the column that marks lines to leave out, and notes about these."""
    status = {key_of(str(name)): str(name) for name in cells.columns}.get("status")
    out, notes = left_out_by(cells, status, OUT)
    if status is None or not any(out):
        return cells, None, ()
    return cells.assign(**{status: pd.Series(out, index=cells.index).map({True: LEFT_OUT, False: ""})}), status, notes


def _read_answers(cells: pd.DataFrame, called: str, *, typed: bool = False) -> TableReading:
    lines, status, notes = _counting(cells)
    asked = answer_columns(lines)
    if asked is None or len(asked.labels) > 1:
        several = "answer one item" if asked is None else f"hold a person's answers: {listed(asked.labels, 5)}"
        raise refusal(
            f"Each line is what a person said of an item, but several columns {several}.",
            "Call the column of one question label, and leave the others out. Of columns of yes and no, one a label, "
            "make one row for each item first.",
        )
    columns = replace(_votes_of(asked), status=status)
    said = (
        f"Each line is an answer: {quoted(columns.label)} is what {quoted(columns.worker)} said of "
        f"{quoted(str(columns.task))}."
    )
    return _items_reading(lines, columns, called, [*notes, said], typed=typed)


def _votes_of(asked: AnswerColumns) -> VoteColumns:
    return VoteColumns(asked.item, (), asked.worker, asked.labels[0], asked.gold, about_votes=asked.about)


def _items_reading(
    cells: pd.DataFrame, columns: VoteColumns, called: str, notes: Sequence[str], *, typed: bool = False
) -> TableReading:
    """Return the items with their answers. An item that is a text gets a number, so that models learn from the text."""
    task = str(columns.task)
    if cells[task].str.count(r"\S+").mean() >= PROSE and _ITEM_NUMBER not in cells:
        numbers = pd.factorize(cells[task])[0] + 1
        cells = cells.assign(**{_ITEM_NUMBER: pd.Series(numbers, index=cells.index).astype("str")})
        columns = replace(columns, task=_ITEM_NUMBER)
    return votes_reading(cells, columns, called, notes, typed=typed)


ANSWERS = TableTool(
    "table with an answer of a participant in each row",
    _read_answers,
    also=lambda cells: vote_columns(cells) is None and answer_columns(cells) is not None,
    has_rows=False,
    takes_typed=True,
)


def _of_people(cells: pd.DataFrame, label: str, called: str, tool: str, fix: str, notes: Sequence[str]) -> TableReading:
    """Return the items of an experiment with the answers of all participants. Raises TableError if there is only one
    participant, or none."""
    asked = answer_columns(cells, label)
    if asked is None:
        worker = worker_column(cells)
        why = "no column names several participants" if worker is None else "no item was answered by several of them"
        raise refusal(f"This is the file of an experiment of {tool}, but {why}.", fix)
    columns = _votes_of(asked)
    said = f"{quoted(label)} is what {quoted(columns.worker)} said of {quoted(str(columns.task))}."
    return _items_reading(cells, columns, called, [*notes, f"Each line with a response is an answer: {said}"])


def _single(text: str) -> str:
    """Return the only answer in an object such as {"Q0": "happy"}; other text unchanged."""
    said = json_in(text) if text.startswith("{") else None
    values = list(said.values()) if isinstance(said, dict) else []
    return str(values[0]) if len(values) == 1 and isinstance(values[0], (str, int, float)) else text


_NO_RESPONSE = ("", "null", "none", "nan", "undefined", '""')


def _read_jspsych(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each stimulus. Lines without a response, such as instructions, are left out. Raises
    TableError."""
    columns = by_plain_name(cells.columns)
    label = columns["response"]
    answers = cells[label].str.strip().map(_single)
    given = ~answers.str.lower().isin(_NO_RESPONSE)
    kinds = cells[columns["trial_type"]].str.strip().str.lower()
    given &= ~kinds.str.contains("instructions|fullscreen|preload|browser|call-function|consent", regex=True)
    body = cells[given].assign(**{label: answers[given]})
    notes = []
    if left := int((~given).sum()):
        notes.append(f"Left out: {left} line{'s' if left > 1 else ''} without a response to a stimulus.")
    if body[label].str.fullmatch(r"\d").all() and kinds[given].str.contains("button").any():
        notes.append("The labels are the numbers of buttons: 0 is the first.")
    fix = (
        "Put the data of all participants into one table, with a column such as 'subject' that jsPsych writes after "
        "jsPsych.data.addProperties({subject: ...}), and a column 'stimulus' or of the item."
    )
    return _of_people(body, label, called, "jsPsych", fix, notes)


def _read_psychopy(cells: pd.DataFrame, called: str) -> TableReading:
    fix = "Put the files of all participants into one table: PsychoPy writes a file for each, with the same columns."
    ends = (".keys", ".response", ".rating", ".clicked_name", ".text", ".choice")
    answers = [str(name) for name in cells.columns if str(name).lower().endswith(ends)]
    answered = {name: ~cells[name].str.strip().str.lower().isin(_NO_RESPONSE) for name in answers}
    shown = [name for name in answers if cells[name][answered[name]].nunique() > 1]
    if not shown:
        raise refusal("This is the file of an experiment of PsychoPy, but no column holds responses that differ.", fix)
    label = max(shown, key=lambda name: int(answered[name].sum()))
    body = cells[answered[label]]
    # Columns from the conditions file have no dot in their names; those written by a routine have one.
    own = [str(name) for name in body.columns if "." not in str(name) or name == label]
    notes = [f"Responses are those of {quoted(label)}."] if len(shown) > 1 else []
    return _of_people(body[own], label, called, "PsychoPy", fix, notes)


JSPSYCH = TableTool(
    "jsPsych data",
    _read_jspsych,
    Fingerprint(names("trial_type", "trial_index", "time_elapsed", "response")),
    has_rows=False,
)

PSYCHOPY = TableTool(
    "PsychoPy data", _read_psychopy, Fingerprint(names("participant", "psychopyversion", "expname")), has_rows=False
)


# Votes of several people in one cell.

_VOTER_KEY = re.compile(
    r"(?:annotator|worker|performer|rater|coder|labell?er|user|person|voter|by|annotated_by)(?:_?(?:id|name))?"
)
_SAYS_VOTES = re.compile(
    r"(?:^|_)(?:votes?|annotat(?:ion|or)s?|labels?|ratings?|judge?ments?|answers?|responses?|coding|raters?|coders?|workers?"
    r"|verdicts?|opinions?)(?:_|$)"
)
"""Names of columns whose objects may be votes, and no facts such as brand and vendor."""
_QUESTION = re.compile(r"(?:q|question|item|frage|pregunta)_?\d+\w*", re.IGNORECASE)
_VOTE_KEYS = (
    *("value", "label", "labels", "vote", "answer", "choice", "choices", "class", "category", "annotation"),
    *("rating", "response", "judgment", "judgement"),
)
_PERSON = ("id", "user_id", "name", "username", "email")
_PLACES = {"start", "end", "bbox", "start_offset", "end_offset", "from", "to"}
"""Fields of labels of a part of the item."""
_SOME_ROWS, _MOST_COLUMNS, _FEWEST_ROWS = 500, 200, 8
_SPARSE = 1 / 3
"""Share of missing voters from which the keys of an object may be labels: people mostly answer about most items."""
_Votes = list[tuple[str, str]]


def _votes_in(cell: str) -> _Votes | None:
    """Return voter and label of each vote in a cell, {voter: label} or [{"user": voter, "value": label or labels}];
    None if the cell holds something else."""
    value = json_in(cell) if cell.startswith(("{", "[")) else None
    if isinstance(value, dict):
        if any(map(_QUESTION.fullmatch, value)):
            return None
        pairs: list[tuple[Json, Json]] = list(value.items())
    else:
        objects = objects_in(value)
        if not objects or len(objects) < len(value if isinstance(value, list) else ()) or _PLACES & objects[0].keys():
            return None
        voter = next((key for key in objects[0] if _VOTER_KEY.fullmatch(key_of(key))), "")
        label = next((key for key in _VOTE_KEYS if key in objects[0]), "")
        said = [(_who(one.get(voter)), one.get(label)) for one in objects]
        pairs = [(who, each) for who, given in said for each in (given if isinstance(given, list) else [given])]
        pairs = [(who, str(each) if type(each) is int else each) for who, each in pairs]
    votes = [(str(who), said.strip()) for who, said in pairs if isinstance(said, str) and isinstance(who, (str, int))]
    return votes if votes and len(votes) == len(pairs) else None


def _who(voter: Json) -> Json:
    """Return the id or name of a voter who is an object; another value unchanged."""
    return next((voter[key] for key in _PERSON if key in voter), None) if isinstance(voter, dict) else voter


def _column_of_votes(cells: pd.DataFrame) -> str | None:
    """Return the column whose cells hold votes: people name the same labels, and two of them agree at times."""
    some = cells.iloc[:_SOME_ROWS, :_MOST_COLUMNS]
    for name in map(str, some.columns):
        named = _SAYS_VOTES.search(key_of(name)) is not None
        votes: list[_Votes] = []
        for cell in (one for one in texts_of(some, name) if one):
            if (found := _votes_in(cell)) is None or (cell.startswith("{") and not named):
                break
            votes.append(found)
        else:
            said = {(who, label) for row in votes for who, label in row}
            people, labels = (Counter(one[place] for one in said) for place in (0, 1))
            agree = any(len({label for _, label in row}) < len(row) for row in votes)
            shared = sum(count > 1 for count in labels.values())
            if agree and len(people) > 1 and 1 < len(labels) <= len(votes) and 2 * shared >= len(labels):
                return name
    return None


def _read_cells_of_votes(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each row, with the votes in its cell. Raises TableError."""
    column = _column_of_votes(cells)
    if column is None:
        raise refusal("No column holds the votes of people.", 'Write them as in {"ann": "wren", "bob": "robin"}.')
    rows, people, given = list[Row](), set[str](), 0
    for place, (record, cell) in enumerate(zip(cells.to_dict("records"), texts_of(cells, column), strict=True)):
        row = Row({str(name): str(text) for name, text in record.items() if name != column})
        votes = _votes_in(cell) if cell else []
        if votes is None:
            message = f"expected votes as in other rows, got {quoted(cell)}."
            raise refusal(message, "Correct the cell, or leave it empty.", row=place + 1, column=column)
        best: Best = {}
        for who, label in votes:
            row.name_best(label, 1.0, who, best)
            people.add(who)
            given += 1
        rows.append(row)
    others = cells.drop(columns=[column])
    reading = rows_reading(rows, called, row_id=suggest_roles(others).id if len(others.columns) else None)
    if _agree_by_chance(rows):
        message = (
            f"The votes in column {quoted(column)} agree no more often than by chance: read here as votes of "
            f"{listed(sorted(people), 3)}, but each may be a question of its own."
        )
        asked = ("questions-as-voters", message, "If it is, write a column for each question, and import one of them.")
        return replace(reading, asks=(*reading.asks, asked))
    if not is_label_key(key_of(column)) or given >= len(rows) * len(people) * (1 - _SPARSE):
        return reading
    message = (
        f"The objects in column {quoted(column)} are read here as people, such as {quoted(min(people))}, and what "
        "each of them said, but it may be the other way round."
    )
    fix = 'If it is, write the labels as a list, as in ["wren", "robin"].'
    return replace(reading, asks=(*reading.asks, ("labels-as-voters", message, fix)))


def _agree_by_chance(rows: Sequence[Row]) -> bool:
    """Whether two votes on a row are equal no more often than two votes on any rows."""
    votes = [{label: len(people) for label, people in row.sources.items()} for row in rows]
    several = [one for one in votes if sum(one.values()) > 1]
    total = Counter[str]()
    for one in several:
        total.update(one)
    count = total.total()
    if len(several) < _FEWEST_ROWS:
        return False
    agreed = sum(sum(n * (n - 1) for n in one.values()) / (sum(one.values()) - 1) for one in several) / count
    return agreed <= sum(n * (n - 1) for n in total.values()) / (count * (count - 1))


CELLS_OF_VOTES = TableTool(
    "table with the votes of people in a cell",
    _read_cells_of_votes,
    also=lambda cells: _column_of_votes(cells) is not None and not suggest_roles(cells).has_candidates,
)
