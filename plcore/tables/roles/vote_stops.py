"""Doubts that stop an import because votes, verdicts, questions or people may have been mistaken for each other, or the
name of one class may hold several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from plcore.arrays.candidate_sets import pairs_of
from plcore.arrays.words import counted, either, listed, quoted
from plcore.tables.roles.facts import is_from_model, is_from_votes, names_worker
from plcore.tables.roles.roles import marks_of
from plcore.tables.roles.sample import (
    NO_WORDS,
    NOT_ASKED_WORDS,
    SELDOM,
    VERDICTS,
    WORD,
    YES_WORDS,
    key_of,
    parts_known,
    parts_of,
)
from plcore.tables.roles.suggested_labels import listed_in
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
    *"+-±?✓✗✔✘", *YES_WORDS, *NO_WORDS, *NOT_ASKED_WORDS, "possible", "positive", "negative", "equivocal", "borderline",
    "unklar", "unbekannt", "incertain", "inconnu", "dudoso", "desconocido", "incerto", "onbekend", "неизвестно", "不明",
}  # fmt: skip
_CHECKBOX = re.compile(r"(.+?)___\w+|(.+?) \(choice=.*\)", re.ASCII)  # REDCap's column names
_EXPERT = re.compile(r"(?:domain_|senior_)?expert(?:_(?:label|class|vote|answer|annotation|rating|opinion))?")
_RESPONDENT = re.compile(r"(respondent|participant|turker|prolific)(_?p?id|_?no|_?number)?")
_HALVES = re.compile(r"([^_.:/ -]+)[_.:/ -]([^_.:/ -]+)")
_SAID = re.compile(r"([^:=]{1,60}?)\s*[:=]\s*([^:=]+)")
_MARKS = ("|", ";", ",", "\n", " and ", "\t", *SELDOM, "->", "→", "=>", ">", "_", " ")
_STRONG = ("|", ";", ",", " or ")
"""Marks that suggest a list if one of the parts is a class."""
_EITHER = re.compile(r"(?:either|both|entweder)\s+", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\s*[^\w\s]+\s*|\s{2,}"
    r"|\s+(?:x?or|and|nor|then|else|plus|v|vs|versus|und|oder|et|ou|y|o|e|en|of|och|eller|og|bzw|resp|aka|alias)\.?\s+"
)
_PLACE = re.compile(
    r"(?:start|end|begin|stop|from|to|offset|length)(?:_?(?:char|pos|index|offset|token|time|sec|ms|s))?|offsets?|spans?"
    r"|b_?box|bounding_?box|box|points|polygon|segmentation|x|y|x_?min|x_?max|y_?min|y_?max|width|height"
)
_CUT_ENTITY = re.compile(r"&(?:[a-z]{2,6}|#\d{1,5})$", re.IGNORECASE)
_COUNTED = re.compile(r"\d{1,3}\s+([^\W\d].*)")
_LONGEST, _MOST_CLASSES = 200, 300  # characters of a name, and classes, that are compared with others
_SPARSE = 1 / 3
"""Share of empty cells from which the keys of objects may be labels: people mostly answer about most items."""
_FEWEST_ROWS = 8
_SHOWN = 3
_FEW_ROWS = 500
_ROWS = 20_000  # rows examined
_FEWEST_WINNERS = 20  # rows with several candidates from which a true label that always wins is doubted
_MOST_CELLS = 1_000  # maximum number of different cells in a column that is compared with others
_MOST_COLUMNS = 60  # columns compared


def _mixed_separators(table: LabelTable) -> Iterator[Odd]:
    """Classes made of classes: lists with another separator, or with anything between the names, as in fox xor deer."""
    known, roles = set(table.classes), table.roles
    may_join = len(known) <= _MOST_CLASSES and not (roles.label_columns or roles.score_columns)
    lower = {name.lower(): name for name in known if may_join and WORD.search(name)}
    found: dict[str, list[str]] = {}
    at: list[str] = []
    for name in table.classes:
        inner = name.strip("[](){} ")
        if said := _EITHER.match(inner):
            inner = inner[said.end() :]
        for mark in _MARKS if inner != name else filter(name.__contains__, _MARKS):
            parts = [part.strip("'\" ?") for part in parts_of(inner, mark)]
            if len(parts) < 2 and inner == name:
                continue
            strong = mark == "|" or (roles.form == "list" and mark in _STRONG)
            listed_some = strong and len(parts) > 1 and not known.isdisjoint(parts)
            if parts and name not in parts and (listed_some or known.issuperset(parts)):
                found[name] = parts
                at += [mark] if len(parts) > 1 else []
                break
        else:
            if parts := _joined(name.lower(), lower) if len(name) <= _LONGEST and name.lower() in lower else []:
                found[name] = parts
                at.append("")
    if not found and may_join:
        found = _moving_parts(table.classes)
    name, parts = next(iter(found.items()), ("", []))
    if not found or (
        len(found) == 1 and name in (" ".join(parts), "_".join(parts)) and not _is_other_list(table, name, parts)
    ):
        return  # black bear, next to black and bear
    several = "candidate" if len(parts) == 1 else f"{len(parts)} candidates"
    message = (
        f"{counted(len(found), 'class', 'classes')} {either(len(found), 'is', 'are')} made of other classes, such as "
        f"{quoted(name)}: read here as one class, but it may list the {several} {' and '.join(map(quoted, parts))}."
    )
    fix = "If it lists candidates, write the same separator in every row."
    both = roles.separator + "".join(mark for mark in _MARKS if mark in at)
    if roles.candidates is not None and len(marks_of(both)) > len(marks_of(roles.separator)):
        fix = (
            f"If it lists candidates, choose the separator {both} (--separator '{both}'), which splits at each of "
            "them; or write the same separator in every row."
        )
    yield "mixed-separators", message, fix


def _moving_parts(names: Sequence[str]) -> dict[str, list[str]]:
    """Return the names that a mark splits into parts of which at least two have other places in other names, as in
    wren, robin and robin, wren: no name of one class is so."""
    for mark in ("|", ";", ","):
        lists = {name: parts for name in names if len(parts := parts_of(name, mark)) > 1}
        places: dict[str, set[int]] = {}
        for place, part in (one for parts in lists.values() for one in enumerate(parts)):
            places.setdefault(part, set()).add(place)
        if sum(len(one) > 1 for one in places.values()) > 1:
            return lists
    return {}


def _is_other_list(table: LabelTable, name: str, parts: list[str]) -> bool:
    """Whether a class is never a candidate next to others, and the classes that make it up are candidates of a row."""
    rows, classes = pairs_of(table.candidates)
    of = {name: set(rows[classes == k].tolist()) for k, name in enumerate(table.classes) if name in {name, *parts}}
    alone = np.bincount(rows)[list(of[name])].max(initial=0) == 1
    return bool(alone and set.intersection(*(of[part] for part in parts)))


def _joined(name: str, others: Mapping[str, str]) -> list[str]:
    """Return at least two of the others that, with something between each two, make up the name; [] if none do.

    others : in lower case, with their spelling
    From every place that can be reached, once: names that contain each other can be joined in a great many ways.
    """
    parts = [one for one in others if one != name and one in name]
    begins = [at for at in range(len(name)) if any(name.startswith(one, at) for one in parts)]
    left: list[tuple[int, list[str]]] = [(0, [])]
    reached = {0}
    while left:
        at, before = left.pop()
        for one in (one for one in parts if name.startswith(one, at)):
            end, found = at + len(one), [*before, others[one]]
            if end == len(name):
                return found
            further = {place for place in begins if place > end and _BETWEEN.fullmatch(name, end, place)} - reached
            left += ((place, found) for place in further)
            reached |= further
    return []


def _shared_words(table: LabelTable) -> Iterator[Odd]:
    """Names with a common last or first word, split as in Downy/Hairy Woodpecker and Parus major/caeruleus."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list" or mark not in SELDOM:
        return
    known = set(table.classes)
    for cell in table.cells[column].head(_ROWS).str.strip().unique():
        parts = parts_of(str(cell), mark)
        first, last = parts[0].rpartition(" ")[0], parts[-1].rpartition(" ")[2]
        before = [f"{part} {last}" for part in parts[:-1]] if " " in parts[-1] else []
        after = [f"{first} {part}" for part in parts[1:]] if first else []
        whole = next((one for one in (before, after) if one and known >= set(one)), None)
        if whole is not None:
            which = "first" if whole is before else "last"
            message = (
                f"{quoted(str(cell))} is read here as the candidates {listed(parts, _SHOWN)}, but the {which} may be "
                f"{quoted(whole[0 if whole is before else -1])}, which is a class as well."
            )
            yield "shared-words", message, "If it is, write every name in full."
            return


