"""A small world for every kind of project: how a project is created from it, answered, corrected and read again.

`test_kinds_contract.py` and its neighbours run every use case over all of them. A new kind needs a world here.
"""

from __future__ import annotations

import dataclasses
import io
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from plcore import LabelTable, LearnerSettings, Roles
from plcore.loop.label_vectors import LabelVectorSettings
from tests.workflow import vector_world, world
from workflow.answering import loop
from workflow.answering.asked import Given, Saved
from workflow.projects import managing
from workflow.seat import Seat


@dataclass(frozen=True)
class Correction:
    """Arguments of `reviewing.correct`."""

    kind: str
    labels: tuple[str, ...] = ()
    changes: Mapping[str, int] = dataclasses.field(default_factory=dict)


class KindWorld(ABC):
    """One question type in a project of one kind.

    ANSWERS : the kinds of answers to its questions, of `Turn.ANSWERS`
    CHANGE : a setting that may be changed, with a different value      WRONG : a setting with an invalid value
    """

    name: str
    kind: str
    ANSWERS: tuple[str, ...]
    CHANGE: ClassVar[Mapping[str, object]]
    WRONG: ClassVar[Mapping[str, object]]

    @abstractmethod
    def table(self) -> LabelTable: ...

    @abstractmethod
    def settings(self, **more: object) -> Any: ...

    def make(self, seat: Seat, name: str = "small", **more: object) -> int:
        return managing.create_project(seat, name, self.table(), self.settings(**more))

    @abstractmethod
    def labels(self, kind: str, question: Any) -> tuple[str, ...]:
        """Labels that fit the question in this kind of answer."""

    @abstractmethod
    def true(self, question: Any) -> Given:
        """The right answer."""

    @abstractmethod
    def against(self, question: Any) -> Given:
        """An answer that contradicts the model's prediction."""

    @abstractmethod
    def correction(self, opened: Any) -> Correction:
        """A correction that changes the result of an answered row opened for review."""

    @abstractmethod
    def state(self, learner: Any) -> np.ndarray:
        """The state of every row: candidates, or cells."""

    @abstractmethod
    def truth(self, learner: Any) -> np.ndarray:
        """The state if every row has been answered with the truth."""

    @abstractmethod
    def read_again(self, exported: pd.DataFrame, learner: Any) -> np.ndarray:
        """The state of the exported table when imported as a new one."""

    @abstractmethod
    def blind(self, learner: Any) -> Collection[int]:
        """Open rows that the queue leaves out because they are only asked as blind checks."""

    def answer(self, seat: Seat, question: Any = None, given: Given | None = None, **more: Any) -> Saved:
        """Answer this question, or the person's next one, with the truth or as given."""
        question = question or loop.next_question(seat)
        assert question is not None
        given = given or self.true(question)
        return loop.submit_answer(seat, question.token, given.kind, given.labels, shown=question.shown, **more)

    def say(self, seat: Seat, kind: str, question: Any = None, **more: Any) -> Saved:
        """Answer this question, or the person's next one, by this kind of answer."""
        question = question or loop.next_question(seat)
        assert question is not None
        return self.answer(seat, question, Given(kind, self.labels(kind, question)), **more)


class OneLabelWorld(KindWorld):
    """Rows with up to three candidates, whose true label is in the table."""

    name = "one_label"
    kind = "one_label"
    ANSWERS = ("is", "among", "not", "none", "unsure", "bad", "skip")
    CHANGE: ClassVar = {"strategy": "mp"}
    WRONG: ClassVar = {"n_neighbors": 0}

    def table(self) -> LabelTable:
        return world.small_table(40)

    def settings(self, **more: object) -> LearnerSettings:
        return LearnerSettings(**{"n_neighbors": 4, **more})  # type: ignore[arg-type]

    def labels(self, kind: str, question: Any) -> tuple[str, ...]:
        some = {"is": question.choices[:1], "not": question.choices[:1], "among": question.choices[:2]}
        return tuple(some.get(kind, ()))

    def true(self, question: Any) -> Given:
        return Given("is", (str(world.small_frame(40).truth[question.view.row]),))

    def against(self, question: Any) -> Given:
        return Given("is", tuple(one for one in question.choices if one != question.predicted)[:1])

    def correction(self, opened: Any) -> Correction:
        other = next(name for name in opened.imported if (name,) != opened.candidates)
        return Correction("is", (other,))

    def state(self, learner: Any) -> np.ndarray:
        return np.asarray(learner.candidates)

    def truth(self, learner: Any) -> np.ndarray:
        return world.small_frame(40).truth.to_numpy()[:, None] == np.array(learner.classes)

    def read_again(self, exported: pd.DataFrame, learner: Any) -> np.ndarray:
        again = LabelTable.from_cells(exported, Roles(candidates="winnow_candidates", id="id", numbers=("x", "y")))
        assert set(again.classes) <= set(learner.classes)
        state = np.zeros((again.n_rows, len(learner.classes)), dtype=bool)
        state[:, [learner.classes.index(name) for name in again.classes]] = again.candidates
        return state

    def blind(self, learner: Any) -> Collection[int]:
        pool = learner.pool
        return np.flatnonzero(pool.control_rows & (pool.sizes >= 2)).tolist()


