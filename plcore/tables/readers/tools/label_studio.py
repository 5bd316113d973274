"""Label Studio: tasks with annotations and predictions, JSON-MIN, CSV, and its taxonomies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from plcore.arrays.words import counted, listed
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
    agreed,
    an_object,
    first_of,
    json_in,
    json_text,
    own_object,
    own_vector,
    read_each,
    refuse,
    rows_reading,
    unlike_note,
)
from plcore.tables.readers.mapping import Fields, RecordTool, TableTool
from plcore.tables.readers.reading import Fingerprint, TableReading, names, number_in, refusal
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


def a_path(value: Json, row: int | None, where: str) -> Path:
    """Return a label, or a list with its parts, as a path."""
    if isinstance(value, list):
        if not value:
            raise refuse(row, where, "the place in the taxonomy has no parts.", "Write at least one, or remove it.")
        return tuple(a_name(part, row, where) for part in value)
    return (a_name(value, row, where),)


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
    meta: JsonObject = field(default_factory=dict)
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
    for item in read_each(records, lambda record, row: _flat(record, row, questions)):
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
    for number, item in enumerate(items, start=1):
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
        add_own(row, item.meta, number, "meta.")
        rows.append(row)
    if unclear:
        notes.append(
            f"In {counted(unclear, 'task')} the ground truth names several labels, so it is no true label here."
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
        notes.append(f"Annotations that people skipped, which are no votes: {cancelled:,}.")
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


def _task(record: JsonObject, row: int) -> Item:
    meta = record.get("meta")
    own = meta.get(OWN_ID) if isinstance(meta, dict) else None
    task = record.get("id") if own is None else own
    item = Item(an_object(record.get("data"), row, "data"))
    if isinstance(meta, dict):
        item.meta = meta
        item.vector = own_vector(meta.get(OWN_VECTOR), row, f"meta.{OWN_VECTOR}")
    item.number = a_name_or_none(task, row, "id", "an id")
    said = "annotations" if record.get("annotations") is not None else "completions"
    for place, value in enumerate(a_list(record.get(said), row, said)):
        where = f"{said}[{place}]"
        annotation = an_object(value, row, where)
        if annotation.get("was_cancelled"):
            item.cancelled += 1
            continue
        item.seconds = _sum(item.seconds, _seconds(annotation, row, f"{where}.{SECONDS}"))
        own_person = annotation.get(OWN_PERSON) or _person_in(annotation.get("result"))
        by = annotation.get("completed_by") if own_person is None else own_person
        person = _person(by, row, f"{where}.completed_by")
        if item.vector is not None:
            for label, cell in _vector_results(item.vector, annotation.get("result"), row, f"{where}.result"):
                item.said.setdefault(label, set()).add(cell)
            continue
        is_truth = bool(annotation.get("ground_truth"))
        for result_place, result in enumerate(a_list(annotation.get("result"), row, f"{where}.result")):
            _result(item, result, row, f"{where}.result[{result_place}]", 1.0, person, is_truth=is_truth)
    models = a_list(record.get("predictions"), row, "predictions")
    predictions = [
        an_object(one, row, f"predictions[{place}]")
        for place, one in enumerate(models)
        if not isinstance(one, int) or isinstance(one, bool)
    ]
    if item.vector is not None:
        item.vector = {**item.vector, **agreed(item.said)}
        return item  # a model's guess of a label is not a known label
    item.prediction_ids = len(models) - len(predictions)
    if item.prediction_ids and isinstance(meta, dict) and meta.get(OWN_CANDIDATES):
        where, item.prediction_ids = f"meta.{OWN_CANDIDATES}", 0
        for label, weight in own_object(meta[OWN_CANDIDATES], row, where).items():
            number = 1.0 if weight is None else a_number(weight, row, where)
            path = (a_name(label, row, where),)
            item.choices.append(Choice(QUESTION, path, number, None, is_model=True))
    # Winnow wrote this for a table without weights: the probability of its label is not comparable with weights of
    # others.
    unweighed = own is not None and any(one.get("score") is None for one in predictions)
    for place, prediction in enumerate(predictions):
        where = f"predictions[{place}]"
        model = a_name_or_none(prediction.get("model_version"), row, f"{where}.model_version", "a model")
        model = None if own is not None and model in OWN_MODELS else model
        score = None if unweighed else prediction.get("score")
        for result_place, value in enumerate(a_list(prediction.get("result"), row, f"{where}.result")):
            inside = f"{where}.result[{result_place}]"
            result = an_object(value, row, inside)
            own_score = first_of({"own": result.get("score"), "all": score}, ("own", "all"))
            weight = 1.0 if own_score is None else a_number(own_score, row, f"{inside}.score", "a score")
            _result(item, result, row, inside, weight, model, is_model=True)
    return item


def _person_in(results: Json) -> Json:
    """Return the person that Winnow wrote into the results of an annotation; None if there is none."""
    for result in results if isinstance(results, list) else []:
        meta = result.get("meta") if isinstance(result, dict) else None
        if isinstance(meta, dict) and meta.get(OWN_PERSON) is not None:
            return meta[OWN_PERSON]
    return None


def _vector_results(
    vector: Mapping[str, int | None], value: Json, row: int, where: str
) -> Iterator[tuple[str, int | None]]:
    """Yield the changes of an annotation since Winnow wrote it, or a new annotation."""
    for place, one in enumerate(a_list(value, row, where)):
        result = an_object(one, row, f"{where}[{place}]")
        cell = {QUESTION: 1, NOT_QUESTION: 0}.get(str(result.get("from_name")))
        if cell is None:
            continue
        chosen = an_object(result.get("value"), row, f"{where}[{place}].value")
        labels = [
            a_name(label, row, f"{where}[{place}].value.choices")
            for label in a_list(chosen.get("choices"), row, f"{where}[{place}].value.choices")
        ]
        meta = result.get("meta")
        before = a_list(meta.get(OWN_SAID), row, where) if isinstance(meta, dict) else []
        added = [label for label in labels if label not in before]
        gone = [str(label) for label in before if label not in labels and vector.get(str(label)) == cell]
        yield from ((label, cell) for label in added)
        yield from ((label, None) for label in gone)


def _result(item: Item, value: Json, row: int, where: str, weight: float, source: str | None, **marks: bool) -> None:
    result = an_object(value, row, where)
    kind = a_name(result.get("type"), row, f"{where}.type", "a type")
    chosen = an_object(result.get("value"), row, f"{where}.value")
    if kind not in _READ or _REGION & chosen.keys():
        item.unread[kind] += 1
        return
    question = a_name(result.get("from_name"), row, f"{where}.from_name", "the name of a tag")
    for label in a_list(chosen.get(kind), row, f"{where}.value.{kind}"):
        path = a_path(label, row, f"{where}.value.{kind}")
        item.choices.append(Choice(question, path, weight, source, **marks))


def _person(value: Json, row: int, where: str) -> str | None:
    """Read `completed_by`: an id, or an object with an e-mail address."""
    if isinstance(value, dict):
        return a_name_or_none(first_of(value, ("email", "username", "id")), row, where, "a person")
    return a_name_or_none(value, row, where, "a person")


def _seconds(record: JsonObject, row: int, where: str) -> float | None:
    value = record.get(SECONDS)
    return None if value is None else a_number(value, row, where, "a time in seconds")


def _sum(some: float | None, more: float | None) -> float | None:
    return more if some is None else some + (more or 0.0)


def _questions(records: Records) -> list[str]:
    """Return the fields of JSON-MIN with answers: those between the id and the annotator that hold choices."""
    between: dict[str, None] = {}
    flat = [record for record in records if isinstance(record, dict)]
    for record in flat:
        names = list(record)
        start = names.index("id") + 1 if "id" in names else 0
        end = names.index("annotator") if "annotator" in names else 0
        between.update(dict.fromkeys(names[start:end]))
    return answered(flat, [name for name in between if any(_is_answer(record.get(name)) for record in flat)])


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


def _flat(record: JsonObject, row: int, questions: Sequence[str]) -> Item:
    """Read one annotation of JSON-MIN. A single chosen label is text; several are `{"choices": [...]}`."""
    about = {*questions, "id", "annotator", "annotation_id", "created_at", "updated_at", SECONDS, "agreement"}
    item = Item({name: value for name, value in record.items() if name not in about})
    item.number = a_name_or_none(record.get("id"), row, "id", "an id")
    item.seconds = _seconds(record, row, SECONDS)
    person = _person(record.get("annotator"), row, "annotator")
    for question in questions:
        value = record.get(question)
        for one in value if isinstance(value, list) else [value]:
            if one is None or one == "":
                continue
            if isinstance(one, str):
                labels: list[Json] = [one]
            else:
                chosen = an_object(one, row, question)
                kind = next((name for name in _READ if name in chosen), None)
                if kind is None:
                    item.unread[question] += 1
                    continue
                labels = a_list(chosen[kind], row, question)
            for label in labels:
                item.choices.append(Choice(question, a_path(label, row, question), 1.0, person))
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
    fields = [name for name in records[0] if name not in about]
    written = [name for name in fields if any(not isinstance(record[name], str) for record in records)]
    question = _question(records, fields, written)
    if question is None:
        raise refusal(
            f"No column of {listed(fields)} holds choices of annotators.", "Export the project as JSON and import that."
        )
    # Other answers are facts about people, not about the task.
    others = [name for name in fields if name != question and (name in written or _differs(records, name))]
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
    kinds = {name: {text for record in records if (text := str(record[name])).strip()} for name in fields}
    few = [
        name
        for name in answered(records, fields)
        if kinds[name]
        and len(kinds[name]) <= max(2, _MOST_CLASSES * len(records))
        and not all(number_in(text) is not None for text in kinds[name])
    ]
    # A constant column distinguishes nothing: prefer columns with several classes.
    return min(few, key=lambda name: (len(kinds[name]) == 1, len(kinds[name])), default=None)


def _differs(records: list[JsonObject], name: str) -> bool:
    """Whether annotations of one task have different cells in this column."""
    seen: dict[str, Json] = {}
    return any(seen.setdefault(str(record["id"]), record[name]) != record[name] for record in records)


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
