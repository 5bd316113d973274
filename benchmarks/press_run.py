"""One run of `benchmarks.press`, in a process of its own: CPU ms of each press at a project made for it.

It uses only what the tree that is measured and the one that it is compared with both have.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sqlalchemy import insert

from db.models import EntryRow
from plcore import LabelTable, LearnerSettings, Roles
from workflow import answering, oracle, projects, room, standing
from workflow.home import Home, open_home
from workflow.people import goals, qualifying, team
from workflow.seat import Seat
from workflow.settings import Settings

try:
    from workflow.people import pressing
except ImportError:  # a tree from before there was one use case for a press
    pressing = None

DATA = Path(os.environ.get("WINNOW_DATA") or Path(__file__).parents[1] / ".." / "shared" / "data")
FIRST = 120  # presses that warm up, and fill the history
ROWS, FEATURES, CLASSES, LOG = 40_000, 16, 10, 20_000


def birdsong() -> tuple[LabelTable, LearnerSettings]:
    """4,998 rows, 38 features, 13 classes."""
    data = np.load(DATA / "birdsong.npz")
    names = np.array([f"bird{k:02d}" for k in range(data["S"].shape[1])])
    frame = pd.DataFrame(data["X"], columns=[f"f{k:02d}" for k in range(data["X"].shape[1])])
    numbers = tuple(frame.columns)
    frame.insert(0, "id", [f"clip{k:05d}" for k in range(len(frame))])
    frame.insert(1, "candidates", ["|".join(names[row.astype(bool)]) for row in data["S"]])
    frame.insert(2, "bird", names[data["y"]])
    roles = Roles(id="id", candidates="candidates", truth="bird", numbers=numbers)
    return LabelTable.from_frame(frame, roles), LearnerSettings(model="plknn")


def scene() -> tuple[LabelTable, Any]:
    """2,407 rows, 294 features, 6 labels, of which two thirds are not known in nine rows of ten."""
    data = np.load(DATA / "scene.npz")
    frame = pd.DataFrame(data["X"].round(4), columns=[f"f{k:03d}" for k in range(data["X"].shape[1])])
    numbers, labels = tuple(frame.columns), tuple(str(name) for name in data["label_names"])
    rng = np.random.default_rng(0)
    holes = (rng.random(data["Y"].shape) < 2 / 3) & (rng.random(len(frame)) < 0.9)[:, None]
    for k, name in enumerate(labels):
        frame[name] = np.where(holes[:, k], "", data["Y"][:, k].astype(str))
    table = LabelTable.from_frame(frame, Roles(label_columns=labels, label_vectors=True, numbers=numbers))
    return table, projects.default_settings(table)


def long_table(rows: int = ROWS) -> tuple[LabelTable, LearnerSettings]:
    """Rows whose features tell the classes apart to some degree, with three candidates each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(CLASSES, size=rows)
    X = rng.normal(size=(CLASSES, FEATURES))[truth] * 0.5 + rng.normal(size=(rows, FEATURES))
    sets = np.sort((truth[:, None] + [0, 3, 5]) % CLASSES, axis=1)
    frame = pd.DataFrame(X.round(4), columns=[f"f{k:02d}" for k in range(FEATURES)])
    numbers = tuple(frame.columns)
    frame.insert(0, "candidates", ["|".join(f"class{k}" for k in one) for one in sets])
    return LabelTable.from_frame(frame, Roles(candidates="candidates", numbers=numbers)), LearnerSettings(
        model="plknn"
    )


def fill_log(home: Home, project_id: int, person_id: int, length: int, table: LabelTable) -> None:
    """So many answers of one person, one every ten seconds until a minute ago, each to another row until all rows but
    the last 2,000 have one; then the same rows once more, as corrections."""
    first = datetime.now(UTC) - timedelta(seconds=60 + 10 * length)
    candidates, n = np.asarray(table.candidates), len(table.ids) - 2_000
    lines = []
    for number in range(length):
        row = number % n
        before = [table.classes[k] for k in np.flatnonzero(candidates[row])]
        lines.append(
            {
                "project_id": project_id, "seq": number + 1, "kind": "is", "row": row, "label": "",
                "labels": before[:1], "person_id": person_id, "token": f"{person_id}.{row}.{number // n}",
                "revision": number // n, "at": first + timedelta(seconds=10 * number), "target_seq": None,
                "strategy": "apl", "score": 0.5, "model_version": number, "before": before, "after": before[:1],
                "seconds": 4.5, "note": None, "predicted": before[0], "flagged": False, "asked": {"form": "which"},
            }
        )  # fmt: skip
    with home.database.write() as session:
        for begin in range(0, length, 10_000):
            session.execute(insert(EntryRow), lines[begin : begin + 10_000])


def project(home: Home, case: str, length: int = LOG) -> Seat:
    """The owner at a project of this case. length : of the log of a long one"""
    seat = Seat(home, team.ensure_owner(home).id)
    table, settings = {"vectors": scene, "long": long_table}.get(case, birdsong)()
    if case == "all":
        settings = replace(settings, strategy="cover", control_share=0.1)
    seat = seat.at(projects.create_project(seat, case, table, settings))
    if case == "all":
        oracle.answer_for_me(seat, 200)
        room.change_room(seat, replace(room.room_of(seat), forms="cheapest", shortlist=0.95))
    if case == "long":
        fill_log(home, seat.project_id or 0, seat.person_id, length, table)
    return seat


def answer_to(question: Any) -> tuple[str, list[str]]:
    """What is pressed: the model's first choice; of label vectors yes and no in turn."""
    if not hasattr(question, "choices"):
        return ("yes" if question.view.row % 2 else "no"), []
    return "is", [question.choices[int(np.argmax(question.probabilities))]]


def presses(seat: Seat, number: int) -> Iterator[tuple[float, float, float]]:
    """Of each press: CPU ms of answer, next question and standing; of what else the page asks; wall ms of the first."""
    question = answering.next_question(seat)
    for _ in range(number):
        kind, labels = answer_to(question)
        begun, wall = time.thread_time(), time.perf_counter()
        if pressing is not None:
            after = pressing.press(
                seat, question.token, kind, labels, shown=question.shown, zone="Europe/Berlin"
            ).after
            question = after.question
        else:
            answering.submit_answer(seat, question.token, kind, labels, shown=question.shown)
            question = answering.next_question(seat)
            standing.standing(seat)
        pressed, waited = time.thread_time(), time.perf_counter()
        if pressing is None:
            qualifying.now(seat)
            goals.day(seat, "Europe/Berlin")
        answering.get_ready(seat)
        yield 1e3 * (pressed - begun), 1e3 * (time.thread_time() - pressed), 1e3 * (waited - wall)


def main(case: str, number: int, url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = {"WINNOW_HOME": folder} | ({"WINNOW_DATABASE_URL": url} if url else {})
        home = open_home(Settings.from_environment(found))
        try:
            seat = project(home, case)
            measured = list(presses(seat, FIRST + number))[FIRST:]
        finally:
            home.close()
    print(json.dumps(np.median(measured, axis=0).tolist()))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
