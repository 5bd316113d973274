"""Label Studio: tasks with annotations and predictions, the flat JSON-MIN, and tasks to be opened there.

Layouts: labelstud.io/guide/task_format, /guide/predictions, and `label_studio_sdk.converter` for JSON-MIN. Choices and
taxonomies of a whole task are read. Where a project asks several questions, the one answered most often is read and the
others stay as columns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from plcore.common.words import listed
from plcore.tables.formats.candidate_rows import Row, rows_reading
from plcore.tables.formats.reading import TableReading, refusal
from plcore.tables.formats.record_values import (
    Records,
    a_list,
    a_name,
    a_name_or_none,
    a_number,
    an_object,
    first_of,
    json_text,
    read_each,
)
from plcore.tables.formats.taxonomy import Path, a_path, taxonomy_of

TASK_ID = "task_id"
SECONDS = "lead_time"
OWN_ID, OWN_PERSON = "winnow_id", "winnow_person"
"""In tasks that were written here: the id of the row (in their `meta`), and who gave an annotation."""

_READ = ("choices", "taxonomy")
_REGION = frozenset(("x", "y", "start", "end", "points", "startOffset"))
_LOOK = 50


@dataclass(frozen=True)
class Choice:
    """One label that somebody chose; `weight` is 1 of a person, the score of a model."""

    question: str
    path: Path
    weight: float
    source: str | None
    is_truth: bool = False
    is_model: bool = False


@dataclass
class Item:
    """One task: what is said of it, who chose what, and what could not be read."""

    data: dict[str, Any]
    choices: list[Choice] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    cancelled: int = 0
    unread: Counter[str] = field(default_factory=Counter)


class LabelStudioTasks:
    """The JSON export: `{"id", "data", "annotations", "predictions"}` for each task."""

    name = "Label Studio JSON"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        answered = ("annotations", "predictions", "completions")
        return (
            bool(seen)
            and all(isinstance(record, dict) and isinstance(record.get("data"), dict) for record in seen)
            and any(isinstance(record.get(name), list) for record in seen for name in answered)
        )

    def read(self, records: Records) -> TableReading:
        """One row for each task. Raises TableError."""
        return items_reading(read_each(records, _task), self.name)


class LabelStudioMin:
    """The JSON-MIN export: a flat record for each annotation, with `id`, answers and `annotator` behind the data."""

    name = "Label Studio JSON-MIN"

    def fits(self, records: Records) -> bool:
        seen = records[:_LOOK]
        wanted = {"annotation_id", "annotator", "lead_time"}
        return bool(seen) and all(isinstance(record, dict) and wanted <= record.keys() for record in seen)

    def read(self, records: Records) -> TableReading:
        """One row for each task. Raises TableError, also where no field seems to hold answers."""
        questions = _questions(records)
        if not questions:
            raise refusal(
                "No field between 'id' and 'annotator' holds a choice.",
                "Export the project as JSON, not as JSON-MIN, and import that.",
            )
        items: dict[Any, Item] = {}
        for item in read_each(records, lambda record, row: _flat(record, row, questions)):
            task = item.facts[TASK_ID]
            key = len(items) if task is None else f"id {task}"
            known = items.setdefault(key, item)
            if known is not item:
                known.choices += item.choices
                known.facts[SECONDS] = _sum(known.facts[SECONDS], item.facts[SECONDS])
        return items_reading(list(items.values()), self.name)


def items_reading(items: Sequence[Item], format_name: str) -> TableReading:
    """The reading of tasks, for the question that was answered most often."""
    counts = Counter(choice.question for item in items for choice in item.choices)
    notes = _left_out(items)
    if not counts:
        raise refusal(
            " ".join(["No task has a choice or a place in a taxonomy.", *notes]),
            "Export tasks with answers or predictions of a <Choices> or <Taxonomy> tag.",
        )
    kinds = Counter(
        name for name, _ in {(choice.question, choice.path) for item in items for choice in item.choices}
    )
    question = max(
        counts, key=lambda name: (counts[name], -kinds[name])
    )  # texts written by hand seldom repeat
    others = [name for name in counts if name != question]
    if others:
        notes.append(
            f"The labels are those of {question!r}, the question answered most; {listed(others)} are kept as columns."
        )
    tree = taxonomy_of(
        choice.path for item in items for choice in item.choices if choice.question == question
    )
    if any(choice.is_model for item in items for choice in item.choices) and any(
        not choice.is_model for item in items for choice in item.choices
    ):
        notes.append(
            "Choices of people weigh 1 each, those of models their score, or 1 without one; they are added up."
        )
    if any(len(classes) > 1 for classes in tree.meaning.values()):
        notes.append(
            "Where a group of the taxonomy was chosen, all its classes are candidates and share the weight."
        )
    rows, unclear = [], 0
    for item in items:
        facts = {name: value for name, value in item.facts.items() if value is not None}
        row = Row({**facts, **item.data, **_others(item, others)})
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
        rows.append(row)
    if unclear:
        notes.append(
            f"In {unclear} tasks the ground truth names several labels, so it is not taken as the true label."
        )
    describing = {name for item in items for name in item.data}
    return rows_reading(
        rows, format_name, describing=describing, row_id=TASK_ID, notes=notes, groups=tree.groups
    )


def _left_out(items: Iterable[Item]) -> list[str]:
    unread: Counter[str] = Counter()
    for item in items:
        unread += item.unread
    notes = [f"{count} results of type {name!r} are not about the whole task as choices are, and were not read."
             for name, count in unread.items()]  # fmt: skip
    cancelled = sum(item.cancelled for item in items)
    if cancelled:
        notes.append(f"{cancelled} annotations were skipped by their people and are no votes.")
    return notes


def _others(item: Item, questions: Iterable[str]) -> dict[str, str]:
    """The answers to the other questions, as JSON."""
    found = {name: [list(c.path) for c in item.choices if c.question == name] for name in questions}
    flat = {name: [path[0] if len(path) == 1 else path for path in paths] for name, paths in found.items()}
    return {name: json_text(labels) for name, labels in flat.items() if labels and name not in item.data}


def _task(record: dict[str, Any], row: int) -> Item:
    meta = record.get("meta")
    own = meta.get(OWN_ID) if isinstance(meta, dict) else None
    task = record.get("id") if own is None else own
    item = Item(an_object(record.get("data"), row, "data"))
    item.facts[TASK_ID] = a_name_or_none(task, row, "id", "an id")
    said = "annotations" if record.get("annotations") is not None else "completions"
    for place, value in enumerate(a_list(record.get(said), row, said)):
        where = f"{said}[{place}]"
        annotation = an_object(value, row, where)
        if annotation.get("was_cancelled"):
            item.cancelled += 1
            continue
        item.facts[SECONDS] = _sum(item.facts.get(SECONDS), _seconds(annotation, row, f"{where}.{SECONDS}"))
        by = first_of(annotation, (OWN_PERSON, "completed_by"))
        person = _person(by, row, f"{where}.completed_by")
        is_truth = bool(annotation.get("ground_truth"))
        for result_place, result in enumerate(a_list(annotation.get("result"), row, f"{where}.result")):
            _result(item, result, row, f"{where}.result[{result_place}]", 1.0, person, is_truth=is_truth)
    models = a_list(record.get("predictions"), row, "predictions")
    predictions = [an_object(one, row, f"predictions[{place}]") for place, one in enumerate(models)]
    # Written here, of a table that weighs nothing: the probability of its label is no weight beside those of others.
    unweighed = own is not None and any(one.get("score") is None for one in predictions)
    for place, prediction in enumerate(predictions):
        where = f"predictions[{place}]"
        model = a_name_or_none(prediction.get("model_version"), row, f"{where}.model_version", "a model")
        score = None if unweighed else prediction.get("score")
        for result_place, value in enumerate(a_list(prediction.get("result"), row, f"{where}.result")):
            inside = f"{where}.result[{result_place}]"
            result = an_object(value, row, inside)
            own_score = first_of({"own": result.get("score"), "all": score}, ("own", "all"))
            weight = 1.0 if own_score is None else a_number(own_score, row, f"{inside}.score", "a score")
            _result(item, result, row, inside, weight, model, is_model=True)
    return item


def _result(
    item: Item, value: Any, row: int, where: str, weight: float, source: str | None, **marks: bool
) -> None:
    """Add what one result chooses."""
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


def _person(value: Any, row: int, where: str) -> str | None:
    """`completed_by`: an id, or an object with an e-mail address."""
    if isinstance(value, dict):
        return a_name_or_none(first_of(value, ("email", "username", "id")), row, where, "a person")
    return a_name_or_none(value, row, where, "a person")


def _seconds(record: dict[str, Any], row: int, where: str) -> float | None:
    value = record.get(SECONDS)
    return None if value is None else a_number(value, row, where, "a time in seconds")


def _sum(some: float | None, more: float | None) -> float | None:
    return more if some is None else some + (more or 0.0)


def _questions(records: Sequence[Any]) -> list[str]:
    """The fields of JSON-MIN with answers: those written between the id and the annotator that hold choices."""
    between: dict[str, None] = {}
    for record in records:
        if isinstance(record, dict):
            names = list(record)
            start = names.index("id") + 1 if "id" in names else 0
            end = names.index("annotator") if "annotator" in names else 0
            between.update(dict.fromkeys(names[start:end]))
    return [name for name in between if any(_is_answer(r.get(name)) for r in records if isinstance(r, dict))]


def _is_answer(value: Any) -> bool:
    if isinstance(value, list):
        return any(isinstance(one, dict) and not one.keys().isdisjoint(_READ) for one in value)
    return isinstance(value, str) or (isinstance(value, dict) and "choices" in value)


def _flat(record: dict[str, Any], row: int, questions: Sequence[str]) -> Item:
    """One annotation of JSON-MIN. One chosen label is text; several are `{"choices": [...]}`."""
    about = {*questions, "id", "annotator", "annotation_id", "created_at", "updated_at", SECONDS, "agreement"}
    item = Item({name: value for name, value in record.items() if name not in about})
    item.facts[TASK_ID] = a_name_or_none(record.get("id"), row, "id", "an id")
    item.facts[SECONDS] = _seconds(record, row, SECONDS)
    person = _person(record.get("annotator"), row, "annotator")
    for question in questions:
        value = record.get(question)
        for one in value if isinstance(value, list) else [value]:
            if one is None or one == "":
                continue
            if isinstance(one, str):
                labels: list[Any] = [one]
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