def _guessed_separator(table: LabelTable) -> Iterator[Odd]:
    """A separator in few cells whose parts occur nowhere else, as in Gull, Herring."""
    column, mark = table.roles.candidates, table.roles.separator
    if column is None or table.roles.form != "list":
        return
    cells = [cell for cell in table.cells[column].head(_ROWS).str.strip().tolist() if cell]
    split = Counter(cell for cell in cells if len(parts_of(cell, mark)) > 1)
    known = parts_known(cells, mark)
    odd = [cell for cell in split if not known & set(parts_of(cell, mark))]
    if mark not in SELDOM and odd and len(odd) == len(split) and 2 * sum(split.values()) <= len(cells):
        message = (
            f"{counted(sum(split.values()), 'cell')} of {len(cells):,} hold {quoted(mark)}, such as {quoted(odd[0])}: "
            f"read here as {len(parts_of(odd[0], mark))} candidates, but it may be one class with {quoted(mark)} in "
            "its name, for no other cell names the parts."
        )
        yield "few-separators", message, "If it is one class, choose another separator."


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
    labels = {name for role, name in roles.used() if role not in ("categories", "numbers", "caption")}
    for name in [str(one) for one in some.columns if one not in labels][:_MOST_COLUMNS]:
        by_model = is_from_model(key_of(name)) and not is_from_model(key_of(column))
        if OWN_COLUMN.match(name) or is_from_votes(key_of(name)) or by_model:
            continue
        if key_of(name) == f"{key_of(column)}_before":  # as earlier versions of Winnow exported them
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
    """Return what is compared between columns: the cells, or the labels in lists that programs wrote."""
    cells = set(column.head(_FEW_ROWS if form == "json" else _ROWS).str.strip().unique()) - {""}
    return {label for cell in cells for label in labels_of_cell(cell)} if form == "json" else cells


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


STOPPING_VOTES: tuple[Callable[[LabelTable], Iterator[Odd]], ...] = (
    _shared_words,
    _guessed_separator,
    _mixed_separators,
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
    _computed_truth,
    _voter_as_list,
    _verdicts_on_labels,
    _weightless,
)
