"""The command `winnow`; `python -m winnow_labels` is the same.

In the wheel the app's own packages (cli.py, app.py, pages, web, workflow, db) are inside this package, so
that no top-level `db` or `pages` is installed next to other people's packages; in the checkout they are its
neighbours. Only this command puts their folder on the path, as `python app.py` and `python worker.py` do with
their own.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    """Find the app's packages and hand over to `cli.run`, which ends the process."""
    package = Path(__file__).resolve().parent
    rooms = package if (package / "cli.py").exists() else package.parent
    sys.path.insert(0, str(rooms))  # first, so that another package's `db` is not imported instead
    from cli import run

    run()


if __name__ == "__main__":
    main()
