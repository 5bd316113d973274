"""A job runs once, no matter which of the person's pages asks; it continues without pages for a while; no one else can
see it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue

import pytest

from tests.clocks import Clock
from workflow.server.jobs import UNATTENDED, Job, JobEnded, KeptJobs

PATIENCE = 3600
"""Seconds after which a test that hangs has failed."""
ANN, BOB = 1, 2


class Work:
    """Steps of a job: at every word it checks whether to continue, until it gets the command to finish or to fail."""

    def __init__(self) -> None:
        self.words: SimpleQueue[int | float | str | Exception] = SimpleQueue()
        self.heard: SimpleQueue[str] = SimpleQueue()
        self.begun = 0

    def __call__(self, job: Job[str]) -> str:
        self.begun += 1
        self.heard.put("begun")
        try:
            while not isinstance(word := self.words.get(timeout=PATIENCE), str):
                if isinstance(word, Exception):
                    raise word
                (job.on_wait if isinstance(word, int) else job.on_step)(word)  # type: ignore[operator]
                self.heard.put(f"went on at {word}")
        except JobEnded:
            self.heard.put("ended")
            raise
        return word

    def at(self, word: float) -> str:
        """Its next step."""
        self.words.put(word)
        return self.hears()

    def hears(self) -> str:
        return self.heard.get(timeout=PATIENCE)


@pytest.fixture
def jobs(clock: Clock) -> Iterator[KeptJobs]:
    made = KeptJobs(clock)
    yield made
    made.close()


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work()
    yield made
    made.words.put("over")


def begun(jobs: KeptJobs, work: Work, person: int = ANN, asked: object = None) -> Job[str]:
    job = jobs.ask(person, "file", "read", asked, work)
    assert work.hears() == "begun"
    return job


def test_two_pages_share_one_job_and_its_progress(jobs: KeptJobs, work: Work) -> None:
    first = begun(jobs, work)
    assert not first.wait(0)
    assert (work.at(3), first.before) == ("went on at 3", 3)
    again = jobs.ask(ANN, "file", "read", None, work)
    assert again is first
    assert (work.at(0), work.at(0.5)) == ("went on at 0", "went on at 0.5")
    assert (again.before, again.share) == (0, 0.5)
    with pytest.raises(RuntimeError, match="not done"):
        again.result()
    work.words.put("done")
    assert again.wait(PATIENCE)
    assert jobs.ask(ANN, "file", "read", None, work).result() == "done", "whoever comes later has it, too"
    assert work.begun == 1


def test_returning_page_finds_its_job(jobs: KeptJobs, work: Work, clock: Clock) -> None:
    first = begun(jobs, work)
    for _ in range(3):
        clock.now += UNATTENDED - 1
        assert jobs.ask(ANN, "file", "read", None, work) is first
        assert work.at(0) == "went on at 0"
    assert work.begun == 1


def test_unattended_job_is_ended(jobs: KeptJobs, work: Work, clock: Clock) -> None:
    job = begun(jobs, work)
    clock.now += UNATTENDED - 1
    assert work.at(1) == "went on at 1"
    clock.now += 1
    assert work.at(1) == "ended"
    assert job.wait(PATIENCE)
    with pytest.raises(JobEnded, match=r"no page has used it for a while\. Fix: try again"):
        job.result()


def test_unattended_result_is_forgotten(jobs: KeptJobs, work: Work, clock: Clock) -> None:
    job = begun(jobs, work)
    work.words.put("done")
    assert job.wait(PATIENCE)
    clock.now += UNATTENDED
    jobs.sweep()
    assert not jobs._jobs


@pytest.mark.parametrize(
    "end",
    [
        lambda jobs: jobs.end(ANN, "file"),
        lambda jobs: jobs.ask(ANN, "file", "read", "in another way", lambda _: "else"),
    ],
    ids=["by its person", "by another way"],
)
def test_ended_job_stops_at_once(jobs: KeptJobs, work: Work, end: Callable[[KeptJobs], object]) -> None:
    job = begun(jobs, work)
    end(jobs)
    assert work.at(0.1) == "ended"
    assert job.wait(PATIENCE)
    with pytest.raises(JobEnded):
        job.result()


def test_ending_job_keeps_other_files_and_tasks(jobs: KeptJobs, work: Work) -> None:
    job, other = begun(jobs, work), Work()
    for file, what in (("other", "read"), ("file", "check")):
        found = jobs.ask(ANN, file, what, None, other)
        assert found is not job
        assert other.hears() == "begun"
    jobs.end(ANN, "other")
    assert work.at(0) == "went on at 0"
    for _ in range(2):
        other.words.put("over")


def test_jobs_are_private_to_their_person(jobs: KeptJobs, work: Work) -> None:
    mine, theirs = begun(jobs, work), Work()
    their_job = begun(jobs, theirs, BOB)
    assert their_job is not mine
    theirs.words.put("of Bob")
    assert their_job.wait(PATIENCE)
    jobs.end(BOB, "file")
    assert work.at(0) == "went on at 0"
    work.words.put("of Ann")
    assert mine.wait(PATIENCE)
    assert (mine.result(), their_job.result()) == ("of Ann", "of Bob")


def test_failed_job_raises_for_every_page_and_can_restart(jobs: KeptJobs, work: Work) -> None:
    job = begun(jobs, work)
    work.words.put(KeyError("lost"))
    assert job.wait(PATIENCE)
    for _ in range(2):
        with pytest.raises(KeyError, match="lost") as raised:
            job.result()
        names = [one.name for one in raised.traceback]
        assert names[-2:] == ["_run", "__call__"], "where it went wrong is to be found in the server's log"
        assert names.count("result") == 1, "and does not grow with every page"
    assert begun(jobs, work) is not job


def test_error_after_end_is_reported_as_ended(jobs: KeptJobs, work: Work) -> None:
    job = begun(jobs, work)
    jobs.end(ANN, "file")
    work.words.put(FileNotFoundError("the file was taken away under it"))
    assert job.wait(PATIENCE)
    with pytest.raises(JobEnded, match="it was removed"):
        job.result()


def test_closing_ends_all_jobs_and_refuses_new_ones(clock: Clock) -> None:
    jobs, work = KeptJobs(clock), Work()
    job = begun(jobs, work)
    closing = threading.Thread(target=jobs.close)
    closing.start()
    while work.at(0) != "ended":
        pass
    closing.join(PATIENCE)
    assert job.wait(0)
    late = jobs.ask(ANN, "file", "read", None, work)
    assert late.wait(PATIENCE)
    assert late.failed
    assert work.begun == 1
