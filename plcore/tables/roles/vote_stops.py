"""Doubts that stop an import because votes, verdicts, questions or people may have been mistaken for each other, or the
name of one class may hold several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count, takewhile

import numpy as np
import pandas as pd

from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.types import FloatArray
from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.candidates import ROUNDED
from plcore.tables.readers.tools.detections import ORIGINAL_ROWS
from plcore.tables.roles.facts import is_from_model, is_from_votes, names_worker
from plcore.tables.roles.sample import (
    JUDGED,
    NOT_ASKED_WORDS,
    VERDICTS,
    YES_AND_NO,
    is_embedding_name,
    key_of,
    may_be_verdict,
    sample_columns,
)
from plcore.tables.roles.suggested_labels import PERCENT_NAME, listed_in
from plcore.tables.roles.suggestion import OWN_COLUMN
from plcore.tables.roles.written_lists import SMALL_IS_NEAR, beside_labels, labels_of_cell, read_cell
from plcore.tables.table import LabelTable

Odd = tuple[str, str, str]
"""Name, message and fix of a doubt."""

_PERSON = re.compile(
    r"annotator|annotation|worker|rater|coder|vote|voter|expert|labeler|labeller|judge|reader|radiologist|pathologist"
    r"|grader|(?:dr|prof|mrs?|ms)_"
)
_ITEM = re.compile(r"(^|_)(ids?|item|task|image|file|filename|file_name|url|uuid|key|text|sentence)$")
_AS_VOTES = "are read here as votes of people on one question, but each may be a question, or an item, of its own."
_PRESENCE = {
    *"+-±?✓✗✔✘", *YES_AND_NO, *NOT_ASKED_WORDS, "possible", "positive", "negative", "equivocal", "borderline",
    "unklar", "unbekannt", "incertain", "inconnu", "dudoso", "desconocido", "incerto", "onbekend", "неизвестно", "不明",
}  # fmt: skip
_CHECKBOX = re.compile(r"(.+?)___\w+|(.+?) \(choice=.*\)", re.ASCII)  # REDCap's column names
_EXPERT = re.compile(r"(?:domain_|senior_)?expert(?:_(?:label|class|vote|answer|annotation|rating|opinion))?")
_RESPONDENT = re.compile(r"(respondent|participant|turker|prolific)(_?p?id|_?no|_?number)?")
_HALVES = re.compile(r"([^_.:/ -]+)[_.:/ -]([^_.:/ -]+)")
_SAID = re.compile(r"([^:=]{1,60}?)\s*[:=]\s*([^:=]+)")
_PLACE = re.compile(
    r"(?:start|end|begin|stop|from|to|offset|length)(?:_?(?:char|pos|index|offset|token|time|sec|ms|s))?|offsets?|spans?"
    r"|b_?box|bounding_?box|box|points|polygon|segmentation|x|y|x_?min|x_?max|y_?min|y_?max|width|height"
)
_OWN_BESIDE = re.compile(r"candidates \d+")
_CUT_ENTITY = re.compile(r"&(?:[a-z]{2,6}|#\d{1,5})$", re.IGNORECASE)
_COUNTED = re.compile(r"\d{1,3}\s+([^\W\d].*)")
_SPARSE = 1 / 3
"""Share of empty cells from which the keys of objects may be labels: people mostly answer about most items."""
_FEWEST_ROWS = 8
_SHOWN = 3
_FEW_ROWS = 500
_ROWS = 20_000  # rows examined
_SCORES = re.compile(r"(?:scores?|prob(?:s|abilit(?:y|ies))?|confidences?|weights?)_1$", re.IGNORECASE)
_FEWEST_WINNERS = 20  # rows with several candidates from which a true label that always wins is doubted
_MOST_CELLS = 1_000  # maximum number of different cells in a column that is compared with others
_MOST_COLUMNS = 60  # columns compared


def _questions_as_voters(table: LabelTable) -> Iterator[Odd]:
    """Columns that agree no more often than by chance, unlike votes on the same question; or rows that are people."""
    columns = table.roles.annotators
    people = [name for name in map(str, table.cells) if _RESPONDENT.fullmatch(key_of(name))]
    if len(columns) > 1 and people and table.cells[people[0]].is_unique:
        message = f"Each row is one person, by column {quoted(people[0])}: {listed(columns, _SHOWN)} {_AS_VOTES}"
        yield ("questions-as-voters", message, "If they are, write a row for each item and a column for each person.")
        return
    if len(columns) < 3 or table.truth is not None or any(map(_PERSON.match, map(key_of, columns))):
        return
    alike = len({key_of(name).rstrip("0123456789_") for name in columns}) == 1  # effusion_reader1, effusion_reader2
    if not alike and {name.lower() for name in table.classes} <= _PRESENCE:
        message = f"All say {listed(table.classes)}, as of things that are there: {listed(columns, _SHOWN)} {_AS_VOTES}"
        fix = "If they are not votes, write 1 for yes, 0 for no, and leave the other cells empty."
        yield "questions-as-voters", message, fix
        return
    some = table.cells[list(columns)].head(_FEW_ROWS)
    answers = [[cell for cell in row if cell] for row in some.apply(lambda one: one.str.strip()).to_numpy().tolist()]
    answers = [row for row in answers if len(row) > 1]
    total = Counter(cell for row in answers for cell in row)
    count = total.total()
    if len(answers) < _FEWEST_ROWS or len(total) < 2:
        return
    agreed = sum(sum(n * (n - 1) for n in Counter(row).values()) / (len(row) - 1) for row in answers) / count
    by_chance = sum(n * (n - 1) for n in total.values()) / (count * (count - 1))
    if agreed <= by_chance:
        message = f"Columns {listed(columns, _SHOWN)} agree no more often than by chance: they {_AS_VOTES}"
        yield "questions-as-voters", message, "If they are not votes, choose the column with the labels."


def _expert_as_voter(table: LabelTable) -> Iterator[Odd]:
    """One column of an expert next to those of others, whose word may be the true label."""
    columns = table.roles.annotators
    experts = [name for name in columns if _EXPERT.fullmatch(key_of(name))]
    others = [name for name in columns if name not in experts]
    if len(experts) == 1 < len(others) and table.truth is None:
        message = (
            f"Column {quoted(experts[0])} is read here as a vote like those of {listed(others, _SHOWN)}, but it may be "
            "the true label."
        )
        yield "expert-as-voter", message, "If it is, choose it as the column of true labels (--truth)."


def _labels_as_voters(table: LabelTable) -> Iterator[Odd]:
    """Fields of an object called labels whose values are read as votes: the fields may be the labels."""
    columns = table.roles.annotators
    fields = {name.rpartition(".")[0] for name in columns}
    if len(fields) == 1 and fields <= {"labels", "candidates", "tags", "classes", "categories"}:
        some = table.cells[list(columns)].head(_FEW_ROWS)
        if (some == "").to_numpy().mean() > _SPARSE:
            message = (
                f"The fields of {quoted(fields.pop())}, such as {listed(columns, _SHOWN)}, are read here as people and "
                f"their values as labels, such as {quoted(table.classes[0])}, but it may be the other way round."
            )
            yield "labels-as-voters", message, 'If it is, write the labels as a list, as in ["wren", "robin"].'


def _counts_behind_names(table: LabelTable) -> Iterator[Odd]:
    """Names with a number behind a space, such as cat 3 and dog 1, each once in a cell: perhaps counts of votes."""
    column, roles = table.roles.candidates, table.roles
    halves = [name.rpartition(" ")[::2] for name in table.classes]
    halves = [(name.rstrip(), number) for name, number in halves if name and number.isdecimal() and len(number) < 4]
    stems = Counter(name for name, _ in halves)
    if column is None or roles.form != "list" or len(halves) < len(table.classes) or len(stems) in (1, len(halves)):
        return
    cells = [listed_in(cell, "list", roles.separator) for cell in table.cells[column].head(_FEW_ROWS).unique()]
    named = [[part.rpartition(" ")[0].rstrip() for part in parts] for parts in cells]
    if any(len(names) > 1 for names in named) and all(len(set(names)) == len(names) for names in named):
        message = (
            f"All classes are a name and a number, such as {quoted(table.classes[0])}, and no cell has a name twice: "
            "read here as classes of their own, but the numbers may be counts."
        )
        yield "graded-names", message, "If they are, write a colon before them, as in wren:3|robin:1."


def _cut_entities(table: LabelTable) -> Iterator[Odd]:
    """Names such as fox &amp, cut at the semicolon of an HTML entity."""
    found = [name for name in table.classes if _CUT_ENTITY.search(name)]
    if found and ";" in table.roles.separator:
        message = (
            f"{counted(len(found), 'class', 'classes')} {either(len(found), 'ends', 'end')} like {quoted(found[0])}: "
            "the semicolon behind it was read as a separator, but it belongs to a character as HTML writes it."
        )
        yield "cut-entities", message, "Write the characters themselves, such as & for &amp;."


def _counted_names(table: LabelTable) -> Iterator[Odd]:
    """Names that all begin with a number, such as 2 foxes and 1 deer: perhaps counts."""
    counts = [_COUNTED.fullmatch(name) for name in table.classes]
    stems = {found[1].removesuffix("s").removesuffix("e") for found in counts if found is not None}
    if len(table.classes) > 1 < len(stems) and all(counts) and table.roles.candidates is not None:
        message = (
            f"All classes begin with a number, such as {quoted(table.classes[0])}: read here as parts of their names, "
            "but they may be counts."
        )
        yield (
            "graded-names",
            message,
            "If they are, write a colon and the number behind the name, as in wren:3|robin:1.",
        )


def _votes_in_rows(table: LabelTable) -> Iterator[Odd]:
    """Rows with the labels of one named person each, and repeated items."""
    if table.roles.id is not None and table.roles.annotators:
        return
    named = table.label_vectors is None and len(pairs_of(table.candidates)[0]) == table.n_rows
    roles = ("candidates", "annotators", "choices", "label_columns")
    labels = {name for role, name in table.roles.used() if role in roles}
    some = table.cells.head(_FEW_ROWS)
    again = [str(name) for name in some.columns if name not in labels and some[name].duplicated().any()]
    people = [name for name in again if names_worker(key_of(name)) and some[name].nunique() > 1]
    items = [
        name for name in again
        if name not in people and _ITEM.search(key_of(name)) and 1 < some[name].nunique() > len(some) / 10
    ]  # fmt: skip
    if people and items:
        said = "one label" if named else "labels"
        message = (
            f"Every row names {said}, {quoted(people[0])} names who gave {either(named, 'it', 'them')}, and "
            f"{quoted(items[0])} comes again: read here as items that differ, but each row may be a vote."
        )
        fix = (
            f"If it is, call the columns task ({items[0]}), worker ({people[0]}) and label."
            if named
            else f"If it is, write a row for each {items[0]} and label that was named, with the columns task, worker "
            "and label."
        )
        yield "votes-in-rows", message, fix


def _people_in_names(table: LabelTable) -> Iterator[Odd]:
    """Names such as ann: cat, with the same second part after several first parts: votes with their voters."""
    halves = [match.groups() for name in table.classes if (match := _SAID.fullmatch(name))]
    people, said = {who for who, _ in halves}, {what for _, what in halves}
    several = len(halves) == len(table.classes) > max(len(people), len(said))
    if several and min(len(people), len(said)) > 1 and not table.roles.label_columns:
        message = (
            f"Classes such as {quoted(table.classes[0])} have the same words behind several first ones, "
            f"{listed(sorted(people), _SHOWN)}: read here as classes of their own, but each may be a vote and who gave "
            "it."
        )
        yield "people-in-names", message, "If it is, write a column for each person, with their votes."


def _several_questions(table: LabelTable) -> Iterator[Odd]:
    """Checkboxes of several questions of a form, read as labels of one question."""
    asked = [match[1] or match[2] for one in table.roles.label_columns if (match := _CHECKBOX.fullmatch(one.strip()))]
    questions = list(dict.fromkeys(asked))
    if len(questions) > 1 and len(asked) == len(table.roles.label_columns):
        message = (
            f"The columns are checkboxes of {len(questions)} questions, {listed(questions, _SHOWN)}: read here as "
            "labels of one question."
        )
        fix = "Choose the columns of one question (--label-column), and import the others as projects of their own."
        yield "several-questions", message, fix


def _grid_of_names(table: LabelTable) -> Iterator[Odd]:
    """Columns such as ann_cat, ann_dog, bob_cat, bob_dog: each first word with each last word."""
    halves = [match.groups() for one in table.classes if (match := _HALVES.fullmatch(one))]
    first, last = (list(dict.fromkeys(words)) for words in zip(*halves, strict=True)) if halves else ([], [])
    columns = table.roles.label_columns or table.roles.score_columns
    if len(first) > 1 < len(last) and len(halves) == len(columns) == len(first) * len(last):
        message = (
            f"The columns are called {listed(first, _SHOWN)}, each with {listed(last, _SHOWN)}: read here as "
            f"{len(columns)} labels, but one half of the name may say who answered, or which question."
        )
        fix = "If it does, choose the columns of one person or question, or write a column for each person's label."
        yield "several-questions", message, fix


def _questions_side_by_side(table: LabelTable) -> Iterator[Odd]:
    """Groups of 0/1 columns with exactly one 1 in every row: perhaps a question each."""
    columns, place = table.roles.label_columns, {name: k for k, name in enumerate(table.classes)}
    if table.label_vectors is not None or table.n_rows < _FEWEST_ROWS or not columns:
        return
    rows = np.arange(table.n_rows)
    groups, group, ones = [], [], np.zeros(table.n_rows, int)
    for name in columns:
        group.append(name)
        ones += np.asarray(table.candidates[rows, np.full_like(rows, place[name.strip()])])
        if len(group) > 1 and (ones == 1).all():
            groups.append(group)
            group, ones = [], np.zeros(table.n_rows, int)
    if len(groups) > 1 and not group:
        shown = " and ".join(listed(one, _SHOWN) for one in groups[:_SHOWN])
        message = (
            f"Every row has exactly one 1 in each of {len(groups)} groups of columns, {shown}: read here as labels of "
            "one question, but each group may be a question of its own, and decided."
        )
        fix = "If it is, choose the columns of one question (--label-column)."
        yield "several-questions", message, fix


def _computed_truth(table: LabelTable) -> Iterator[Odd]:
    """True labels that are the candidate with the highest weight in every row: a program may have computed them."""
    column, weights = table.roles.truth, table.candidate_weights
    if column is None or weights is None or table.truth is None:
        return
    weights, truth = weights[:_ROWS], table.truth[:_ROWS]
    several = np.count_nonzero(weights, axis=1) > 1
    if np.count_nonzero(several) < _FEWEST_WINNERS or (truth < 0).any() or (weights.argmax(axis=1) != truth).any():
        return
    message = (
        f"Column {quoted(column)} names the candidate with the highest weight in every row: read here as the true "
        "label, but a program may have computed it from the weights."
    )
    yield "computed-truth", message, "If it has, choose no column of true labels."


def _label_beside(table: LabelTable) -> Iterator[Odd]:
    """A column with a class in every row that is never one of the row's candidates, which may be its alternatives."""
    if table.truth is not None or table.label_vectors is not None or table.roles.candidates is None:
        return
    used = {name for _, name in table.roles.used()}
    place = {name: k for k, name in enumerate(table.classes)}
    some = table.cells.head(_FEW_ROWS)
    for column in (str(name) for name in some.columns if name not in used):
        named = [place.get(cell) for cell in some[column].str.strip()]
        known = [(row, k) for row, k in enumerate(named) if k is not None]
        if len(known) < max(_FEWEST_ROWS, 0.9 * len(some)) or len(set(named)) < 2:
            continue
        rows, classes = np.array(known).T
        if not np.asarray(table.candidates[rows, classes]).any():
            message = (
                f"Column {quoted(column)} names a class in every row, and never one of the row's candidates in "
                f"{quoted(table.roles.candidates)}: read here, it counts for nothing, but it may be the first "
                "candidate, and the others its alternatives."
            )
            yield ("label-beside", message, "If it is, write all candidates of a row into one cell, as in wren|robin.")
            return


