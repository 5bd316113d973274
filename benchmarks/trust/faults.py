"""Every n-th write of Winnow fails: messages, exit statuses, nothing half done, and the next start works.

For each fault, a process that has loaded everything is forked and works on a copy of the same folder; `faults.c` fails
one write there. Another fork then opens the folder without faults, checks all of it, and repeats the operation.
"""

from __future__ import annotations

import ctypes
import errno
import io
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import Table, benchmark, command_of, folder, mode, only, page, sized
from tests.migrated import a_step_more

SOURCE = Path(__file__).with_suffix(".c")
MOST = sized(5, tiny=1, full=100_000)
"""Maximum faults of an operation and an error, spread over its writes if it has more."""
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO}
REFUSED = 2
ROWS = "id,candidates,x,y\n" + "".join(f"r{k},{'ant|bee' if k % 2 else 'bee|cat'},{k % 7},{k % 5}\n" for k in range(40))


class State(NamedTuple):
    """Contents of a home. faults : detected problems"""

    projects: int
    entries: int
    versions: int
    later: int
    faults: list[str]


@dataclass(frozen=True)
class Operation:
    """do : returns the exit status; raises if there was no message for the error      grows : the count in
    `State`, if it succeeds      begins : the home that it begins with, "" or "filled" """

    do: Callable[[Path], int]
    grows: str = ""
    begins: str = "filled"


def command(*words: str) -> int:
    """Return the exit status of `winnow`."""
    import cli

    sys.argv = ["winnow", *words]
    try:
        cli.run()
    except SystemExit as ended:
        return int(ended.code or 0)


def start(_home: Path) -> int:
    """Run a server's start until it is ready."""
    import cli
    from web.lifespan import reporting_start_errors
    from winnow_labels.options import home as opened
    from workflow.demos.digits import ensure_demo
    from workflow.people import team

    try:
        with opened() as here, reporting_start_errors(here):
            team.ensure_owner(here)
            ensure_demo(here)
            team.make_start_link(here)
    except (cli.click.ClickException, *cli._refusals()):
        return REFUSED
    return 0


def press(home: Path) -> int:
    """Answer the next question; it is refused with a message or stored."""
    import cli
    from benchmarks.homes import owner_of
    from workflow.answering import loop
    from workflow.saving import STORE_FAULTS

    try:
        with owner_of(home) as seat:
            at = seat.at(1)
            question = loop.next_question(at)
            assert question is not None
            loop.submit_answer(at, question.token, "is", [question.choices[0]])
    except (*cli._refusals(), *STORE_FAULTS):
        return REFUSED
    return 0


def train(home: Path) -> int:
    """Train models that are due, as a worker does."""
    import cli
    from benchmarks.homes import owner_of
    from workflow.models.training import Worker, due
    from workflow.saving import STORE_FAULTS

    try:
        with owner_of(home) as seat:
            worker = Worker(seat.home, "faults")
            done = [worker.train(one) for one in due(seat.home)]
    except (*cli._refusals(), *STORE_FAULTS):
        return REFUSED
    return 0 if done and all(done) else REFUSED


def migrate(home: Path) -> int:
    """Open the home with a Winnow that has newer tables."""
    with a_step_more(home.parent / f"later-{os.getpid()}"):
        return command("projects")


OPERATIONS = {
    "start": Operation(start, "projects", begins=""),
    "press": Operation(press, "entries"),
    "import": Operation(lambda home: command("import", str(home.parent / "rows.csv"), "--name", "rows"), "projects"),
    "training": Operation(train, "versions"),
    "backup": Operation(lambda home: command("backup", str(home / "copy.zip"))),
    "restore": Operation(lambda home: command("restore", str(home.parent / "whole.zip"), "--replace")),
    "migration": Operation(migrate, "later"),
}


