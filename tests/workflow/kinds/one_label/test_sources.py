"""Projects whose rows have sources: progress, immediate answers, and export and import again."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from plcore import LabelTable, LearnerSettings
from tests.plcore.loop.fake_table import pictures
from tests.workflow.world import file_of, opened
from workflow.answering import loop
from workflow.importing import read_upload
from workflow.models import training
from workflow.projects import managing
from workflow.projects.progress import read_progress
from workflow.seat import Seat
from workflow.server.home import Home


@cache
def picture_table() -> LabelTable:
    table, _ = pictures()
    names = np.array(table.classes)
    cells = pd.DataFrame({f"x{place}": column.round(5).astype(str) for place, column in enumerate(table.X.T)})
    cells["candidates"] = ["|".join(names[one]) for one in table.candidates]
    cells["photo"] = [f"p{number}" for number in table.sources]
    return LabelTable.from_frame(cells.astype("str"))


def project_of(home: Home, owner: int, table: LabelTable, model: str = "kernelridge") -> int:
    settings = LearnerSettings(model=model, strategy="margin", train_every=99, train_seconds=3600.0)
    return managing.create_project(Seat(home, owner), f"pictures {model}", table, settings)


def shares(home: Home, owner: int, project: int) -> np.ndarray:
    with opened(home, owner, project):
        pass  # starts the work that is due
    home.shelf.settle(project)
    with opened(home, owner, project) as learner:
        return np.array(learner.label_distributions)


def test_answer_updates_rows_of_same_photo_at_once(home: Home, owner: int) -> None:
    project, sources = project_of(home, owner, picture_table()), picture_table().sources
    (due,) = training.due(home)
    assert training.Worker(home, "one").train(due) is not None
    before = shares(home, owner, project)
    seat = Seat(home, owner, project)
    question = loop.next_question(seat)
    assert question is not None
    with opened(home, owner, project) as learner:
        row = question.view.row
        own = before[row, [learner.classes.index(one) for one in question.choices]]
    loop.submit_answer(seat, question.token, "is", [question.choices[int(own.argmin())]])
    moved = np.abs(shares(home, owner, project) - before).sum(axis=1)
    others = np.setdiff1d(np.flatnonzero(sources == sources[row]), [row])
    assert moved[others].max() > 10 * np.median(moved[sources != sources[row]])


@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_export_round_trips_sources_and_candidates(home: Home, owner: int, form: str) -> None:
    table = picture_table()
    made = file_of(Seat(home, owner, project_of(home, owner, table)), form)
    upload = read_upload(made, f"again.{form}")
    again = LabelTable.from_cells(upload.cells, upload.suggest_roles())
    assert again.roles.source == table.roles.source == "photo"
    np.testing.assert_array_equal(again.sources, table.sources)
    np.testing.assert_array_equal(again.candidates, table.candidates)


def test_progress_says_whether_model_learns_from_sources(home: Home, owner: int) -> None:
    def said(table: LabelTable, model: str = "kernelridge") -> str:
        return read_progress(Seat(home, owner, project_of(home, owner, table, model))).sources

    table = picture_table()
    assert said(table).startswith("60 values of photo have several rows. These explain each other: each of their")
    assert said(table, "plknn").startswith("Kernel ridge and Forest learn that rows of one photo explain")