def _labels_beside_scores(table: LabelTable) -> Iterator[Odd]:
    """Columns of yes or no called like the classes, next to those of their scores: perhaps the labels."""
    columns = {str(name).strip(): str(name) for name in table.cells.columns}
    own = [columns[name] for name in table.classes if name in columns]
    used = {name for _, name in table.roles.used()}
    if not table.roles.score_columns or len(own) < len(table.classes) or used.intersection(own):
        return
    if all(one.is_bits for one in sample_columns(table.cells[own])):
        message = (
            f"Columns {listed(own, _SHOWN)} hold yes or no for each class: read here, they are not used, and the "
            f"candidates are those of {listed(table.roles.score_columns, _SHOWN)}, but they may be the labels."
        )
        fix = "If they are, choose them as label columns (--label-column), or write a column of true labels."
        yield "labels-next-to-scores", message, fix


def _voter_as_list(table: LabelTable) -> Iterator[Odd]:
    """A column read as a list next to another with the same cells, or lists of the same labels: perhaps one vote each
    of several people."""
    column, roles = table.roles.candidates, table.roles
    if column is None or OWN_COLUMN.match(column) or roles.form == "weighted" or roles.label_vectors or roles.voters:
        return
    some = table.cells.head(_ROWS)
    own = set(some[column].str.strip().unique()) - {""}
    if len(own) > _MOST_CELLS or not any(len(listed_in(cell, roles.form, roles.separator)) > 1 for cell in own):
        return
    what, mine = ("labels" if roles.form == "json" else "cells"), _compared(some[column], roles.form)
    labels = {name for role, name in roles.used() if role not in ("categories", "numbers", "more_texts", "caption")}
    for name in [str(one) for one in some.columns if one not in labels][:_MOST_COLUMNS]:
        by_model = is_from_model(key_of(name)) and not is_from_model(key_of(column))
        if OWN_COLUMN.match(name) or is_from_votes(key_of(name)) or by_model:
            continue
        # As earlier versions of Winnow exported them; or the file's own column of the name that a reader takes.
        if key_of(name) == f"{key_of(column)}_before" or (column == "candidates" and _OWN_BESIDE.fullmatch(name)):
            continue
        theirs = _compared(some[name], roles.form)
        if len(theirs) > 1 and 2 * len(mine & theirs) >= len(mine | theirs):
            message = (
                f"Column {quoted(name)} holds much the same {what} as {quoted(column)}: read here, {quoted(column)} "
                f"lists the candidates and {quoted(name)} does not, but they may be the votes of two people."
            )
            yield "voter-as-list", message, "If they are votes, choose both columns as annotators."
            return


