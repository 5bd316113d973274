"""Label Studio: tasks with annotations and predictions, JSON-MIN, CSV, and its taxonomies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import pandas as pd

from plcore.arrays.words import counted, listed
from plcore.tables.problems import refusal
from plcore.tables.readers.candidate_rows import (
    OWN_VECTOR,
    At,
    Json,
    JsonObject,
    Records,
    Row,
    add_own,
    agreed,
    json_in,
    json_text,
    read_each,
    rows_reading,
    unlike_note,
)
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, names, number_in
from plcore.tables.roles.sample import is_prose, key_of
from plcore.tables.roles.suggested_labels import is_label_key
from plcore.tables.writers.disambiguated import OWN_ID, SOURCES_OF_LABELS

Path = tuple[str, ...]
"""The parts of a label from the root, as in ("Corvus", "Corvus corax"); a plain label has one part."""

JOINT = " / "


@dataclass(frozen=True)
class Taxonomy:
    """A taxonomy whose classes are the known leaves of the tree.

    meaning : {path: its classes}, those below it if there are any; and itself, if the file shows a single class below
        it
    groups : names of the nodes that are not classes, each with the classes below it
    """

    meaning: dict[Path, tuple[str, ...]]
    groups: dict[str, tuple[str, ...]]


def a_path(chosen: At) -> Path:
    """Return a label, or a list with its parts, as a path."""
    if chosen.value == []:
        raise chosen.refuse("the place in the taxonomy has no parts.", "Write at least one, or remove it.")
    return tuple(part.name() for part in (chosen.items() if isinstance(chosen.value, list) else [chosen]))


def taxonomy_of(paths: Iterable[Path]) -> Taxonomy:
    """Return the tree of these paths and all that lead to them.

    A node is named by its last part, or by the whole path if several share that part. Raises TableError if two nodes
    still have the same name.
    """
    wanted = dict.fromkeys(paths)
    nodes = dict.fromkeys(path[:depth] for path in wanted for depth in range(1, len(path) + 1))
    last = Counter(path[-1] for path in nodes)
    names = {path: path[-1] if last[path[-1]] == 1 else JOINT.join(path) for path in nodes}
    twice = [name for name, count in Counter(names.values()).items() if count > 1]
    if twice:
        raise refusal(f"Several labels of the taxonomy would be called {listed(twice)}.", "Rename one of each.")
    inner = {path[:-1] for path in nodes}
    leaves = [path for path in nodes if path not in inner]
    seen_below = Counter(leaf[:depth] for leaf in leaves for depth in range(1, len(leaf)))
    # A node below which the file shows a single class may well have others, so it is a class, too.
    partly_seen = {path for path in wanted if path in inner and seen_below[path] == 1}
    below: dict[Path, list[str]] = {}
    for path in nodes:
        if path not in inner or path in partly_seen:
            for depth in range(1, len(path) + 1):
                below.setdefault(path[:depth], []).append(names[path])
    return Taxonomy(
        {path: tuple(below[path]) for path in wanted},
        {names[path]: tuple(below[path]) for path in nodes if path in inner - partly_seen},
    )


TASK_ID = "task_id"
SECONDS = "lead_time"
OWN_PERSON, OWN_SAID = "winnow_person", "winnow_said"
"""Fields in annotations that Winnow wrote: the person, and, for label vectors, the labels that they named."""
OWN_CANDIDATES = "winnow_candidates"
"""Field in the `meta` of tasks that Winnow wrote: the remaining candidates with their weights, as JSON. Label Studio's
JSON names predictions only by their ids."""
OTHERS_LEFT = "candidates"
"""Model name of predictions for candidates other than the label, in tasks that Winnow wrote."""
OWN_MODELS = frozenset((OTHERS_LEFT, "oracle", *SOURCES_OF_LABELS))
"""Model names of predictions that Winnow wrote (formerly "oracle" for "person"), which are not counted as voters."""
QUESTION, NOT_QUESTION = "label", "not_label"
"""The questions in interfaces that Winnow wrote; the second, for label vectors, names the labels that are not right."""

_READ = ("choices", "taxonomy")
_REGION = frozenset(("x", "y", "start", "end", "points", "startOffset"))


@dataclass(frozen=True)
class Choice:
    """One chosen label; `weight` is 1 for a person, the score for a model."""

    question: str
    path: Path
    weight: float
    source: str | None
    is_truth: bool = False
    is_model: bool = False


@dataclass
class Item:
    """One task: its data, who chose what, and what could not be read."""

    data: JsonObject
    choices: list[Choice] = field(default_factory=list)
    number: str | None = None
    seconds: float | None = None
    cancelled: int = 0
    prediction_ids: int = 0
    vector: dict[str, int | None] | None = None
    meta: At = field(default_factory=lambda: At(None))
    said: dict[str, set[int | None]] = field(default_factory=dict)
    unread: Counter[str] = field(default_factory=Counter)


def _read_flat(records: Records, name: str) -> TableReading:
    """Read one row for each task. Raises TableError, also if no field seems to hold answers."""
    questions = _questions(records)
    if not questions:
        raise refusal(
            "No field between 'id' and 'annotator' holds a choice.",
            "Export the project as JSON, not as JSON-MIN, and import that.",
        )
    return flat_reading(records, questions, name)


def flat_reading(
    records: Records, questions: Sequence[str], format_name: str, asked: str | None = None
) -> TableReading:
    """Read one row for each task of flat records, which have one record per annotation. Raises TableError.

    questions : the fields with answers; at least one      asked : as in `items_reading`
    """
    items: dict[Hashable, Item] = {}
    for item in read_each(records, lambda record: _flat(record, questions)):
        key = len(items) if item.number is None else f"id {item.number}"
        known = items.setdefault(key, item)
        if known is not item:
            known.choices += item.choices
            known.seconds = _sum(known.seconds, item.seconds)
    return items_reading(list(items.values()), format_name, asked)


def items_reading(items: Sequence[Item], format_name: str, asked: str | None = None) -> TableReading:
    """Read the tasks. asked : the question whose answers are the labels; None: the one answered most often"""
    counts = Counter(choice.question for item in items for choice in item.choices)
    notes = _left_out(items)
    if any(item.vector is not None for item in items):
        rows = [Row({**_facts(item), **item.data}, vector=item.vector) for item in items]
        describing = {name for item in items for name in item.data}
        notes += unlike_note(item.said for item in items)
        return rows_reading(rows, format_name, describing=describing, row_id=TASK_ID, notes=notes)
    if not counts:
        raise refusal(
            " ".join(["No task has a choice or a place in a taxonomy.", *notes]),
            "Export tasks with answers or predictions of a <Choices> or <Taxonomy> tag.",
        )
    kinds = Counter(name for name, _ in {(choice.question, choice.path) for item in items for choice in item.choices})
    question = asked or max(counts, key=lambda name: (counts[name], -kinds[name]))  # free texts seldom repeat
    others = [name for name in counts if name != question]
    if others:
        reason = "" if asked else ", the question answered most"
        notes.append(f"The labels are those of {question!r}{reason}; {listed(others)} are kept as columns.")
    tree = taxonomy_of(choice.path for item in items for choice in item.choices if choice.question == question)
    if any(choice.is_model for item in items for choice in item.choices) and any(
        not choice.is_model for item in items for choice in item.choices
    ):
        notes.append(
            "Choices of people weigh 1 each, those of models their score, or 1 without one; they are added up."
        )
    if any(len(classes) > 1 for classes in tree.meaning.values()):
        notes.append("Where a group of the taxonomy was chosen, all its classes are candidates and share the weight.")
    rows, unclear = [], 0
    for item in items:
        row = Row({**_facts(item), **item.data, **_others(item, others)})
        truths: set[str] = set()
        for choice in item.choices:
            if choice.question != question:
                continue
            classes = tree.meaning[choice.path]
            if choice.is_truth:
                truths.update(classes)
            else:
                for label in classes:
                    row.name(label, choice.weight / len(classes), choice.source)
        unclear += len(truths) > 1
        row.truth = truths.pop() if len(truths) == 1 else None
        add_own(row, item.meta)
        rows.append(row)
    if unclear:
        notes.append(
            f"In {counted(unclear, 'task')} the ground truth names several labels, so it is not a true label here."
        )
    describing = {name for item in items for name in item.data}
    return rows_reading(rows, format_name, describing=describing, row_id=TASK_ID, notes=notes, groups=tree.groups)


def _facts(item: Item) -> dict[str, object]:
    facts = {TASK_ID: item.number, SECONDS: item.seconds}
    return {name: value for name, value in facts.items() if value is not None}


def _left_out(items: Iterable[Item]) -> list[str]:
    unread: Counter[str] = Counter()
    for item in items:
        unread += item.unread
    notes = [
        f"Results of type {name!r}, not read, as they are not about the whole task as choices are: {count:,}."
        for name, count in unread.items()
    ]
    cancelled = sum(item.cancelled for item in items)
    if cancelled:
        notes.append(f"Annotations that people skipped, which are not votes: {cancelled:,}.")
    ids = sum(item.prediction_ids for item in items)
    if ids:
        notes.append(
            f"{ids} {'predictions are' if ids > 1 else 'prediction is'} in the export by id only, so they were not "
            "read. Label Studio writes whole predictions in exports made through its API or as a snapshot."
        )
    return notes


def _others(item: Item, questions: Iterable[str]) -> dict[str, str]:
    found = {name: [list(c.path) for c in item.choices if c.question == name] for name in questions}
    flat = {name: [path[0] if len(path) == 1 else path for path in paths] for name, paths in found.items()}
    return {name: json_text(labels) for name, labels in flat.items() if labels and name not in item.data}


def _task(record: At) -> Item:
    meta = record["meta"]
    own = meta.get(OWN_ID)
    item = Item(record["data"].object(), meta=meta, vector=meta.get(OWN_VECTOR).own_vector())
    item.number = (record["id"] if own.value is None else own).name_or_none("an id")
    for annotation in record.first(("annotations", "completions")).items():
        if annotation["was_cancelled"].value:
            item.cancelled += 1
            continue
        item.seconds = _sum(item.seconds, annotation[SECONDS].number_or(None, "a time in seconds"))
        person = _person(annotation)
        if item.vector is not None:
            for label, cell in _vector_results(item.vector, annotation["result"]):
                item.said.setdefault(label, set()).add(cell)
            continue
        for result in annotation["result"].items():
            _result(item, result, 1.0, person, is_truth=bool(annotation["ground_truth"].value))
    models = record["predictions"].items()
    predictions = [one for one in models if not isinstance(one.value, int) or isinstance(one.value, bool)]
    if item.vector is not None:
        item.vector = {**item.vector, **agreed(item.said)}
        return item  # a model's guess of a label is not a known label
    item.prediction_ids = len(models) - len(predictions)
    if item.prediction_ids and (kept := meta.get(OWN_CANDIDATES)).value:
        item.prediction_ids = 0
        for label, weight in kept.own_object().fields():
            path = (At(label, record.row, weight.where).name(),)
            item.choices.append(Choice(QUESTION, path, weight.number_or(1.0), None, is_model=True))
    # Winnow wrote this for a table without weights: the probability of its label is not comparable with weights of
    # others.
    unweighed = own.value is not None and any(one["score"].value is None for one in predictions)
    for prediction in predictions:
        model = prediction["model_version"].name_or_none("a model")
        model = None if own.value is not None and model in OWN_MODELS else model
        for result in prediction["result"].items():
            score = result["score"] if unweighed or result["score"].value is not None else prediction["score"]
            _result(item, result, score.number_or(1.0, "a score"), model, is_model=True)
    return item


def _vector_results(vector: Mapping[str, int | None], results: At) -> Iterator[tuple[str, int | None]]:
    """Yield the changes of an annotation since Winnow wrote it, or a new annotation."""
    for result in results.items():
        cell = {QUESTION: 1, NOT_QUESTION: 0}.get(str(result["from_name"].value))
        if cell is None:
            continue
        labels = [label.name() for label in result["value"]["choices"].items()]
        before = [one.value for one in result["meta"].get(OWN_SAID).items()]
        yield from ((label, cell) for label in labels if label not in before)
        gone = [str(label) for label in before if label not in labels]
        yield from ((label, None) for label in gone if vector.get(label) == cell)


def _result(item: Item, result: At, weight: float, source: str | None, **marks: bool) -> None:
    kind, chosen = result["type"].name("a type"), result["value"]
    if kind not in _READ or _REGION & chosen.object().keys():
        item.unread[kind] += 1
        return
    question = result["from_name"].name("the name of a tag")
    item.choices += (Choice(question, a_path(one), weight, source, **marks) for one in chosen[kind].items())


def _person(annotation: At) -> str | None:
    """Return the person that Winnow wrote into an annotation or its results; else `completed_by`, an id or an object
    with an e-mail address."""
    own = annotation[OWN_PERSON]
    results = annotation["result"].objects()
    named = [one["meta"].get(OWN_PERSON) for one in results if one["meta"].get(OWN_PERSON).value is not None]
    return _who(own if own.value else named[0] if named else annotation["completed_by"])


def _who(said: At) -> str | None:
    return (said.first(("email", "username", "id")) if isinstance(said.value, dict) else said).name_or_none("a person")


def _sum(some: float | None, more: float | None) -> float | None:
    return more if some is None else some + (more or 0.0)


def _questions(records: Records) -> list[str]:
    """Return the fields of JSON-MIN with answers: those between the id and the annotator that hold choices; in records
    of another order, the one that `_question` finds."""
    between: dict[str, None] = {}
    flat = [record for record in records if isinstance(record, dict)]
    for record in flat:
        names = list(record)
        start, end = sorted(names.index(one) if one in names else 0 for one in ("id", "annotator"))
        between.update(dict.fromkeys(name for name in names[start + 1 : end] if name not in _ABOUT))
    found = [name for name in between if any(_is_answer(record.get(name)) for record in flat)]
    fields = [name for name in dict.fromkeys(chain.from_iterable(flat)) if name not in _ABOUT]
    texts = {name: [said for one in flat if isinstance(said := one.get(name), str)] for name in found}
    short = [one for one in found if not (is_prose(texts[one]) and len({*texts[one]}) == len(flat) > 1)]
    moved = len(flat) > 1 and not short and (found or not between)
    if moved or any(_differs(flat, name) for name in fields if name not in found):
        written = [name for name in fields if any(isinstance(one.get(name), (list, dict)) for one in flat)]
        question = _question(flat, fields, [one for one in written if any(_is_answer(said.get(one)) for said in flat)])
        return [question] if question is not None else found
    if all("id" in (*list(record)[:1], *list(record)[-1:]) for record in flat):  # the data is no longer before the id
        found = short
    return answered(flat, found)


def answered(records: Sequence[JsonObject], fields: Sequence[str]) -> list[str]:
    """Return the fields that hold answers, not the task's data.

    Data is the same in all records of a task and differs between tasks, which shows if a task has several records.
    Returns all fields if none would be left.
    """
    return [name for name in fields if not _is_data(records, name)] or list(fields)


def _is_data(records: Sequence[JsonObject], name: str) -> bool:
    values = [(json_text(record.get("id")), record.get(name)) for record in records if record.get(name)]
    said = [(task, value) for task, value in values if isinstance(value, str)]
    if not values or len(said) < len(values):
        return False
    tasks, texts, pairs = {task for task, _ in said}, {text for _, text in said}, set(said)
    return 1 < len(tasks) < len(values) and len(texts) == len(tasks) == len(pairs)


def _is_answer(value: Json) -> bool:
    if isinstance(value, list):
        return any(isinstance(one, dict) and not one.keys().isdisjoint(_READ) for one in value)
    return isinstance(value, str) or (isinstance(value, dict) and "choices" in value)


def _flat(record: At, questions: Sequence[str]) -> Item:
    """Read one annotation of JSON-MIN. A single chosen label is text; several are `{"choices": [...]}`."""
    about = {*questions, "id", "annotator", "annotation_id", "created_at", "updated_at", SECONDS, "agreement"}
    item = Item({name: value for name, value in record.object().items() if name not in about})
    item.number = record["id"].name_or_none("an id")
    item.seconds = record[SECONDS].number_or(None, "a time in seconds")
    person = _who(record["annotator"])
    for question in questions:
        said = record[question]
        for one in said.items() if isinstance(said.value, list) else [said]:
            if one.value is None or one.value == "":
                continue
            labels = [one]
            if not isinstance(one.value, str):
                kind = next((name for name in _READ if name in one.object()), None)
                item.unread[question] += kind is None
                labels = [] if kind is None else one[kind].items()
            item.choices += (Choice(question, a_path(label), 1.0, person) for label in labels)
    return item


_ABOUT = ("annotation_id", "annotator", "created_at", "id", "lead_time", "updated_at")
_BESIDE = ("agreement", "history")
_CALLED = ("label", "labels", "sentiment", "class", "choice", "choices", "category", "taxonomy")
_MOST_CLASSES = 0.5


def _read_csv(cells: pd.DataFrame, called: str) -> TableReading:
    """Read one row for each task, with a vote for each annotation. Raises TableError."""
    about = {*_ABOUT, *_BESIDE}
    low = {str(name): str(name).strip().lower() for name in cells.columns}
    lowered = [low[name] if low[name] in about else name for name in low]
    records: list[JsonObject] = [
        dict(zip(lowered, map(_value, texts), strict=True))
        for texts in zip(*(cells[name].tolist() for name in low), strict=True)
    ]
    for record in records:
        seconds = record["lead_time"]
        record["lead_time"] = number_in(seconds) if isinstance(seconds, str) else None
        who = json_in(str(record["annotator"]))
        record["annotator"] = who if isinstance(who, dict) else record["annotator"]
    fields = [name for name in records[0] if name not in about]
    written = [name for name in fields if any(not isinstance(record[name], str) for record in records)]
    question = _question(records, fields, written)
    if question is None:
        raise refusal(
            f"No column of {listed(fields)} holds choices of annotators.", "Export the project as JSON and import that."
        )
    # Other answers are facts about people, not about the task.
    others = [
        name
        for name in fields
        if name != question and (name in written or _differs(records, name) or _is_called_answer(records, name))
    ]
    return flat_reading(records, [question, *others], called, asked=question)


def _value(text: str) -> Json:
    """Read a cell: an answer written as JSON, or its text."""
    value = json_in(text) if text.lstrip()[:1] in ("{", "[") else None
    parts = value if isinstance(value, list) else [value]
    is_answer = parts and all(isinstance(one, dict) and any(name in one for name in _READ) for one in parts)
    return value if is_answer else text


def _question(records: list[JsonObject], fields: list[str], written: list[str]) -> str | None:
    """Find the column with the answers: one with choices as JSON (`written`), one that differs between annotations of
    a task, one with a typical name for labels, or else the one with the fewest different texts."""
    differs = [name for name in fields if _differs(records, name)]
    called = [name for name in _CALLED if name in fields]
    if found := [name for name in differs if name in written] or written or differs:
        return next((name for name in called if name in found), found[0])
    if called:
        return called[0]
    kinds = {name: {text for record in records if (text := str(record.get(name, ""))).strip()} for name in fields}
    few = [
        name
        for name in answered(records, fields)
        if kinds[name]
        and len(kinds[name]) <= max(2, _MOST_CLASSES * len(records))
        and not all(number_in(text) is not None for text in kinds[name])
    ]
    # A constant column distinguishes nothing: prefer columns with several classes.
    return min(few, key=lambda name: (len(kinds[name]) == 1, len(kinds[name])), default=None)


def _is_called_answer(records: list[JsonObject], name: str) -> bool:
    """Whether a column with a name as of labels holds a few short texts."""
    texts = {str(record[name]) for record in records}
    return is_label_key(key_of(name)) and len(texts) <= max(2, _MOST_CLASSES * len(records)) and not is_prose(texts)


def _differs(records: list[JsonObject], name: str) -> bool:
    """Whether annotations of one task have different cells in this column."""
    seen: dict[str, Json] = {}
    return any(seen.setdefault(str(record.get("id")), record.get(name)) != record.get(name) for record in records)


_ANSWERED: dict[str, type] = {"annotations": list, "predictions": list, "completions": list}
LABEL_STUDIO = RecordTool(
    "Label Studio JSON",
    (Fields({"data": dict}, some=_ANSWERED),),
    lambda records, name: items_reading(read_each(records, _task), name),
)
LABEL_STUDIO_MIN = RecordTool(
    "Label Studio JSON-MIN", (Fields(dict.fromkeys(("id", "annotator", "annotation_id"), object)),), _read_flat
)
"""A flat record for each annotation, with `id`, answers and `annotator` after the data."""
LABEL_STUDIO_CSV = TableTool("Label Studio CSV", _read_csv, Fingerprint(names(*_ABOUT)))
