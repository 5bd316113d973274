"""A table that is imported, exported and imported again is the same, except for what a format cannot express."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from plcore import LabelTable, Roles, TableError
from plcore.loop import Entry
from plcore.tables import find_doubts, joined, lacks_rows, read_table, shape_name, shaped
from plcore.tables.roles.cells import one_spelling
from plcore.tables.text.types import types_of
from tests.plcore.tables.writers.tables import CLASS_NAMES, TEXTS
from workflow import kinds

# The compared values


@dataclass(frozen=True)
class Facts:
    """Rows of a table, by the names of rows, classes, voters and columns.

    weights : of each row; {} for all if no row has candidates of different weights
    cells : of the descriptive columns, doubles as Python writes them
    types : of these columns in their source
    """

    ids: tuple[str, ...]
    classes: frozenset[str]
    candidates: tuple[frozenset[str], ...]
    weights: tuple[Mapping[str, float], ...]
    votes: frozenset[tuple[int, str, str]]
    truth: tuple[str | None, ...]
    vectors: tuple[Mapping[str, int], ...]
    cells: Mapping[str, tuple[str, ...]]
    types: Mapping[str, str]


DESCRIBING = ("text", "whole", "share", "ok", "day", "moment", "parts")


def facts_of(table: LabelTable) -> Facts:
    classes, n = table.classes, range(table.n_rows)
    candidates = np.asarray(table.candidates)
    votes, weights, vectors = table.votes, table.candidate_weights, table.label_vectors
    kinds_of = types_of(table.cells)
    plain = dict.fromkeys(DESCRIBING, str) | {"share": lambda cell: cell and str(float(cell))}
    return Facts(
        ids=tuple(table.ids),
        classes=frozenset(classes),
        candidates=tuple(frozenset(classes[k] for k in np.flatnonzero(candidates[row])) for row in n),
        weights=tuple(
            {} if weights is None else {classes[k]: float(weights[row, k]) for k in np.flatnonzero(weights[row])}
            for row in n
        ),
        votes=frozenset()
        if votes is None
        else frozenset(
            (int(row), votes.voters[who], classes[label])
            for row, who, label in zip(votes.rows, votes.who, votes.labels, strict=True)
        ),
        truth=tuple(None if table.truth is None or k < 0 else classes[k] for k in table.truth)
        if table.truth is not None
        else (None,) * table.n_rows,
        vectors=() if vectors is None else tuple(dict(zip(classes, map(int, vectors[row]), strict=True)) for row in n),
        cells={name: tuple(map(plain[name], table.cells[name])) for name in DESCRIBING},
        types={name: str(kinds_of[name]) for name in DESCRIBING if name in kinds_of},
    )


# Tables of every form


TYPES: Mapping[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "whole": (pa.int64(), st.none() | st.integers(-(2**63), 2**63 - 1)),
    "share": (pa.float64(), st.none() | st.floats(-1e6, 1e6)),
    "ok": (pa.bool_(), st.none() | st.booleans()),
    "day": (pa.date32(), st.none() | st.dates()),
    "moment": (pa.timestamp("us"), st.none() | st.datetimes()),
    "parts": (pa.list_(pa.int64()), st.lists(st.integers(0, 99), max_size=3)),
}
IDS = st.lists(
    st.sampled_from(["NA", "1.0", "001", "null", "é|b", "true"]) | st.text("abc1", min_size=1, max_size=4),
    min_size=4, max_size=4, unique=True,
)  # fmt: skip
PEOPLE = ("Ann", "Bo, the 2nd", "NA")
WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 3.0]) | st.floats(1e-7, 1e6)


@dataclass(frozen=True)
class Said:
    """An answer."""

    row: int
    person: str
    kind: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class Generated:
    """A table as imported, its file, and the answers to give; by two people per row if `several`."""

    table: LabelTable
    source: bytes
    answers: tuple[Said, ...] = ()
    several: bool = False


def a_set(draw: st.DrawFn, classes: tuple[str, ...]) -> list[str]:
    return draw(st.lists(st.sampled_from(classes), min_size=1, unique=True))


def listed_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    sets = [a_set(draw, classes) for _ in range(n - 1)] + [list(classes)]
    return {"candidates": sets}, Roles(candidates="candidates", form="json")


def weighted_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    sets = [a_set(draw, classes) for _ in range(n - 1)] + [list(classes)]
    cells = [json.dumps({name: draw(WEIGHTS) for name in one}) for one in sets]
    return {"candidates": cells}, Roles(candidates="candidates", form="json")


def voted_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    columns, roles = weighted_form(draw, classes, n)
    people = st.lists(st.sampled_from(PEOPLE), min_size=1, unique=True)
    said = [{name: draw(people) for name in json.loads(cell)} for cell in columns["candidates"]]
    return {**columns, "who": [json.dumps(one) for one in said]}, replace(roles, voters="who")


def annotators_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    votes = st.sampled_from([*classes, ""])
    columns = {f"by {name}": [draw(votes) for _ in range(n)] for name in "abc"}
    columns["by a"] = [classes[row % len(classes)] for row in range(n)]
    return columns, Roles(annotators=tuple(columns))


def bits_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    sets = [a_set(draw, classes) for _ in range(n - 1)] + [list(classes)]
    return {name: [int(name in one) for one in sets] for name in classes}, Roles(label_columns=classes)


def scores_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    names = tuple(f"p_{name}" for name in classes)
    scores = {name: [draw(WEIGHTS | st.just(0.0)) for _ in range(n - 1)] + [draw(WEIGHTS)] for name in names}
    scores[names[0]] = [draw(WEIGHTS) for _ in range(n)]
    return scores, Roles(score_columns=names, score_prefix="p_")


def choices_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    best = [classes[row % len(classes)] for row in range(n)]
    second = [draw(st.sampled_from(["", *classes])) for _ in range(n)]
    return {"first": best, "second": second}, Roles(choices=("first", "second"))


def vectors_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    cells = {name: [draw(st.sampled_from([1, 0, None])) for _ in range(n)] for name in classes}
    return cells, Roles(label_columns=classes, label_vectors=True)


def vector_lists_form(draw: st.DrawFn, classes: tuple[str, ...], n: int) -> tuple[dict[str, Any], Roles]:
    right = [draw(st.lists(st.sampled_from(classes), unique=True)) for _ in range(n - 1)] + [list(classes)]
    wrong = [[name for name in classes if name not in one and draw(st.booleans())] for one in right]
    roles = Roles(candidates="right", not_labels="wrong", form="json", label_vectors=True)
    return {"right": right, "wrong": wrong}, roles


FORMS = {
    "one_label": (listed_form, weighted_form, voted_form, annotators_form, bits_form, scores_form, choices_form),
    "label_vectors": (vectors_form, vector_lists_form),
}
"""By the kind's name: a kind without a form here fails."""


