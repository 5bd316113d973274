"""Many people at one project at once, from many threads and processes: what each was shown, and the results.

Everyone has a first question before anyone answers, so that all take part however the machine schedules them.

As a program, it is a separate server process: `python -m tests.workflow.crowd PROJECT PERSON...` takes a first question
for each of these people, prints READY, waits for a line, answers until nothing is left, and prints what they were
shown, one line of JSON each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np

from db import entries
from db.projects import get
from plcore import ActiveLearner, LabelTable, LearnerSettings, Roles
from plcore.loop import EntryKind
from tests.conftest import ROOT
from tests.workflow.world import annotator, small_frame
from workflow.answering import loop
from workflow.log.reading import learner_entry
from workflow.log.verifying import verify_project
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

CLASSES = ("ant", "bee", "cat")
READY = "ready"


@dataclass(frozen=True)
class Press:
    """One annotator's questions, answers and their seconds."""

    person: int
    row: int
    choices: tuple[str, ...]
    probabilities: tuple[float, ...]
    predicted: str | None
    strategy: str
    score: float
    model_version: int
    seq: int  # of its entry
    kind: str
    seconds: float


def crowd_table(n: int) -> LabelTable:
    """n rows of three classes, each with two candidates or three."""
    frame, rng = small_frame(n), np.random.default_rng(n)
    names = np.array(CLASSES)
    others = [rng.permutation(names[names != truth])[: rng.integers(1, 3)] for truth in frame.truth]
    frame["candidates"] = ["|".join(sorted([truth, *some])) for truth, some in zip(frame.truth, others, strict=True)]
    roles = Roles(candidates="candidates", truth="truth", id="id", numbers=("x", "y"))
    return LabelTable.from_frame(frame, roles)


def crowd_project(home: Home, people: int, rows: int, **settings: object) -> tuple[int, list[int]]:
    """A project with several annotators, and their ids."""
    owner = team.ensure_owner(home).id
    chosen = {"overlap": 3, "fold": "majority", "test_share": 0.0, "n_neighbors": 4} | settings
    project = managing.create_project(
        Seat(home, owner),
        "crowd",
        crowd_table(rows),
        LearnerSettings(**chosen),  # type: ignore[arg-type]
    )
    return project, [annotator(home, owner, f"person {number}") for number in range(people)]


def work(seat: Seat) -> list[Press]:
    """Answer until nothing is left: mostly right, now and then with a skip, an "unsure", one label ruled out; some
    leave and return, look at a question twice, or press a key twice."""
    rng, presses = np.random.default_rng(seat.person_id), []
    finished: set[int] = set()
    narrowed: set[int] = set()  # rows for which they have ruled out one label and stick to it
    while True:
        begun = time.perf_counter()
        question = loop.next_question(seat)
        if question is None:
            return presses
        row = question.view.row
        assert row not in finished, f"person {seat.person_id} has row {row} again"
        habit = rng.random()
        if habit < 0.05 and presses and row not in narrowed:  # a first question is never let go of
            loop.leave(seat)
            continue
        if habit < 0.1:
            again = loop.next_question(seat)
            assert (again.token, again.choices) == (question.token, question.choices)
        kind = str(rng.choice(["is", "not", "skip", "unsure"], p=[0.85, 0.09, 0.03, 0.03]))
        if row in narrowed:
            kind = "is"
        label = question.choices[int(question.probabilities[0] < rng.random())]
        given = (label,) if kind in ("is", "not") else ()
        saved = loop.submit_answer(seat, question.token, kind, given)
        seconds = time.perf_counter() - begun
        if habit > 0.95:
            assert loop.submit_answer(seat, question.token, kind, given).repeated
        if kind in ("is", "unsure") or (kind == "not" and len(question.choices) == 2):
            finished.add(row)
        elif kind == "not":
            narrowed.add(row)
        presses.append(
            Press(
                seat.person_id,
                row,
                question.choices,
                question.probabilities,
                question.predicted,
                question.strategy,
                question.score,
                question.model_version,
                saved.seq,
                kind,
                seconds,
            )
        )


def take_a_question_each(home: Home, project: int, people: Sequence[int]) -> None:
    for person in people:
        assert loop.next_question(Seat(home, person, project)) is not None


def work_together(home: Home, project: int, people: Sequence[int]) -> list[Press]:
    """Let all of them answer at once, one thread each."""
    take_a_question_each(home, project, people)
    return _work_in_threads([Seat(home, person, project) for person in people])


def work_in_homes(home: Home, project: int, people: Sequence[int]) -> list[Press]:
    """The same, every second of them in a home opened again, which shares only the database and the files, as a second
    server does."""
    other = open_home(home.settings)
    try:
        take_a_question_each(home, project, people[::2])
        take_a_question_each(other, project, people[1::2])
        homes = [(home, other)[number % 2] for number in range(len(people))]
        return _work_in_threads([Seat(one, person, project) for one, person in zip(homes, people, strict=True)])
    finally:
        other.close()