def look(home: Path, later: bool = False) -> State:
    """Open the home, with the newer tables if they are there, and check all of it."""
    if later:
        with a_step_more(home.parent / f"later-{os.getpid()}"):
            return look(home)
    from sqlalchemy import text

    from benchmarks.homes import owner_of
    from workflow.log.verifying import verify_project
    from workflow.projects import managing

    faults = []
    with owner_of(home) as seat:
        found = managing.list_projects(seat)
        for one in found:
            try:
                verify_project(seat.at(one.id))
            except Exception as error:
                faults.append(f"project {one.id}: {error}")
        with seat.home.database.read() as session:
            if session.execute(text("PRAGMA integrity_check")).scalar() != "ok":
                faults.append("SQLite finds damage")
            entries, versions = (
                int(session.execute(text(f"SELECT count(*) FROM {name}")).scalar_one())  # noqa: S608 - names of ours
                for name in ("entries", "models")
            )
            columns = session.execute(text("SELECT name FROM pragma_table_info('projects')")).scalars()
            later = int("later" in set(columns))
    for copy in home.glob("*.zip"):
        from workflow.backups.archive import check_archive

        try:
            check_archive(copy)
        except Exception as error:
            faults.append(f"{copy.name}: {error}")
    return State(len(found), entries, versions, later, faults)