def _compared(column: pd.Series[str], form: str) -> set[str]:
    """Return what is compared between columns: the cells, or the labels in lists that programs wrote, without
    boxes in pictures."""
    cells = set(column.head(_FEW_ROWS if form == "json" else _ROWS).str.strip().unique()) - {""}
    if form != "json":
        return cells
    return {label for cell in cells if '"bbox"' not in cell for label in labels_of_cell(cell)}


def _verdicts_on_labels(table: LabelTable) -> Iterator[Odd]:
    """Objects of labels with a further field that says yes of some and no of others, or a number such as a distance."""
    column = table.roles.candidates
    if column is None or table.roles.form != "json":
        return
    objects = [one for cell in table.cells[column].head(_FEW_ROWS).unique() for one in beside_labels(cell)]
    said: dict[str, set[str]] = {}
    numbers = []
    for key, value in (pair for one in objects for pair in one.items()):
        said.setdefault(key, set()).add(str(value).strip().lower())
        counts = re.fullmatch(r"n|num|counts?|freq(?:uency)?", key_of(key))
        if isinstance(value, (int, float)) and (counts or SMALL_IS_NEAR.fullmatch(key_of(key))):
            numbers.append(key)
    places = [key for key in said if _PLACE.fullmatch(key_of(key))]
    if places:
        message = (
            f"The labels in column {quoted(column)} have a place each ({listed(places, _SHOWN)}): read here as "
            "candidates of which one is right, but each may be right about its part of the item."
        )
        yield "places-of-labels", message, "If it is, write a row for each part, with its candidates."
    for key in (one for one, values in said.items() if len(values) > 1 and values <= VERDICTS):
        words = listed(sorted(said[key]), _SHOWN)
        message = (
            f"The labels in column {quoted(column)} have a field {quoted(key)}, which says {words}: read here, all of "
            "them are candidates, also those that it may rule out."
        )
        yield "verdicts-on-labels", message, "If it rules labels out, leave those out of the lists."
    if numbers and table.candidate_weights is None:
        message = (
            f"The labels in column {quoted(column)} have a number {quoted(numbers[0])} each: read here, it counts for "
            "nothing, but it may say how probable each is."
        )
        fix = "If it does, call it weight; of distances and ranks, the smallest of which is the best, write 1/(1+d)."
        yield "scores-elsewhere", message, fix