@st.composite
def generated(draw: st.DrawFn, kind: str) -> Generated:
    """A table of any form of this kind, with classes of any names and columns of any types, as imported."""
    n, taken = (4, {*DESCRIBING, "name", "true", "candidates", "who", "right", "wrong", "first", "second", "id"})
    classes = draw(CLASS_NAMES.filter(lambda names: not taken & {name.lower() for name in names}))[:n]
    labels, roles = draw(st.sampled_from(FORMS[kind]))(draw, classes, n)
    # In columns of single labels 1.0 is another spelling of 1: one class is not a table.
    assume(not (roles.annotators or roles.choices) or len(set(one_spelling(classes).values())) > 1)
    frame: dict[str, pa.Array] = {name: pa.array(column) for name, column in labels.items()}
    frame["text"] = pa.array([f"some words {row} {draw(TEXTS)}" for row in range(n)])
    frame |= {name: pa.array([draw(values) for _ in range(n)], of) for name, (of, values) in TYPES.items()}
    if (row_id := draw(st.sampled_from([None, "name", "id"]))) is not None:
        frame[row_id] = pa.array(draw(IDS))
    roles = replace(roles, id=row_id, text="text")
    file = io.BytesIO()
    pq.write_table(pa.table(frame), file)
    reading = read_table(file.getvalue(), "source.parquet")
    first = LabelTable.from_cells(reading.cells, roles)
    if kind == "label_vectors":
        places = np.argwhere(np.asarray(first.label_vectors) < 0).tolist()
        asked = draw(st.lists(st.sampled_from(places), unique_by=tuple, max_size=4)) if places else []
        several, yes_or_no = draw(st.booleans()), st.sampled_from(["yes", "no"])
        answers = tuple(
            Said(row, person, draw(yes_or_no), (first.classes[k],))
            for row, k in asked
            for person in (PEOPLE[: draw(st.integers(1, 2))] if several else (draw(st.sampled_from(PEOPLE)),))
        )
        return Generated(first, file.getvalue(), answers, several)
    known = [
        draw(st.sampled_from(["", *(first.classes[k] for k in np.flatnonzero(one))]))
        for one in np.asarray(first.candidates)
    ]
    if draw(st.booleans()):
        frame["true"] = pa.array(known)
        roles = replace(roles, truth="true")
    file = io.BytesIO()
    pq.write_table(pa.table(frame), file)
    table = LabelTable.from_cells(read_table(file.getvalue(), "source.parquet").cells, roles)
    several = draw(st.booleans())
    said = []
    asked = [row for row in range(n) if table.truth is None or table.truth[row] < 0]
    for row in draw(st.lists(st.sampled_from(asked), unique=True, max_size=2)) if asked else ():
        may = [table.classes[k] for k in np.flatnonzero(np.asarray(table.candidates)[row])]
        if several:
            people = PEOPLE[: draw(st.integers(1, 2))]
            said += [Said(row, person, "is", (draw(st.sampled_from(may)),)) for person in people]
        else:
            labels = tuple(draw(st.lists(st.sampled_from(may), min_size=1, unique=True)))
            said.append(Said(row, PEOPLE[1], "is" if len(labels) == 1 else "among", labels))
    return Generated(table, file.getvalue(), tuple(said), several)


