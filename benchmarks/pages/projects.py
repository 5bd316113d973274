"""Home, by the number of projects."""

from __future__ import annotations

import os
import shutil
import time
from functools import cache, partial
from pathlib import Path

import numpy as np
from sqlalchemy import Engine, event

from benchmarks import homes
from benchmarks.harness import Table, benchmark, folder, in_process, in_turns, load_average, page, sized
from db import projects
from workflow.people import team
from workflow.projects import managing
from workflow.seat import Seat

PROJECTS = sized((10, 1_000), tiny=(2, 4))
ROWS, ANSWERS = 40, 6
RUNS, VISITS = sized((2, 3), tiny=(1, 1))
TARGET = 50  # ms


def make(place: Path, number: int) -> tuple[int, int, int]:
    """Make a home with this many projects, of both kinds in turn. In each second pair of projects the owner and an
    annotator of all projects have answered. Return their ids, and that of a stranger."""
    with homes.owner_of(place) as owner:
        X, truth = homes.mixture(ROWS, 4, 3, np.random.default_rng(0))
        cells = np.where(np.eye(3, dtype=bool)[truth], "1", "")
        tables = homes.table_of(X, [[one, (one + 1) % 3] for one in truth]), homes.vectors(X, cells, "abc")
        made = [managing.create_project(owner, f"project {k}", table) for k, table in enumerate(tables)]
        with owner.home.database.write() as session:
            columns = [vars(projects.get(session, one)).copy() for one in made]
            for one in columns:
                for name in ("id", "name", "archived_at", "deleted_at", "stop_rules"):
                    one.pop(name)
            for k in range(2, number):
                made.append(projects.add(session, name=f"project {k}", **columns[k % 2]))
        homes.sign_ins(owner, 1, made)
        people = {one.name: one.id for one in team.list_people(owner)}
        annotator = people["Person 0"]
        team.redeem_link(owner.home, team.make_link(owner, "Stranger"))
        lines = []
        for k, project in enumerate(made):
            for seq in range(1, ANSWERS * (k % 4 < 2) + 1):
                seat = Seat(owner.home, annotator if seq % 2 else owner.person_id, project)
                said = {"kind": "yes", "label": "a", "labels": []} if k % 2 else {"labels": ["class0"]}
                lines.append(homes.entry(seat, seq, ANSWERS, row=seq, token=str(seq), before=[], after=[], **said))
        homes.write_log(owner, lines)
        (stranger,) = {one.id for one in team.list_people(owner)} - set(people.values())
    return owner.person_id, annotator, stranger


def visits(place: str, owner: int, annotator: int, stranger: int) -> list[float]:
    """Return CPU ms of the owner's first visit in this process; then of a later visit, the least of some, and its
    number of SQL statements, of the owner and of the annotator. stranger : a person without projects"""
    from streamlit.components.v2 import manifest_scanner
    from streamlit.testing.v1 import AppTest

    from pages.parts import frame
    from workflow.server.home import home

    os.environ["WINNOW_HOME"] = place
    shutil.rmtree(home().cache_dir / "counts", ignore_errors=True)
    # A server does this once, when it starts.
    manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
    script = str(Path(str(frame.__file__)).parents[1] / "main.py")
    noted = [0]

    @event.listens_for(Engine, "before_cursor_execute")
    def note(*said: object) -> None:
        noted[-1] += not str(said[2]).startswith("BEGIN")

    def visit(who: int) -> float:
        frame.person_id = lambda: who  # the header of the guard, which AppTest does not send
        test, begun = AppTest.from_file(script, default_timeout=600), time.process_time()
        test.run()
        used = time.process_time() - begun
        assert not test.exception
        noted.append(0)
        return 1e3 * used

    visit(stranger)  # imports the pages
    found = [visit(owner)]
    for who in (owner, annotator):
        visit(who)
        found += [min(visit(who) for _ in range(VISITS)), noted[-2]]
    return found


def visits_in(place: str, people: tuple[int, int, int], tree: Path) -> list[float]:
    found: list[float] = in_process(visits, place, *people, tree=tree)
    return found


@benchmark("Home, by the number of projects")
def home_projects() -> str:
    later = "{}: later visit, CPU ms | {}: SQL statements"
    people = " | ".join(later.format(who, who) for who in ("owner", "annotator"))
    table = Table(f"projects | checkout | owner: first visit, CPU ms | {people}", ",.0f")
    for number in PROJECTS:
        with folder() as place:
            found = in_turns(RUNS, partial(visits_in, str(place), make(place, number)))
        for name, figures in found.items():
            table.add(number, name, *map(float, figures))
    return page(
        f"""CPU time of a visit of Home: Streamlit draws the page in the process of the benchmark and `AppTest` reads
it. The least of {RUNS} processes, and in each of them of {VISITS} later visits. *First visit*: in a new process, whose
modules are imported, which counts logs that it has not counted. Projects are of both kinds in turn, with
{ROWS} rows; each second one has {ANSWERS} answers. {load_average()} Target: a later visit with 1,000 projects in
{TARGET} ms.""",
        table,
    )
