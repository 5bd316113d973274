"""While a file is read: how many others come before it, and what is to be done where its turn does not come."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

import streamlit as st

from pages.parts.frame import escape
from pages.parts.words import counted, percent
from workflow.importing import LongLine, jobs
from workflow.importing.arrivals import Arrived
from workflow.seat import Seat

READING = "Reading the file …"
CHECKING = "Checking every cell …"
ASKED_EVERY = 1.0
"""Seconds."""

Result = TypeVar("Result")


def awaited(
    seat: Seat, file: Arrived, doing: str, asked: object, do: Callable[[jobs.Job[Result]], Result]
) -> Result:
    """What comes of this job with a file of the person's, which goes on where it was when this page has been away. The
    page ends here where its turn does not come, or where another page of the person's has the file.

    doing : in words, which name the job, too      asked, do : as of `workflow.importing.jobs.ask`
    """
    return await_job(doing, lambda: jobs.ask(seat, file, doing, asked, do))


def await_job(
    doing: str, begin: Callable[[], jobs.Job[Result]], working: str = "Looking at every file"
) -> Result:
    """What comes of the job that `begin` gives. The page ends here where its turn does not come, or where it was ended.

    doing : in words      working : what is said beside the share that is done
    """
    why: str | None = None
    with st.spinner(doing):
        place = st.empty()
        try:
            job = begin()
            while not job.wait(ASKED_EVERY):
                # What is written is where Streamlit ends the script of a page that was left.
                show(place, job.before, job.share, working)
            result = job.result()
        except (LongLine, jobs.JobEnded) as error:
            why = str(error)
        place.empty()
    if why is not None:
        _say_why_not(why)
    return result


def _say_why_not(why: str) -> NoReturn:
    st.warning(escape(why), icon=":material/hourglass_disabled:")
    st.button("Try again")
    st.stop()


def show(
    place: st.delta_generator.DeltaGenerator,
    before: int,
    share: float | None,
    working: str = "Looking at every file",
) -> None:
    """Say how many files come before, or how much of this one is done. working : what is being done"""
    if before:
        come = "comes" if before == 1 else "come"
        place.info(
            f"{counted(before, 'other file')} {come} before this one. It is read as soon as it is its turn. You may "
            f"load this page anew; if you leave it for {jobs.UNATTENDED / 60:.0f} minutes, the place is given away.",
            icon=":material/hourglass_top:",
        )
    elif share is not None:
        place.progress(share, text=f"{working} … {percent(share)}")
    else:
        place.empty()