def _verdicts_beside_detections(table: LabelTable) -> Iterator[Odd]:
    """A column of a detector's file that says yes or no of items, and that its reader does not know."""
    used = {name for _, name in table.roles.used()}
    for name in map(str, table.cells.columns) if ORIGINAL_ROWS in table.cells else ():
        if name in used or may_be_verdict(key_of(name)) is None:
            continue
        values = {cell.strip().lower() for cell in table.cells[name].unique()} - {"", "null", "none"}
        if values & VERDICTS:
            message = (
                f"Column {quoted(name)} says {listed(sorted(values), _SHOWN)} of items: read here, it counts for "
                "nothing, but a person may have said so of their labels."
            )
            yield (
                "verdicts-on-labels",
                message,
                "If one has, call it verified, and the label that is right verified_label.",
            )


def _verdicts_as_labels(table: LabelTable) -> Iterator[Odd]:
    """Columns of people that agree or disagree, next to the label of a model, which they may judge."""
    columns, said = table.roles.annotators, {name.lower() for name in table.classes}
    used = {name for _, name in table.roles.used()}
    judged = [name for name in map(str, table.cells) if name not in used and is_from_model(key_of(name))]
    if columns and judged and said <= JUDGED:
        message = (
            f"{either(len(columns), 'Column', 'Columns')} {listed(columns, _SHOWN)} "
            f"{either(len(columns), 'says', 'say')} {listed(table.classes, _SHOWN)}: read here as labels, but they may "
            f"judge the label in column {quoted(judged[0])}."
        )
        yield (
            "verdicts-on-labels",
            message,
            "If they do, write a column for each person, with the label they found right.",
        )