def _work_in_threads(seats: Sequence[Seat]) -> list[Press]:
    with ThreadPoolExecutor(len(seats)) as pool:
        return [press for presses in pool.map(work, seats) for press in presses]


def work_in_processes(home: Home, project: int, people: Sequence[int], processes: int = 2) -> list[Press]:
    """The same with several server processes, which share this home and its database."""
    environment = {
        "WINNOW_HOME": str(home.settings.home),
        "WINNOW_DATABASE_URL": home.settings.database_url,
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "tests.workflow.crowd", str(project)]
    servers = [
        subprocess.Popen(
            [*command, *map(str, people[number::processes])],
            cwd=ROOT,
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for server in servers:
        assert server.stdout is not None
        assert server.stdout.readline() == READY + "\n"
    with ThreadPoolExecutor(processes) as pool:
        printed = [found for found, _ in pool.map(lambda server: server.communicate("\n"), servers)]
    assert [server.returncode for server in servers] == [0] * processes
    return [_read(line) for text in printed for line in text.splitlines()]


def check_answers(home: Home, project: int, presses: Sequence[Press], people: Sequence[int]) -> None:
    """Check that every row has answers by exactly the required number of people, and that the log is complete and
    valid.

    People who were told that nothing is left while others were still at the last rows are asked once more, as at their
    next visit.
    """
    late: list[Press] = []
    while more := [press for person in people for press in work(Seat(home, person, project))]:
        late += more
    assert len(late) <= len(presses) // 10, "what is left for the end is what people skipped or could not tell"
    everything = [*presses, *late]
    with home.database.read() as session:
        log = entries.after(session, project, 0)
        settings = LearnerSettings.from_json(get(session, project).settings)
    assert len(log) == len(everything)
    by_row: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in log:
        if one.kind in (EntryKind.IS, EntryKind.NOT):
            assert one.row is not None
            by_row[one.row][one.person_id].append(one.kind)
    for row, said in by_row.items():
        assert len(said) == settings.overlap, f"row {row} has answers of {len(said)} people"
        assert all(kinds.count("is") <= 1 for kinds in said.values()), f"someone said twice what row {row} is"
    with Seat(home, team.ensure_owner(home).id, project).learner() as opened:
        learner = opened.learner
        assert len(by_row) == len(learner.original)
        assert learner.pool.n_open == 0
        replayed = ActiveLearner(learner.table, settings)
        for one in log:
            replayed.apply(learner_entry(one))
        np.testing.assert_array_equal(replayed.candidates, learner.candidates)
        np.testing.assert_array_equal(replayed.label_distributions, learner.label_distributions)
    assert verify_project(Seat(home, team.ensure_owner(home).id, project))[0].entries == len(log)


def check_nobody_was_told(home: Home, project: int, presses: Sequence[Press], every: int) -> None:
    """Check that people who came to a row after others were shown the same as without those: the model at that time,
    without the others' answers about this row. Compares one in every `every` of these, and at least five."""
    with home.database.read() as session:
        log = [learner_entry(one) for one in entries.after(session, project, 0)]
        settings = LearnerSettings.from_json(get(session, project).settings)
    with Seat(home, team.ensure_owner(home).id, project).learner() as opened:
        table = opened.learner.table
    after = [press for press in presses if press.strategy == "overlap"]
    assert len(after) >= 5
    for press in after[:: min(every, len(after) // 5)]:
        own = [one for one in log if one.row == press.row and one.annotator == str(press.person)]
        known = [one for one in log if one.row != press.row and one.seq <= press.model_version]
        known = sorted([*known, *(one for one in own if one.seq < press.seq)], key=lambda one: one.seq)
        alone = ActiveLearner(table, settings)
        for one in known:
            alone.apply(one)
        question = alone.question_for(press.row, annotator=str(press.person))
        assert question.strategy != "overlap"
        assert (press.choices, press.predicted, press.score) == (question.choices, question.predicted, 0.0)
        assert press.probabilities == question.probabilities


def _read(line: str) -> Press:
    values = json.loads(line)
    return Press(**values | {name: tuple(values[name]) for name in ("choices", "probabilities")})


def main() -> None:
    project, *people = map(int, sys.argv[1:])
    home = open_home(Settings.from_environment())
    take_a_question_each(home, project, people)
    sys.stdout.write(READY + "\n")
    sys.stdout.flush()
    sys.stdin.readline()
    for press in _work_in_threads([Seat(home, person, project) for person in people]):
        sys.stdout.write(json.dumps(asdict(press)) + "\n")
    home.close()


if __name__ == "__main__":
    main()
