"""Pictures and recordings of users are decoded in a limited process, too, when someone looks at one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plcore import TableError
from plcore.tables import MediaError
from workflow.files.limited.asking import ask
from workflow.files.limited.bounds import Bounds

LEAST_MB = 500
"""Memory for any file, as at import: fifty million pixels, the most of an image, are 200 MB, and a copy the same."""

_NOTHING_LEFT = Path(os.devnull)
"""The folder of jobs that leave nothing in any."""


def look(job: str, given: Mapping[str, object], size: int, folder: Path = _NOTHING_LEFT, mb: int = 0) -> Any:
    """Result of a job of `workflow.files.limited.jobs` for a file. Callers limit how many run at once.

    size : bytes of the file, by which its limits go      mb : memory beyond that, for what is made of it
    Raises MediaError where it cannot be decoded, or not within its limits; OSError where it cannot be read.
    """
    try:
        return ask(job, given, folder, Bounds.of_file(size, LEAST_MB + mb)).result
    except TableError as error:
        fix = "It can be damaged, or unpack to a huge one. Save it again with its original program."
        raise MediaError(error.problems[0].message, fix) from error
