"""`python -m tests.access_matrix` writes docs/access.md: who may do what, from the tables that the tests hold.

The rights of each role come from `workflow/access.py`, the right of each use case from `tests/workflow/use_cases.py`,
of each address from `tests/web/addresses.py`, of each page from `pages/main.py`. `test_access_matrix.py` fails if the
page is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tests.conftest import ROOT
from tests.web import addresses
from tests.workflow import use_cases
from workflow.access import RIGHTS, Right, Role

PAPER = ROOT / "docs" / "access.md"
ROLES = (Role.OWNER, Role.REVIEWER, Role.ANNOTATOR, Role.VIEWER)
YES, NO, NOT_THERE = "yes", "no", "not there"

_BEGINNING = """# Rights

Made by `make access` from the code and from what the tests try; do not edit it by hand.

Every person who signs in is an *owner of this Winnow* or not. The person who started it is one. They own every project,
and only they create projects and sign-in links. Everyone else sees the projects that were shared with them, and has one
role in each.

*yes*: allowed. *no*: refused, with a message that names who may. *not there*: answered as if the project, or the file,
did not
exist, in the same words. People whose access has ended are refused everywhere.
"""


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _cells(right: Right) -> list[str]:
    """Replies to each role in a project, and to people who are not members."""
    return [*(YES if right in RIGHTS[role] else NO for role in ROLES), NOT_THERE]


def _rights() -> Iterator[str]:
    yield "## Roles in a project\n"
    text, _, _ = (ROOT / "workflow" / "access.py").read_text().partition("class Role")
    said = dict(re.findall(r'^    ([A-Z]+) = "[a-z]+"\n    """(.*?)"""', text, re.M | re.S))
    rows = ([f"**{right}**: {said[right.name]}", *_cells(right)] for right in Right)
    yield from _table(["right", *ROLES, "no member"], rows)


def pages() -> list[tuple[str, str, Right]]:
    """(file, title, right) of the pages that are about a project."""
    text = (ROOT / "pages" / "main.py").read_text()
    found = re.findall(r'at_project\("(\w+\.py)", "([^"]+)", "\w+", "\w+", Right\.(\w+)\)', text)
    return [(file, title, Right[right]) for file, title, right in found]


def _pages() -> Iterator[str]:
    yield "## Pages\n"
    yield (
        "Home is everyone's and lists what was shared with them; Import, People and Backups are for owners of this "
        "Winnow.\n"
    )
    yield from _table(["page", *ROLES, "no member"], ([title, *_cells(right)] for _, title, right in pages()))


def _use_cases() -> Iterator[str]:
    yield "## Use cases\n"
    yield "At a project. An owner of this Winnow is an owner of every project.\n"

    def line(name: str, cells: Iterable[str]) -> list[str]:
        return [f"`{name}`", *cells, use_cases.NOTES.get(name, "")]

    head = [*ROLES, "no member", "but"]
    for right, acts in use_cases.BY_RIGHT.items():
        yield f"### {right}\n"
        yield from _table(["use case", *head], (line(name, _cells(right)) for name in acts))
    yield "### At no project\n"
    rows = [line(name, [YES, YES]) for name in use_cases.AT_NO_PROJECT]
    rows += [line(name, [YES, NO]) for name in (*use_cases.OWN_SOMEWHERE, *use_cases.OWN_WINNOW)]
    yield from _table(["use case", "owner of this Winnow", "everybody else", "but"], rows)


def _addresses() -> Iterator[str]:
    yield "## Addresses\n"
    yield "People who are not signed in are sent to `/signin`, or get 401. *no* is 403, *not there* 404;"
    yield "of `/presses` 403 in the same words: the card treats a 404 as an address that a proxy blocks.\n"
    signed_in = [YES] * (len(ROLES) + 1)
    rows = [[f"`{path}`", YES, *signed_in] for path in (*addresses.OPEN, *addresses.OPEN_WITH_PROVIDER)]
    rows += [[f"`{path}`", NO, *signed_in] for path in addresses.SIGNED_IN]
    at_a_project = {**addresses.AT_A_PROJECT, **addresses.PRESSED}
    rows += [[f"`{path}`", NO, *_cells(right)] for path, right in at_a_project.items()]
    rows += [[f"`{path}`", NO, *_cells(right)[:-1], NO] for path, right in addresses.OF_ANY_PROJECT.items()]
    rows += [[f"`{path}`, for owners of this Winnow", *[NO] * (len(ROLES) + 2)] for path in addresses.OF_WINNOW]
    rows += [[f"`{path}`, for programs of the operator", *[NO] * (len(ROLES) + 2)] for path in addresses.OF_OPERATORS]
    yield from _table(["address", "not signed in", *ROLES, "no member"], rows)


def _calls() -> Iterator[str]:
    yield "## Calls of programs\n"
    yield "Below `/api/v1`, by the token of a person. Without a valid token, 401. *no* is 403, *not there* 404.\n"
    yield "A token may `read`, `answer` or `own`, each including those before it; anything else is 403. A token"
    yield "that is limited to some projects gets 403 for all others. It can make two of the calls without a project,"
    yield f"about its own projects: {' and '.join(f'`{one}`' for one in addresses.OF_NO_PROJECT)}.\n"
    rows = [
        [
            f"`{call}`",
            addresses.action_of(call),
            *([YES] * len(ROLES) + [NOT_THERE] if right is None else _cells(right)),
        ]
        for call, right in addresses.API.items()
    ]
    yield from _table(["call", "token", *ROLES, "no member"], rows)


def paper() -> str:
    """The full text of docs/access.md."""
    parts = (_rights(), _pages(), _use_cases(), _addresses(), _calls())
    return "\n".join([_BEGINNING, *(line for part in parts for line in part)]).rstrip() + "\n"


if __name__ == "__main__":
    PAPER.write_text(paper())
