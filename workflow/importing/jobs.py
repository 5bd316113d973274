"""Jobs that read and check an uploaded file. They continue while the page is closed.

A job belongs to the person who sent the file, and no one else can ask for it (`workflow.server.jobs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from workflow.importing import arrivals
from workflow.server.jobs import UNATTENDED, Job, JobEnded

if TYPE_CHECKING:
    from workflow.importing.arrivals import Arrived
    from workflow.seat import Seat

__all__ = ["UNATTENDED", "Job", "JobEnded", "ask"]

Result = TypeVar("Result")

_GONE = "The file is no longer here. Fix: choose it again."


def ask(seat: Seat, file: Arrived, what: str, asked: object, do: Callable[[Job[Result]], Result]) -> Job[Result]:
    """Return the job that does this with a file of this person: the existing one, or a new one.

    what : name of the job, among all jobs on the file      asked : its options, as a key: a job with other options is
        ended
    do : the work; it reports its progress to the job

    Raises NotAllowed if the person may not send files; JobEnded if the file is not theirs, or gone.
    """
    if arrivals.find(seat, file.key) is None:
        raise JobEnded(_GONE)

    def do_with_file(job: Job[Result]) -> Result:
        try:
            return do(job)
        except OSError as error:  # perhaps replaced by another file that the person has sent since
            if seat.home.arrivals.find(seat.person_id, file.key) is None:
                raise JobEnded(_GONE) from error
            raise

    return seat.home.jobs.ask(seat.person_id, file.key, what, asked, do_with_file)