def _weightless(table: LabelTable) -> Iterator[Odd]:
    """Labels with weight 0 in every cell that names them, if cells name only some of the labels."""
    column = table.roles.candidates
    # In a column called candidates, as the readers of tools write it, 0 means that a label is not a candidate.
    if column in (None, "candidates") or table.candidate_weights is None or table.roles.form != "json":
        return
    cells = table.cells[column].head(_ROWS).str.strip().unique()
    weights: dict[str, float] = {}
    for name, weight in (pair for cell in cells if cell for pair in read_cell(cell) or ()):
        weights[name] = max(weights.get(name, 0.0), weight or 0.0)
    empty = [name for name, most in weights.items() if most == 0]
    if empty and not all(weights.keys() == {name for name, _ in read_cell(cell) or ()} for cell in cells if cell):
        message = (
            f"{counted(len(empty), 'class', 'classes')} {either(len(empty), 'is', 'are')} named in column "
            f"{quoted(column)} with the weight 0 alone, such as {quoted(empty[0])}: read here as no candidate, but 0 "
            "may mean that the weight is not known."
        )
        yield "weight-zero", message, "If it does, write a weight above 0 for every label that may be right."


def _shares_of_classes(table: LabelTable) -> Iterator[Odd]:
    """A vector, or the columns NAME_1, NAME_2 ... of a list, with a number for each class that sum to 1, or a score for
    each label of a cell: perhaps how probable they are."""
    roles, n, listed_there = table.roles, len(table.classes), _labels_in_each_cell(table)
    used = {column: role for role, column in roles.used()}
    some = table.cells.head(_FEW_ROWS)
    found: list[tuple[list[str], str, FloatArray]] = []
    vectors, name = table.embeddings, roles.embedding
    if name is not None and not is_embedding_name(name) and isinstance(vectors, np.ndarray) and vectors.shape[1] == n:
        found.append(([name], "embedding", vectors[:_FEW_ROWS].astype(np.float64)))
    for run in _lists_of_numbers(map(str, some.columns)):
        parts = {used.get(one, "") for one in run}
        if len(run) in (n, listed_there) and len(parts) == 1 and parts < {"", "numbers"}:
            values = some[run].apply(pd.to_numeric, errors="coerce").to_numpy(dtype=np.float64)
            found.append((run, parts.pop(), values))
    for columns, role, numbers in found:
        known = numbers[~np.isnan(numbers).any(axis=1)]
        where = (
            f"{either(len(columns), 'Column', 'Columns')} {listed(columns, 3)} {either(len(columns), 'holds', 'hold')}"
        )
        each = f"{numbers.shape[1]} numbers in each row, one for each"
        read = "models learn from them" if role else "they count for nothing"
        if len(known) < 2 or (known < 0).any():
            continue
        if numbers.shape[1] == n > 1 and (np.abs(known.sum(axis=1) - 1) < ROUNDED).all():
            message = f"{where} {each} class, that sum to 1: read here, {read}, but they may say how probable each is."
            fix = "If they do, call the columns like the classes, as in p_wren and p_robin, and import that."
            yield "scores-elsewhere", message, fix
        elif numbers.shape[1] == listed_there and _SCORES.search(columns[0]):
            message = f"{where} {each} label of a cell: read here, {read}, but they may say how probable each is."
            fix = "If they do, write both in one cell, as in wren:0.6|robin:0.4."
            yield "scores-elsewhere", message, fix