class LabelVectorWorld(KindWorld):
    """Rows with five labels, most of them not asked, whose truth the tests know."""

    kind = "label_vectors"
    CHANGE: ClassVar = {"criterion": "random"}
    WRONG: ClassVar = {"max_iter": 0}

    def __init__(self, question: str) -> None:
        self._question = question
        by_row = question == "instance"
        self.name = f"label_vectors-{'rows' if by_row else 'labels'}"
        self.ANSWERS = (*(("labels",) if by_row else ("yes", "no")), "unsure", "bad", "skip")

    def table(self) -> LabelTable:
        return vector_world.vector_table()

    def settings(self, **more: object) -> LabelVectorSettings:
        # Fitted after every answer: once no fit is running, the model depends only on the log.
        return LabelVectorSettings(**{"question": self._question, "refresh_every": 1, **more})  # type: ignore[arg-type]

    def labels(self, kind: str, question: Any) -> tuple[str, ...]:
        return vector_world.LABELS[:2] if kind == "labels" else ()

    def true(self, question: Any) -> Given:
        right = vector_world.true_labels(question.view.row)
        if question.label is None:
            return Given("labels", tuple(sorted(right)))
        return Given("yes" if question.label in right else "no")

    def against(self, question: Any) -> Given:
        if question.label is not None:
            return Given("no" if question.predicted == "yes" else "yes")
        right = {one.label for one in question.lines if one.cell == 1}
        said = set(json.loads(question.predicted))
        unknown = {one.label for one in question.lines if one.cell < 0}
        return Given("labels", tuple(sorted(right | (unknown - said))))

    def correction(self, opened: Any) -> Correction:
        said = next(one for one in opened.labels if one.person)
        return Correction("labels", changes={said.label: 1 - said.cell})

    def state(self, learner: Any) -> np.ndarray:
        return np.asarray(learner.cells)

    def truth(self, learner: Any) -> np.ndarray:
        return vector_world.truth_frame()[list(learner.classes)].to_numpy()

    def read_again(self, exported: pd.DataFrame, learner: Any) -> np.ndarray:
        again = LabelTable.from_cells(exported, vector_world.ROLES)
        assert again.classes == learner.classes
        return np.asarray(again.label_vectors)

    def blind(self, learner: Any) -> Collection[int]:
        pool = learner.pool
        listed = (pool.open & ~pool.control_cells).any(axis=1)
        return np.flatnonzero((pool.open & pool.control_cells).any(axis=1) & ~listed).tolist()


class WideWorld(OneLabelWorld):
    """The same rows with `CandidateSets` in place of a matrix, as with many rows times many classes."""

    name = "one_label-wide"


WORLDS: tuple[KindWorld, ...] = (OneLabelWorld(), LabelVectorWorld("instance"), LabelVectorWorld("cell"))
EVERY_FORM: tuple[KindWorld, ...] = (*WORLDS, WideWorld())
IN_EVERY_FORM_ON_BOTH = pytest.mark.parametrize(
    ("world", "backend"),
    [
        *(pytest.param(one, "sqlite", id=one.name) for one in EVERY_FORM),
        pytest.param(WORLDS[0], "postgres", id=f"{WORLDS[0].name}-postgres", marks=pytest.mark.postgres),
    ],
    indirect=True,
)
"""Every form on SQLite, one on PostgreSQL: no statement depends on the form."""


def read_csv(content: bytes) -> pd.DataFrame:
    """A file as text cells."""
    return pd.read_csv(io.BytesIO(content), dtype="str", keep_default_na=False)


def check_same(one: Any, other: Any, where: str = "") -> None:
    """Assert that two views are equal, with arrays equal to the last bit, and NaN equal to NaN."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=where)
    elif sparse.issparse(one):
        np.testing.assert_array_equal(one.toarray(), other.toarray(), err_msg=where)
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            check_same(getattr(one, field.name), getattr(other, field.name), f"{where}.{field.name}")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            check_same(one[key], other[key], f"{where}[{key!r}]")
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), where
        for number, (first, second) in enumerate(zip(one, other, strict=True)):
            check_same(first, second, f"{where}[{number}]")
    else:
        assert one == other or (one != one and other != other), where
