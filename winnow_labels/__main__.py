"""The command `winnow`; `python -m winnow_labels` is the same.

In the wheel the app's own rooms (cli.py, app.py, pages, web, workflow, db) lie inside this package, so that no `db` or
`pages` comes to be next to other people's packages; in the checkout they are its neighbours. Only this command puts
their folder on the path, as `python app.py` and `python worker.py` do with their own.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Find the rooms and hand over to `cli.run`, which ends the process."""
    package = Path(__file__).resolve().parent
    rooms = package if (package / "cli.py").exists() else package.parent
    sys.path.insert(0, str(rooms))  # first: another package's `db` must not be taken for ours
    from cli import run

    run()


if __name__ == "__main__":
    main()
