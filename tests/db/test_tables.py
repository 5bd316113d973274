"""The tables, in two files."""

from __future__ import annotations

import subprocess
import sys

from db import models, people_models
from db.base import Base


def tables_of(module: object) -> set[str]:
    found = vars(module).values()
    return {
        one.__tablename__
        for one in found
        if isinstance(one, type) and issubclass(one, Base) and one is not Base
    }


def test_each_table_stands_in_one_file() -> None:
    mine, theirs = tables_of(models), tables_of(people_models)
    assert not mine & theirs
    assert mine | theirs == set(Base.metadata.tables)
    assert {"entries", "questions"} <= mine
    assert {"people", "members", "events"} <= theirs


def test_all_are_known_whichever_module_comes_first() -> None:
    code = "import db.requests; from db.base import Base; print(*sorted(Base.metadata.tables))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == sorted(Base.metadata.tables)
