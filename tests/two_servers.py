"""A team that answers at two servers on one PostgreSQL, one of which is killed midway: what each person was told, and
what is stored."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Protocol

from websockets.exceptions import WebSocketException

from db import entries
from plcore import LearnerSettings
from tests.live_page import LivePage
from tests.workflow.world import small_table
from workflow.people import members, team
from workflow.projects import managing
from workflow.seat import Seat
from workflow.server.home import Home, open_home
from workflow.server.settings import Settings

GONE = (OSError, WebSocketException, HTTPException)
"""Error of a page whose server is gone."""


class AnyServer(Protocol):
    @property
    def port(self) -> int: ...
    def kill(self) -> None: ...


@dataclass
class Team:
    """Everyone gives the same number of answers. Anyone who loses their server continues at the other with their
    sign-in.

    acknowledged : {token: label}, as reported saved on the screen      cut : answers cut off by the kill
    moved : people who lost their server      behind : next questions that missed an answer that was acknowledged, by
        either server, before they were requested
    faults : errors that no one should see
    """

    project: int
    secrets: Sequence[str]
    answers: int
    acknowledged: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    moved: int = 0
    behind: int = 0
    faults: list[str] = field(default_factory=list)
    highest: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, servers: Sequence[AnyServer], kill_at: int | None = None) -> None:
        """Half of the people begin at each server. kill_at : number of answers after which the first server is
        killed"""
        killing, killed = threading.Event(), threading.Event()
        people = [
            threading.Thread(target=self._person, args=(secret, servers, number % 2, kill_at, killing, killed))
            for number, secret in enumerate(self.secrets)
        ]
        for one in people:
            one.start()
        while kill_at is not None and any(one.is_alive() for one in people):
            if killing.wait(0.1):
                servers[0].kill()
            if killing.is_set() or self.faults:
                killed.set()
                break
        for one in people:
            one.join()

    def _person(
        self,
        secret: str,
        servers: Sequence[AnyServer],
        at: int,
        kill_at: int | None,
        killing: threading.Event,
        killed: threading.Event,
    ) -> None:
        left = self.answers
        while left > 0:
            port, sent = servers[at].port, False
            try:
                with LivePage(port, f"winnow_signin_{port}={secret}", f"project={self.project}") as page:
                    while left > 0 and page.question is not None:
                        token, label = page.question["token"], page.question["question"]["rows"][0]["label"]
                        if left == 1 and at == 0 and kill_at is not None:
                            killed.wait()  # no one has answered everything there before
                        with self.lock:
                            known = self.highest
                        sent = True
                        said = page.press("is", [label])
                        sent = False
                        left -= 1
                        self._note(token, label, said, page.question, known)
                        if kill_at is not None and len(self.acknowledged) >= kill_at:
                            killing.set()
                    if page.question is None and left > 0:
                        raise AssertionError("There was no question left.")
            except GONE as error:
                if kill_at is None or at == 1:
                    self.faults.append(repr(error))
                    return
                at = 1
                with self.lock:
                    self.cut += sent
                    self.moved += 1
            except Exception as error:
                self.faults.append(repr(error))
                return

    def _note(self, token: str, label: str, said: str, after: Mapping[str, object] | None, known: int) -> None:
        with self.lock:
            if not said.startswith("Saved"):
                self.faults.append(said)
                return
            self.acknowledged[token] = label
            if after is not None:
                height = int(str(after["height"]))
                self.behind += height <= known
                self.highest = max(self.highest, height)


@dataclass(frozen=True)
class Stored:
    """The log's content. entries : of the log      lost, other : acknowledged answers that are not in it, or with
    another label
    twice : rows with more than one entry
    """

    entries: int
    lost: int
    other: int
    twice: int


def stored(home: Home, team: Team) -> Stored:
    """The log's entries for the answers that the team saw as saved."""
    with home.database.read() as session:
        log = entries.after(session, team.project, 0)
    labels = {one.token: one.labels for one in log}
    return Stored(
        entries=len(log),
        lost=sum(token not in labels for token in team.acknowledged),
        other=sum(labels.get(token, (label,)) != (label,) for token, label in team.acknowledged.items()),
        twice=sum(count > 1 for count in Counter(one.row for one in log).values()),
    )


def make_team(environment: Mapping[str, str], people: int, answers: int) -> Team:
    """A new project with enough rows, and this many people who may answer in it."""
    home = open_home(Settings.from_environment(environment))
    try:
        owner = Seat(home, team.ensure_owner(home).id)
        table = small_table(2 * people * answers + 100)
        project = managing.create_project(owner, "two servers", table, LearnerSettings(n_neighbors=4))
        secrets = []
        for name in (f"Person {number}" for number in range(people)):
            secrets.append(team.redeem_link(home, team.make_link(owner, name)))
            members.share(owner, name, [project], "annotator")
    finally:
        home.close()
    return Team(project, secrets, answers)
