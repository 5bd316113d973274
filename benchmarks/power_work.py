"""The work beside the people in `benchmarks.power_cuts`, as a process of its own: `python -m benchmarks.power_work`.

It makes the home, the people and the first project, and prints what the others need; then, for every line that it is
told, one project more with another table, one with files, and a backup. What a caller would be told it notes.
"""

from __future__ import annotations

import json
import os
import sys

from benchmarks.power_disk import say
from plcore import LabelTable, LearnerSettings
from tests.workflow.media.test_finding import ZIP
from tests.workflow.world import ROLES, small_frame
from workflow import answering, importing, projects
from workflow.common.whole_file import make_folder
from workflow.home import open_home
from workflow.outgoing.backups import making
from workflow.people import members, team
from workflow.seat import Seat
from workflow.settings import Settings

ROWS = 2_000


def main(journal: str, n_people: int) -> None:
    home = open_home(Settings.from_environment())
    owner = Seat(home, team.ensure_owner(home).id)

    def make(name: str, table: LabelTable, settings: LearnerSettings) -> Seat:
        made = owner.at(projects.create_project(owner, name, table, settings))
        say(journal, "project", str(made.project_id))
        return made

    def answer(seat: Seat) -> None:
        question = answering.next_question(seat)
        label = question.choices[0]
        answering.submit_answer(seat, question.token, "is", [label])
        say(journal, "answer", str(seat.project_id), question.token, label)

    settings = LearnerSettings(model="plsvc", strategy="margin", train_every=5)
    first = make("people", LabelTable.from_frame(small_frame(ROWS), ROLES), settings)
    secrets = []
    for number in range(n_people):
        secrets.append(team.redeem_link(home, team.make_link(owner, f"Person {number}")))
        members.share(owner, f"Person {number}", [first.project_id or 0], "annotator")
    print(json.dumps([first.project_id, secrets]), flush=True)
    for number, _ in enumerate(sys.stdin):
        seat = make(
            f"more {number}",
            LabelTable.from_frame(small_frame(60, number), ROLES),
            LearnerSettings(n_neighbors=4),
        )
        answer(seat)
        found = importing.read_upload(ZIP)
        table = importing.check(found, found.suggest_roles()).table
        assert table is not None
        make(f"files {number}", table, projects.default_settings(table))
        make_folder(home.backups_dir)
        path = (
            home.backups_dir / f"beside-{number}.zip"
        )  # the server makes some of its own, named by the second
        making.make(home, path)
        say(journal, "backup", path.name)
        answer(seat)
        print("done", flush=True)
    home.close()


if __name__ == "__main__":
    main(os.environ["POWER_JOURNAL"], int(sys.argv[1]))
