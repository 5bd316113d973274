"""Three programs and an open page that answer at one server through an outage: what each was told, and what is stored.

A program that is refused, or cut off, sends the same answer again until it is acknowledged.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from typing import Any

from websockets.exceptions import InvalidStatus, WebSocketException

from db import entries
from plcore import LearnerSettings
from tests.live_page import LivePage
from tests.workflow.world import small_table, somebody
from workflow.people import members, team, tokens
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import open_home
from workflow.server.settings import Settings

PROGRAMS = 3
PAUSE, SILENCE = 0.05, 20.0
"""Seconds before the same is sent again, and for which a page waits for its server."""
TAKEN = "no longer open for you"
CUT = (OSError, HTTPException, WebSocketException)
"""Errors of a client whose server is gone."""


@dataclass(frozen=True)
class Reply:
    """status : 0 if the connection was cut      at : when it came      seconds : how long it took"""

    status: int
    words: str
    retry_after: str | None
    at: float
    seconds: float


@dataclass
class Crowd:
    """People who answer until `stop`.

    acknowledged : {token: label}      waits : seconds of each acknowledged answer, of page and programs
    refused : replies that were no answer or question      taken : questions that were given to another person meanwhile
    faults : what no one should see
    """

    environment: Mapping[str, str]
    project: int
    tokens: tuple[str, ...]
    cookie: str
    acknowledged: dict[str, str] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    refused: list[Reply] = field(default_factory=list)
    taken: int = 0
    faults: list[str] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, port: int) -> None:
        self._threads = [
            threading.Thread(target=self._guarded, args=(one, port), daemon=True)
            for one in (*(partial(self._program, token) for token in self.tokens), self._page)
        ]
        for one in self._threads:
            one.start()

    def stop(self, within: float = 60.0) -> None:
        """Returns once everyone has the reply to their last answer."""
        self.stopped.set()
        until = time.monotonic() + within
        for one in self._threads:
            one.join(max(0.0, until - time.monotonic()))
        if any(one.is_alive() for one in self._threads):
            self.faults.append(f"someone still waits after {within:.0f} s")

    def wait_for(self, answers: int, within: float = 60.0) -> None:
        """Returns once this many more answers have been acknowledged."""
        wanted, until = len(self.acknowledged) + answers, time.monotonic() + within
        while len(self.acknowledged) < wanted and not self.faults:
            assert time.monotonic() < until, f"{wanted - len(self.acknowledged)} answers were not acknowledged"
            time.sleep(0.02)

    def _guarded(self, act: Callable[[int], None], port: int) -> None:
        try:
            act(port)
        except Exception as error:
            self.faults.append(repr(error))

    def _program(self, token: str, port: int) -> None:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as line:
            while not self.stopped.is_set():
                question = self._until_done(line, headers, "question", {})["question"]
                label = question["choices"][0]["label"]
                begun = time.perf_counter()
                sent = {"token": question["token"], "shown": question["shown"], "kind": "is", "labels": [label]}
                if self._until_done(line, headers, "answers", sent) is not None:
                    self._note(question["token"], label, begun)

    def _until_done(self, line: HTTPConnection, headers: dict[str, str], name: str, body: object) -> Any:
        """The reply to a call that is sent until its status is 200; None if the question is no longer open."""
        while True:
            begun = time.perf_counter()
            try:
                line.request("POST", f"/api/v1/projects/{self.project}/{name}", json.dumps(body), headers)
                reply = line.getresponse()
                came = reply.read().decode()
                if reply.status == 200:
                    return json.loads(came)
                if reply.status == 409:
                    return self._see_taken(json.loads(came)["detail"])
                told = (reply.status, came, reply.headers["Retry-After"])
            except CUT as error:
                line.close()
                told = (0, repr(error), None)
            self._refuse(*told, begun)
            time.sleep(PAUSE)

    def _page(self, port: int) -> None:
        """At the page until it has no question: it asks for one itself where a press was stored, but what comes next
        could not be read. Here it is opened again."""
        while not self.stopped.is_set():
            begun = time.perf_counter()
            try:
                with LivePage(port, f"winnow_signin_{port}={self.cookie}", f"project={self.project}", SILENCE) as page:
                    while page.question is not None and not self.stopped.is_set():
                        self._press(page)
            except InvalidStatus as error:
                self._refuse(error.response.status_code, error.response.body.decode(), None, begun)
            except CUT as error:
                self._refuse(0, repr(error), None, begun)

    def _press(self, page: LivePage) -> None:
        assert page.question is not None
        token, label = page.question["token"], page.question["question"]["rows"][0]["label"]
        begun, again = time.perf_counter(), False
        while True:
            sent = time.perf_counter()
            try:
                said = page.press("is", [label], again=again)
                break
            except CUT as error:
                self._refuse(0, repr(error), None, sent)
            except RuntimeError as error:
                status, _, words = str(error).partition(": ")
                self._refuse(int(status), words, None, sent)
            again = True
            time.sleep(PAUSE)
        if said.startswith("Saved"):
            self._note(token, label, begun)
        else:
            self._see_taken(said)

    def _see_taken(self, words: str) -> None:
        """A lease is not on the disk before it is given: after a crash another person may have the question."""
        with self.lock:
            self.taken += 1
            if TAKEN not in words:
                self.faults.append(words)

    def _refuse(self, status: int, words: str, retry_after: str | None, begun: float) -> None:
        with self.lock:
            self.refused.append(Reply(status, words, retry_after, time.time(), time.perf_counter() - begun))

    def _note(self, token: str, label: str, begun: float) -> None:
        with self.lock:
            self.acknowledged[token] = label
            self.times.append(time.time())
            self.waits.append(time.perf_counter() - begun)

    def stored(self) -> tuple[int, int, int]:
        """How many acknowledged answers are missing, or stored as another; entries that were never acknowledged; rows
        and
        tokens with more than one entry."""
        home = open_home(Settings.from_environment(self.environment))
        try:
            with home.database.read() as session:
                log = entries.after(session, self.project, 0)
        finally:
            home.close()
        found = {one.token: one.labels for one in log}
        lost = sum(found.get(token) != (label,) for token, label in self.acknowledged.items())
        twice = [
            count
            for counts in (Counter(one.row for one in log), Counter(one.token for one in log))
            for count in counts.values()
        ]
        return lost, len(set(found) - set(self.acknowledged)), sum(one > 1 for one in twice)


def make_crowd(environment: Mapping[str, str], rows: int = 4_000, **settings: object) -> Crowd:
    """A new project with people who may answer in it."""
    home = open_home(Settings.from_environment(environment))
    try:
        owner = Seat(home, team.ensure_owner(home).id)
        chosen = LearnerSettings(n_neighbors=4, **settings)  # type: ignore[arg-type]
        project = managing.create_project(owner, "outage", small_table(rows), chosen)
        people = [
            (f"Program {number}", somebody(home, owner.person_id, f"Program {number}")) for number in range(PROGRAMS)
        ]
        for name, _ in people:
            members.share(owner, name, [project], "annotator")
        secrets = tuple(tokens.make_token(Seat(home, one), name) for name, one in people)
        cookie = team.redeem_link(home, team.make_link(owner, "At the page"))
        members.share(owner, "At the page", [project], "annotator")
    finally:
        home.close()
    return Crowd(environment, project, secrets, cookie)