def _parts_of_items(table: LabelTable) -> Iterator[Odd]:
    """Columns called %, next to no true label: perhaps what each item is made of, as sand, silt and clay."""
    columns = table.roles.score_columns
    if columns and table.roles.truth is None and all(PERCENT_NAME.search(name.strip()) for name in columns):
        message = (
            f"Columns {listed(columns, 3)} are called by a percentage: read here as how probable each class is, but "
            "they may say what each item is made of."
        )
        yield "percent-columns", message, "If they do, choose them as numbers, and the column of labels."


def _labels_in_each_cell(table: LabelTable) -> int:
    """Return the number of labels that every cell lists; 0 if it differs, or if they have weights."""
    column, roles = table.roles.candidates, table.roles
    if column is None or roles.label_vectors or table.candidate_weights is not None:
        return 0
    cells = table.cells[column].head(_FEW_ROWS).str.strip()
    lengths = {len(listed_in(cell, roles.form, roles.separator)) for cell in cells}
    return lengths.pop() if len(lengths) == 1 else 0


def _lists_of_numbers(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield the columns NAME_1, NAME_2 ... of each name with two or more."""
    known = dict.fromkeys(names)
    for stem in (name.removesuffix("_1") for name in known if name.endswith("_1")):
        run = list(takewhile(known.__contains__, (f"{stem}_{place}" for place in count(1))))
        if len(run) > 1:
            yield run


STOPPING_VOTES: tuple[Callable[[LabelTable], Iterator[Odd]], ...] = (
    _questions_as_voters,
    _expert_as_voter,
    _labels_as_voters,
    _counts_behind_names,
    _cut_entities,
    _counted_names,
    _votes_in_rows,
    _people_in_names,
    _several_questions,
    _grid_of_names,
    _questions_side_by_side,
    _label_beside,
    _labels_beside_scores,
    _computed_truth,
    _voter_as_list,
    _verdicts_on_labels,
    _verdicts_as_labels,
    _verdicts_beside_detections,
    _weightless,
    _shares_of_classes,
    _parts_of_items,
)
