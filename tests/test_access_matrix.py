"""docs/access.md matches the code."""

from __future__ import annotations

from tests import access_matrix
from tests.conftest import ROOT
from tests.test_architecture import modules
from workflow.access import RIGHTS, Right, Role


def test_access_page_is_up_to_date() -> None:
    assert access_matrix.PAPER.read_text() == access_matrix.paper(), "Fix: make access"


def test_every_project_page_is_in_access_matrix() -> None:
    named = {file for file, _, _ in access_matrix.pages()}
    assert set(modules("pages")) - named == {
        "main.py",
        "home.py",
        "import_table.py",
        "people.py",
        "account.py",
        "audit.py",
        "backups.py",
    }
    for file, _, right in access_matrix.pages():
        text = (ROOT / "pages" / file).read_text()
        asked = f", Right.{right.name})" if right is not Right.SEE else '")'
        assert any(asked in line for line in text.splitlines() if "frame.begin_project(" in line), file


def test_each_role_includes_rights_of_role_below() -> None:
    for above, below in zip(access_matrix.ROLES, access_matrix.ROLES[1:], strict=False):
        assert RIGHTS[above] > RIGHTS[below]
    assert RIGHTS[Role.OWNER] == set(Right)
    assert set(access_matrix.ROLES) == set(RIGHTS) == set(Role)


def test_access_page_explains_each_right() -> None:
    lines = access_matrix.paper().splitlines()
    see = "| **see**: The project is there: its rows, progress, map and guidelines. |"
    assert f"{see} yes | yes | yes | yes | not there |" in lines
    own = "| **own**: Settings, classes, models, more rows, export, and who may see it. |"
    assert f"{own} yes | no | no | no | not there |" in lines
    assert "| `reviewing.scores` | yes | yes | no | no | not there |  |" in lines
    assert "| `/exports/{project:int}/{key}` | no | yes | no | no | no | not there |" in lines
    assert "| Answer | yes | yes | yes | no | not there |" in lines
    assert "| `team.make_link` | yes | no |  |" in lines