# Exports, after the answers


def learner_of(made: Generated) -> Any:
    kind = kinds.of_table(made.table)
    settings = kinds.default_settings(made.table, 0.0)
    if made.several:
        settings = replace(settings, overlap=2, fold="majority")
    learner = kind.first_learner(made.table, settings)
    for seq, one in enumerate(made.answers, start=1):
        learner.apply(Entry(seq, one.kind, one.row, one.person, one.labels))
    return learner


def snapshot_of(made: Generated, learner: Any) -> Any:
    about = {"at": "2026-01-01T00:00:00+00:00", "seconds": 1.5, "model_version": None}
    said = [{**vars(one), "labels": list(one.labels), **about} for one in made.answers]
    return kinds.of_table(made.table).snapshot(SimpleNamespace(learner=learner)).finish(said)  # type: ignore[arg-type]


def left_of(made: Generated, learner: Any) -> Facts:
    """The facts after the answers. A row has the answered label, or the true label that the model learns; a row that
    waits for another answer, or is disputed, has all imported ones, and a label of a vector is unknown there."""
    found = facts_of(made.table)
    if found.vectors:
        vectors = [dict(one) for one in found.vectors]
        for (row, label), kinds_said in cells_said(made).items():
            if not made.several or (len(kinds_said) == 2 and len(set(kinds_said)) == 1):
                vectors[row][label] = int(kinds_said[0] == "yes")
        return replace(found, vectors=tuple(vectors), candidates=(), weights=())
    exact = learner.pool.exact
    known = {row: {str(label)} for row, label in enumerate(found.truth) if exact[row]}
    for row in {one.row for one in made.answers}:
        said = [set(one.labels) for one in made.answers if one.row == row]
        if not made.several or (len(said) == 2 and said[0] == said[1]):
            known[row] = said[0]
    return narrowed(found, known)


def cells_said(made: Generated) -> dict[tuple[int, str], list[str]]:
    """Return the answers about each label of a row, in order."""
    found: dict[tuple[int, str], list[str]] = {}
    for one in made.answers:
        found.setdefault((one.row, one.labels[0]), []).append(one.kind)
    return found


def narrowed(facts: Facts, known: Mapping[int, set[str]]) -> Facts:
    """The facts with only these candidates in some rows. A class that no row may have any more is not in the file."""
    candidates = tuple(frozenset(known.get(row, one)) for row, one in enumerate(facts.candidates))
    weights = [{k: w for k, w in one.items() if k in candidates[row]} for row, one in enumerate(facts.weights)]
    votes = frozenset(one for one in facts.votes if one[2] in candidates[one[0]])
    classes = frozenset().union(*candidates)
    return replace(facts, classes=classes, candidates=candidates, weights=even(weights), votes=votes)


def even(weights: list[dict[str, float]]) -> tuple[Mapping[str, float], ...]:
    """No weights, if no row has candidates of different weights: then they are not stored."""
    return tuple(weights) if any(len({*one.values()}) > 1 for one in weights) else ({},) * len(weights)


# Formats


Change = Callable[[Facts, Generated], Facts]


def no_types(facts: Facts, _made: Generated) -> Facts:
    return replace(facts, types={})


