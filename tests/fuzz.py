"""`make fuzz SECONDS=600` hunts for ten minutes, with files for every reader and bodies for the API, each a mutation of
one that is right; `python -m tests.fuzz 600 SEED` repeats a hunt.

A finding is a crash, more than 20 s or 500 MB, or an error in other words than Winnow's own. What was sent is kept in
`.cache/fuzz`, and is read first the next time: a file there is a finding until it is none any more.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import re
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from starlette.testclient import TestClient

from plcore.tables import TableError
from tests.conftest import ROOT
from tests.migrated import lay_database
from tests.mutations import mutate, mutate_value
from tests.web import addresses
from tests.web.api.conftest import API
from tests.web.api.test_narrowed import facts_of, sent
from tests.web.conftest import BASE, app_of
from tests.workflow.four import four_class_project
from workflow import importing
from workflow.files.limited import asking
from workflow.people import team, tokens
from workflow.seat import Seat
from workflow.server.home import close_home, home

KEPT = ROOT / ".cache" / "fuzz"
FOLDERS = [ROOT / "tests/plcore/tables" / name for name in ("cases", "readers/cases")] + [ROOT.parent / "shared/cases"]
LARGEST, SECONDS, MEGABYTES = 200_000, 20.0, 500.0
MOST = 1_000_000
"""Cases of a hunt."""
BODY = "body.json"
FOREIGN = re.compile(
    r"breaks the program|may take|Traceback|Errno|codec can't|has no attribute|not subscriptable|unhashable|dtype"
    r"|invalid literal|could not convert|NoneType|list index|out of bounds|<class '|object at 0x|ArrowInvalid"
)
"""Words of Python and of libraries, which say nothing to people; and of a limit that a small file has passed."""


class Costs(logging.Handler):
    """Maximum seconds and megabytes of the file-reading jobs in the log."""

    most = (0.0, 0.0)

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == asking.COST and isinstance(record.args, tuple):
            seconds, megabytes = (float(str(one)) for one in record.args[1:])
            self.most = max(self.most[0], seconds), max(self.most[1], megabytes)


def read(name: str, data: bytes) -> str:
    """Read a file as an import does; the words of a refusal, "" if there is none."""
    try:
        upload = importing.read_upload(data, name)
        found = importing.check(upload, upload.suggest_roles())
    except TableError as refusal:
        return str(refusal)
    if found.table is not None:
        str(importing.described(upload, found.table))
    return " ".join(map(str, found.problems))


def send(api: TestClient, data: bytes) -> str:
    """Send a body, [method, path, body], to the API; the words of a refusal, "" if there is none."""
    method, path, body = json.loads(data)
    reply = api.request(method, path, content=json.dumps(body).encode(), headers={"content-type": "application/json"})
    if reply.status_code >= 500:
        raise RuntimeError(f"{reply.status_code}: {reply.text}")
    return str(reply.json()["detail"]) if reply.status_code >= 400 else ""


def wrong_with(act: Callable[[], str], costs: Costs) -> str:
    """Describe the fault of a case, "" if there is none: it is read, or refused in words."""
    costs.most, begun, before = (0.0, 0.0), time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        said = act()
    except Exception as crash:
        return f"crash: {str(crash).strip()[-300:]}"
    seconds = max(costs.most[0], time.monotonic() - begun)
    megabytes = max(costs.most[1], (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024)
    if seconds > SECONDS or megabytes > MEGABYTES:
        return f"cost: {seconds:.0f} s, {megabytes:.0f} MB"
    foreign = FOREIGN.search(said)
    return f"words: {said[max(0, foreign.start() - 150) : foreign.end() + 150]}" if foreign else ""


@contextmanager
def served() -> Iterator[tuple[TestClient, list[tuple[str, str, object]]]]:
    """The API over a project of a home of its own, with a right body of each call that takes JSON."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WINNOW_HOME"] = folder
        close_home()
        lay_database(Path(folder))
        with TestClient(app_of(), base_url=f"{BASE}{API}", raise_server_exceptions=False) as api:
            owner = Seat(home(), team.ensure_owner(home()).id)
            seat = owner.at(four_class_project(owner.home, owner.person_id))
            api.headers["authorization"] = f"Bearer {tokens.make_token(seat, 'fuzz')}"
            facts, bodies = facts_of(seat), []
            for line in addresses.API:
                method, path = line.split()
                for name, value in {"project": seat.project_id, "row": facts.row, "person": 9}.items():
                    path = path.replace(f"{{{name}}}", str(value))
                body = sent(seat, line, api, facts).get("json")
                bodies += [(method, path, body)] * (body is not None)
            yield api, bodies
        close_home()


def hunt(seconds: float, seed: int) -> Counter[str]:
    """Try mutations for so long; how many of each sort were tried and found. Findings are kept, and printed."""
    dice, costs, tried = random.Random(seed), Costs(), Counter[str]()
    logging.getLogger("winnow").addHandler(costs)
    logging.getLogger("winnow").setLevel(logging.DEBUG)
    paths = [path for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.is_file()]
    right = [(path, path.read_bytes()) for path in paths if 0 < path.stat().st_size <= LARGEST]
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = [(path.name.partition("-")[2], path.read_bytes()) for path in sorted(KEPT.iterdir())]
    until = time.monotonic() + seconds
    with served() as (api, bodies):
        while time.monotonic() < until and tried["files"] + tried["bodies"] < MOST:
            if kept:
                name, data = kept.pop()
            elif dice.random() < 0.3:
                method, path, body = dice.choice(bodies)
                body = mutate_value(mutate_value(body, dice), dice)
                name, data = BODY, json.dumps([method, path, body]).encode()
            else:
                source, content = dice.choice(right)
                name, data = source.name, mutate(source, content, dice)
            wrong = wrong_with(partial(send, api, data) if name == BODY else partial(read, name, data), costs)
            tried["bodies" if name == BODY else "files"] += 1
            if wrong:
                tried[wrong.partition(":")[0]] += 1
                found = KEPT / f"{hashlib.sha256(data).hexdigest()[:8]}-{name}"
                found.write_bytes(data)
                sys.stdout.write(f"{found}: {wrong}\n")
                sys.stdout.flush()
    return tried


if __name__ == "__main__":
    limit, seed, *_ = *map(int, sys.argv[1:]), int(time.time())
    counts = hunt(limit, seed)
    sys.stdout.write(f"Seed {seed}: {dict(counts)}\n")
    sys.exit(bool(set(counts) - {"files", "bodies"}))