def forked(call: Callable[..., Any], *arguments: object) -> Any:
    """Return the result of a call in a fork of this process; raises what it raised."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as child:
        return child.submit(call, *arguments).result()


def once(name: str, home: Path, n: int, error: int) -> dict[str, Any]:
    """Run it with a fault: return exit status, messages, and the number of writes."""
    library = ctypes.CDLL(None)
    os.environ["FAULTS_ROOT"] = str(home)
    os.environ["WINNOW_HOME"] = str(home)
    said = io.StringIO()
    with redirect_stderr(said), redirect_stdout(said):
        library.faults_arm(ctypes.c_long(n), ctypes.c_int(error))
        try:
            status = OPERATIONS[name].do(home)
        finally:
            library.faults_arm.restype = None
            count = library.faults_count()
            library.faults_arm(ctypes.c_long(0), ctypes.c_int(0))
    return {"status": status, "said": said.getvalue()[-2_000:], "writes": count}


def prepared(place: Path) -> dict[str, Path]:
    """Create the homes that operations begin with, and their input files."""
    from benchmarks.homes import owner_of
    from plcore import LabelTable, LearnerSettings, Roles
    from plcore.tables import read_cells
    from workflow.answering import loop
    from workflow.backups import making
    from workflow.projects import managing

    (place / "rows.csv").write_text(ROWS)
    filled, none = place / "filled", place / "none"
    none.mkdir()
    table = LabelTable.from_cells(
        read_cells(ROWS.encode()), Roles(id="id", candidates="candidates", numbers=("x", "y"))
    )
    with owner_of(filled) as seat:
        settings = LearnerSettings(model="plsvc", train_every=1, train_seconds=0.0)
        at = seat.at(managing.create_project(seat, "small", table, settings))
        for _ in range(6):
            question = loop.next_question(at)
            assert question is not None
            loop.submit_answer(at, question.token, "is", [question.choices[0]])
        making.make(seat.home, place / "whole.zip")
    return {"filled": filled, "": none}


def one_fault(name: str, base: Path, before: State, n: int, error: int) -> tuple[str, str]:
    """Return how it ended, and the problems found; "" if none."""
    grows = OPERATIONS[name].grows
    with copied(base) as home:
        try:
            found = forked(once, name, home, n, error)
        except Exception as raised:
            return "refused", f"write {n}: {raised!r}"
        try:
            state = forked(look, home)
        except Exception as raised:
            if name != "migration":
                return "refused", f"write {n}, the next start: {raised!r}"
            state = forked(look, home, True)  # it succeeded
        status, wrong = found["status"], [*state.faults]
        grown = getattr(state, grows) - getattr(before, grows) if grows else status == 0
        if status not in (0, REFUSED) or "Traceback" in found["said"]:
            wrong.append(f"exit {status}: {found['said'][-200:]}")
        if status == 0 and grown != 1:
            wrong.append(f"acknowledged, and {grows} grew by {grown}")
        if status == REFUSED and not grown:
            again = forked(once, name, home, -1, 0)
            if again["status"] != 0:
                wrong.append(f"done again without a fault it fails: {str(again)[-300:]}")
        how = "done" if status == 0 else "stored though refused" if grown else "refused"
        return how, "; ".join(f"write {n}: {one}" for one in wrong)


@contextmanager
def copied(base: Path) -> Iterator[Path]:
    home = base.parent / "home"
    shutil.copytree(base, home)
    try:
        yield home
    finally:
        shutil.rmtree(home)
        for left in base.parent.glob("later-*"):
            shutil.rmtree(left)


def work(place: str) -> None:
    """Try all faults, in a process with the library loaded; print a line of JSON for each operation."""
    import cli  # noqa: F401 - everything that forks would load themselves
    from web import lifespan  # noqa: F401

    homes = forked(prepared, Path(place))
    for name in only(OPERATIONS):
        print(json.dumps({"name": name, **all_faults(name, homes[OPERATIONS[name].begins])}), flush=True)


def all_faults(name: str, base: Path) -> dict[str, object]:
    """Fail each write of an operation, or MOST of them, with each error."""
    before = forked(look, base) if OPERATIONS[name].begins else State(0, 0, 0, 0, [])
    with copied(base) as home:
        whole = forked(once, name, home, -1, 0)
    if whole["status"] != 0:
        return {"writes": 0, "ended": {}, "wrong": [f"fails without a fault: {whole}"]}
    n, wrong = whole["writes"], []
    ended: Counter[str] = Counter()
    for what, error in ERRORS.items():
        for k in sorted({1 + place * n // MOST for place in range(MOST)} if n > MOST else range(1, n + 1)):
            how, why = one_fault(name, base, before, k, error)
            ended[how] += 1
            if why:
                wrong.append(f"{what} at {why}")
                print(wrong[-1], file=sys.stderr, flush=True)
    return {"writes": n, "ended": ended, "wrong": wrong}


@benchmark("Writes that fail", full=True)
def faults() -> str:
    if shutil.which("cc") is None or sys.platform != "linux":
        raise SystemExit("faults needs Linux and cc.")
    table = Table(
        "operation | writes | faults | refused with a message | done | stored though refused | anything wrong"
    )
    with folder() as place:
        library = place / "faults.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"], check=True)
        with subprocess.Popen(
            command_of(work, str(place)),
            env={**os.environ, "LD_PRELOAD": str(library), "FAULTS_ROOT": "/nowhere"},
            stdout=subprocess.PIPE,
            text=True,
        ) as running:
            assert running.stdout is not None
            for line in running.stdout:
                if (found := json.loads(line.strip() or "null")) is None:
                    continue
                ended = Counter(found["ended"])
                counts = [ended[how] for how in ("refused", "done", "stored though refused")]
                table.add(found["name"], found["writes"], sum(counts), *counts, "; ".join(found["wrong"]) or "none")
        if running.returncode:
            raise SystemExit(running.returncode)
    which = "all writes of each operation" if mode() == "full" else f"{MOST} writes of each operation, evenly spread,"
    return page(
        f"""A library that is loaded before all others (`benchmarks/trust/faults.c`) counts the operations that change
        files below WINNOW_HOME: writing, syncing, renaming, cutting, opening for writing. It does not see copies by
        the kernel or writes
through a mapping. With each error {which} fail in turn: ENOSPC for all later writes, as on a full disk; EIO only once.
Then the folder is opened without faults, SQLite checks itself, every log is replayed on its table, backups are read,
and refused actions are repeated.""",
        """*Refused*: with a message and exit status 2, and nothing was stored. *Done*: acknowledged, and there.
        *Stored though
refused*: the fault came after the commit. *Wrong*: a traceback, another exit status, partial data, or a failed next
start.""",
        table,
    )