def no_votes(facts: Facts, _made: Generated) -> Facts:
    return replace(facts, votes=frozenset())


def said_votes(made: Generated) -> frozenset[tuple[int, str, str]]:
    return frozenset((one.row, one.person, label) for one in made.answers for label in one.labels)


def answers_voted(facts: Facts, made: Generated) -> Facts:
    return replace(facts, votes=facts.votes | said_votes(made))


def answers_counted(facts: Facts, made: Generated) -> Facts:
    """Each answer adds 1 to the weight of the labels that it names; a candidate without a weight has 1."""
    weights = [dict(one) or dict.fromkeys(left, 1.0) for one, left in zip(facts.weights, facts.candidates, strict=True)]
    for row, _, label in [(one.row, one.person, label) for one in made.answers for label in one.labels]:
        weights[row][label] = weights[row].get(label, 0.0) + 1.0
    found = tuple(left | said.keys() for left, said in zip(facts.candidates, weights, strict=True))
    return replace(facts, candidates=found, weights=even(weights), classes=frozenset().union(*found))


def scaled(facts: Facts, made: Generated) -> Facts:
    weights = made.table.candidate_weights
    scale = 1.0 if weights is None else max(1.0, float(weights.max()))
    return replace(facts, weights=tuple({k: w / scale for k, w in one.items()} for one in facts.weights))


def accepted_only(facts: Facts, made: Generated) -> Facts:
    """Rows with answers have the labels that these name, and 1 for each time."""
    weights = [dict(one) or dict.fromkeys(left, 1.0) for one, left in zip(facts.weights, facts.candidates, strict=True)]
    for row in {one.row for one in made.answers}:
        weights[row] = dict(Counter(label for one in made.answers if one.row == row for label in one.labels))
    found = tuple(frozenset(one) for one in weights)
    votes = frozenset(one for one in facts.votes if one[2] in found[one[0]])
    return replace(facts, candidates=found, weights=even(weights), votes=votes, classes=frozenset().union(*found))


def votes_alone(facts: Facts, made: Generated) -> Facts:
    """The labels that annotators named, and how often; for rows without any, every class that anyone named."""
    later = {(one.row, one.person) for one in made.answers}  # their latest answer counts
    before = facts_of(made.table).votes  # all notes, also for labels that answers ruled out
    votes = frozenset(one for one in before if one[:2] not in later) | said_votes(made)
    named: list[dict[str, float]] = [{} for _ in facts.ids]
    for row, _, label in votes:
        named[row][label] = named[row].get(label, 0.0) + 1.0
    classes = frozenset(label for _, _, label in votes)
    candidates = tuple(frozenset(one) or classes for one in named)
    weights = [one or dict.fromkeys(classes, 1.0) for one in named]
    nothing = (None,) * len(facts.ids)
    return replace(facts, classes=classes, candidates=candidates, weights=even(weights), votes=votes, truth=nothing)


def answers_alone(facts: Facts, made: Generated) -> Facts:
    """The labels that someone answered about, and not the others."""
    named = dict.fromkeys(label for one in made.answers for label in one.labels)
    vectors = [dict.fromkeys(named, -1) for _ in facts.ids]
    for (row, label), said in cells_said(made).items():
        if len(set(said)) == 1:  # disputed votes are read as not asked
            vectors[row][label] = int(said[0] == "yes")
    return replace(facts, classes=frozenset(named), vectors=tuple(vectors))


