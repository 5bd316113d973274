"""Read and check an uploaded file: it continues while their page is away.

It belongs to the person who sent the file, and no one else can ask after it (`workflow.server.jobs`).
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

_GONE = "The file is not here any more. Fix: choose it again."


def ask(
    seat: Seat, file: Arrived, what: str, asked: object, do: Callable[[Job[Result]], Result]
) -> Job[Result]:
    """The job that does this with a file of this person's: the one that is there already, or one that begins now.

    what : names it, of all that is done with the file      asked : in which way, as a key: one that does it in another
        way is ended
    do : does it, and tells the job the progress

    Raises NotAllowed for who may send no files; JobEnded where the file is none of theirs, or gone.
    """
    if arrivals.find(seat, file.key) is None:
        raise JobEnded(_GONE)

    def do_with_file(job: Job[Result]) -> Result:
        try:
            return do(job)
        except OSError as error:  # it gave way to another that its person has sent since, perhaps
            if seat.home.arrivals.find(seat.person_id, file.key) is None:
                raise JobEnded(_GONE) from error
            raise

    return seat.home.jobs.ask(seat.person_id, file.key, what, asked, do_with_file)
