"""How long somebody else waits who answers, while a large file is imported on the same machine."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.import_rows import open_seat, write_table
from benchmarks.load import open_page, secrets
from tests.browser.server import Server

_OTHER_ROWS = 5_000
_WARM = 60
"""Presses before the import begins; the second half of them are those of a server at rest."""
_THINKING = 0.1
"""Seconds between an answer and the next."""


def answered(path: Path) -> dict[str, Any]:
    """ms of each press of somebody who answers at a server, in another project, while the file is read and checked on
    the same machine, as a server has it done."""
    from workflow import importing
    from workflow.common import limited

    home, seat = open_seat(path.parent / "other")
    write_table(small := path.parent / "other.csv", _OTHER_ROWS)
    upload, table = importing.read_as_named(small, {})
    project = importing.create(seat, "other", table, importing.settings_for(table, {}), "", upload)
    waits: list[float] = []
    warm, stop = threading.Event(), threading.Event()

    def answering(page: Any) -> None:
        while not stop.wait(_THINKING):
            label = page.question["question"]["rows"][0]["label"]
            begun = time.perf_counter()
            said = page.press("is", [label])
            waits.append(1e3 * (time.perf_counter() - begun))
            if not said.startswith("Saved"):
                raise RuntimeError(said)
            if len(waits) == _WARM:
                warm.set()

    limited.start()
    with ExitStack() as stack:
        server = Server(path.parent / "other" / "home", more={})
        stack.callback(server.stop)
        server.start()
        page = open_page(stack, server, secrets(home, [project], 1)[0], project)
        with ThreadPoolExecutor(1) as person:
            done = person.submit(answering, page)
            stack.callback(stop.set)
            if not warm.wait(60):
                raise RuntimeError("Nobody answers.")
            alone = waits[_WARM // 2 : _WARM]
            before = len(waits)
            upload = importing.read_upload(path)
            importing.check(upload, upload.suggest_roles())
            meanwhile = waits[before:]
            stop.set()
            done.result()
    home.close()
    return {"alone": alone, "meanwhile": meanwhile}


if __name__ == "__main__":
    print(json.dumps(answered(Path(sys.argv[1]))))
    sys.stdout.flush()
    os._exit(0)  # nothing is left to be ended in order
