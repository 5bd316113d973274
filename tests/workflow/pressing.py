"""A server's side of duplicate answers: it reads which to store on standard input, and replies on standard output."""

from __future__ import annotations

import json
import sys

from workflow.answering import loop
from workflow.seat import Seat
from workflow.server.home import open_home
from workflow.server.settings import Settings


def press(seat: Seat, token: str, label: str) -> tuple[int, bool]:
    """Store one answer; returns (seq, whether it was stored before)."""
    saved = loop.submit_answer(seat, token, "is", [label])
    return saved.seq, saved.repeated


def main() -> None:
    person, project = map(int, sys.argv[1:])
    home = open_home(Settings.from_environment())
    seat = Seat(home, person, project)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(press(seat, *json.loads(line))) + "\n")
        sys.stdout.flush()
    home.close()


if __name__ == "__main__":
    main()
