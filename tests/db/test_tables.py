"""The tables, in one file."""

from __future__ import annotations

import subprocess
import sys

from db import models
from db.base import Base


def tables_of(module: object) -> set[str]:
    found = vars(module).values()
    return {
        one.__tablename__
        for one in found
        if isinstance(one, type) and issubclass(one, Base) and one is not Base
    }


def test_every_table_is_in_models() -> None:
    found = tables_of(models)
    assert found == set(Base.metadata.tables)
    assert {"entries", "questions", "people", "members", "events"} <= found


def test_all_are_known_whichever_module_comes_first() -> None:
    code = "import db.trained; from db.base import Base; print(*sorted(Base.metadata.tables))"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == sorted(Base.metadata.tables)