TEXT = "all its cells are text", no_types
PEOPLE_VOTE = "an answer is a vote there: its person is a voter", answers_voted
ADDED_UP = "votes weigh 1 each, on top of what spoke for a candidate", answers_counted
IN_UNIT = "scores lie in [0, 1]: weights are divided by the largest if that is above 1", scaled
DECLARED: Mapping[tuple[str, str], tuple[tuple[str, Change], ...]] = {
    ("one_label", "csv"): (TEXT,),
    ("one_label", "xlsx"): (("a sheet has numbers and text, and no columns of a type", no_types),),
    ("one_label", "jsonl"): (TEXT,),
    ("one_label", "npz"): (("arrays have no place for people", no_votes),),
    ("one_label", "labelstudio"): (TEXT, IN_UNIT, PEOPLE_VOTE, ADDED_UP),
    ("one_label", "argilla"): (TEXT, IN_UNIT, PEOPLE_VOTE, ADDED_UP),
    ("one_label", "doccano"): (TEXT,),
    ("one_label", "prodigy"): (TEXT, PEOPLE_VOTE, ("options that people accepted are the candidates", accepted_only)),
    ("one_label", "votes"): (("it holds votes and answers alone", votes_alone),),
    ("label_vectors", "csv"): (TEXT,),
    ("label_vectors", "xlsx"): (("a sheet has numbers and text, and no columns of a type", no_types),),
    ("label_vectors", "jsonl"): (TEXT,),
    ("label_vectors", "labelstudio"): (TEXT,),
    ("label_vectors", "argilla"): (TEXT,),
    ("label_vectors", "doccano"): (TEXT,),
    ("label_vectors", "prodigy"): (TEXT,),
    ("label_vectors", "votes"): (("it holds answers alone", answers_alone),),
}
"""Changes that a format makes, each with its reason. Everything else must be read back unchanged."""
ONE_WAY = {
    ("one_label", "probabilities"): "probabilities of a model are not candidates",
    ("one_label", "labelstudio-config"): "a labelling interface contains no rows",
    ("label_vectors", "probabilities"): "probabilities of a model are not labels",
    ("label_vectors", "labelstudio-config"): "a labelling interface contains no rows",
}
"""Formats that no one reads back, with the reason."""
FORMATS = [(kind.NAME, name) for kind in kinds.KINDS.values() for name in kind.FORMATS]
"""All formats of the registry: a new one is tested without a line here."""


def again(made: Generated, snapshot: Any, name: str) -> Facts:
    """The facts of the exported file when imported, together with the table's original file if it does not describe
    rows."""
    file, how = io.BytesIO(), kinds.of_table(made.table).FORMATS[name]
    how.write(snapshot, file, lambda _done: None)
    reading = read_table(file.getvalue(), f"out{how.suffix}")
    if lacks_rows(reading):
        reading = joined(reading, read_table(made.source, "source.parquet"))
    elif shape_name(reading) is not None:
        reading = shaped(reading)
    roles = replace(reading.suggest_roles(), text="text", numbers=(), categories=())
    table = LabelTable.from_cells(reading.cells, roles)
    if made.table.roles.candidates == "candidates":
        # The lists as imported are the table's own column, not votes of a second person.
        assert "voter-as-list" not in {doubt.name for doubt in find_doubts(table)}
    return facts_of(table)


@settings(max_examples=settings().max_examples * 2 // 5)
@pytest.mark.parametrize("kind", kinds.KINDS)
@pytest.mark.parametrize("all_formats", [False, pytest.param(True, marks=pytest.mark.proof)])
@given(st.data())
def test_every_format_preserves_undeclared_columns(kind: str, all_formats: bool, data: st.DataObject) -> None:
    """Write each table in two formats, or in all."""
    made = data.draw(generated(kind))
    learner = learner_of(made)
    left, snapshot = left_of(made, learner), snapshot_of(made, learner)
    names = [name for of, name in FORMATS if of == kind and (of, name) not in ONE_WAY]
    some = st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True)
    for name in names if all_formats else data.draw(some):
        # Numbers of a few rows may be in any column of the table that the votes are joined to.
        if name != "votes" or made.table.roles.id is not None:
            note(name)
            must_preserve(made, left, snapshot, name)


def must_preserve(made: Generated, left: Facts, snapshot: Any, name: str) -> None:
    wanted, kind = left, kinds.of_table(made.table).NAME
    for _, change in DECLARED.get((kind, name), ()):
        wanted = change(wanted, made)
    if len(wanted.classes) < 2:
        with pytest.raises(TableError):  # nothing is left to decide, or no one has said anything
            again(made, snapshot, name)
        return
    found = again(made, snapshot, name)
    if kind == "label_vectors":
        found = replace(found, candidates=(), weights=())
    assert vars(found) == vars(wanted)


@pytest.mark.parametrize("kind", kinds.KINDS)
@settings(max_examples=3)
@given(st.data())
def test_one_way_format_is_refused(kind: str, data: st.DataObject) -> None:
    made = data.draw(generated(kind))
    snapshot = snapshot_of(made, learner_of(made))
    for name in kinds.KINDS[kind].FORMATS:
        if (kind, name) in ONE_WAY:
            with pytest.raises(TableError):
                again(made, snapshot, name)


def test_declarations_name_existing_formats() -> None:
    assert {*DECLARED, *ONE_WAY} <= {*FORMATS}
