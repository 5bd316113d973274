"""The team, project members, groups and their reach."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from starlette.applications import Starlette
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from db import people as stored_people
from db import questions
from tests.databases import on_sqlite
from tests.present import present
from tests.workflow.world import annotator, answer_next, small_project, somebody
from workflow.access import RIGHTS, NotAllowed, NotFound, Right, Role
from workflow.answering import loop
from workflow.people import browsers, members, team
from workflow.people.members import GroupError, MemberError
from workflow.people.team import allows, explain_local_host, is_this_machine
from workflow.projects import managing
from workflow.rows import reviewing
from workflow.rows.finding import Search
from workflow.seat import Seat
from workflow.server.home import Home
from workflow.server.settings import Settings

# team


def wait(monkeypatch: pytest.MonkeyPatch, time: timedelta) -> None:
    """Let this much time pass for workflow.people."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) + time

    for module in (team, browsers):
        monkeypatch.setattr(module, "datetime", Later)


def sign_in_as_annotator(home: Home, name: str = "bob") -> tuple[int, str]:
    owner = team.ensure_owner(home)
    sign_in = team.redeem_link(home, team.make_link(Seat(home, owner.id), name))
    person = present(browsers.person_of(home, sign_in))
    return person.id, sign_in


def test_ensure_owner_creates_only_one(home: Home) -> None:
    owner = team.ensure_owner(home)
    assert owner.is_owner
    assert team.ensure_owner(home) == owner
    assert team.list_people(Seat(home, owner.id)) == [owner]


def test_start_link_signs_owner_in(home: Home) -> None:
    sign_in = team.redeem_link(home, team.make_start_link(home))
    assert browsers.person_of(home, sign_in) == team.ensure_owner(home)


def test_concurrent_redeemers_get_one_sign_in(home: Home) -> None:
    secret = team.make_start_link(home)
    together = threading.Barrier(8)

    def redeem(_n: int) -> bool:
        together.wait()
        try:
            team.redeem_link(home, secret)
        except team.LinkError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(redeem, range(8))) == 1


@pytest.mark.parametrize(("by_owner", "life"), [(False, team.START_LINK_LIFE), (True, team.INVITATION_LIFE)])
def test_links_expire(home: Home, monkeypatch: pytest.MonkeyPatch, by_owner: bool, life: timedelta) -> None:
    owner = team.ensure_owner(home)

    def link() -> str:
        return team.make_link(Seat(home, owner.id), "bob") if by_owner else team.make_start_link(home)

    secret = link()
    wait(monkeypatch, life + timedelta(seconds=1))
    with pytest.raises(team.LinkError, match="expired"):
        team.redeem_link(home, secret)
    monkeypatch.undo()
    secret = link()
    wait(monkeypatch, life - timedelta(seconds=5))
    team.redeem_link(home, secret)


def test_using_one_link_expires_the_others(home: Home) -> None:
    owner = team.ensure_owner(home)
    for make in (lambda: team.make_start_link(home), lambda: team.make_link(Seat(home, owner.id), "bob")):
        first, second, third = make(), make(), make()
        team.redeem_link(home, second)
        for other in (first, third):
            with pytest.raises(team.LinkError, match="expired"):
                team.redeem_link(home, other)


def test_new_link_is_made_for_existing_person(home: Home) -> None:
    owner = Seat(home, team.ensure_owner(home).id)
    bob, _ = sign_in_as_annotator(home)
    again = present(browsers.person_of(home, team.redeem_link(home, team.make_link_for(owner, bob))))
    assert again.id == bob
    with pytest.raises(NotFound, match="no person 99"):
        team.make_link_for(owner, 99)
    with pytest.raises(team.PersonNameError, match="is an owner"):
        team.make_link_for(owner, owner.person_id)


def test_open_links_are_limited_and_ended_together(home: Home) -> None:
    owner = Seat(home, team.ensure_owner(home).id)
    bob, _ = sign_in_as_annotator(home)
    made = [team.make_link_for(owner, bob) for _ in range(team.MOST_OPEN)]
    with pytest.raises(team.LinkError, match="20 links of bob are open"):
        team.make_link(owner, "Bob")
    team.end_links(owner, bob)
    for secret in made:
        with pytest.raises(team.LinkError, match="expired"):
            team.read_link_name(home, secret)
    assert team.read_link_name(home, team.make_link_for(owner, bob)) == "bob"


def test_person_of_refused_link_is_known(home: Home) -> None:
    owner = team.ensure_owner(home)
    secret = team.make_link(Seat(home, owner.id), "bob")
    team.redeem_link(home, secret)
    assert team.person_of_link(home, secret) == owner.id + 1
    assert team.person_of_link(home, "nonsense") is None


def test_second_link_for_name_is_for_same_person(home: Home) -> None:
    bob, _ = sign_in_as_annotator(home, "bob")
    again, _ = sign_in_as_annotator(home, "  bob ")
    assert bob == again


def test_sign_ins_expire_and_end(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bob, first = sign_in_as_annotator(home)
    _, second = sign_in_as_annotator(home)
    browsers.sign_out(home, first)
    assert browsers.person_of(home, first) is None
    found = present(browsers.person_of(home, second))
    assert found.id == bob
    wait(monkeypatch, browsers.SIGN_IN_LIFE + timedelta(seconds=1))
    assert browsers.person_of(home, second) is None


def test_disabling_ends_access_until_new_link(home: Home) -> None:
    owner = team.ensure_owner(home)
    bob, sign_in = sign_in_as_annotator(home)
    link = team.make_link(Seat(home, owner.id), "bob")
    team.disable_person(Seat(home, owner.id), bob)
    assert browsers.person_of(home, sign_in) is None
    with pytest.raises(team.LinkError):
        team.redeem_link(home, link)
    with pytest.raises(NotAllowed, match="ended"):
        team.get_person(Seat(home, bob))
    assert [one.disabled_at is None for one in team.list_people(Seat(home, owner.id))] == [True, False]
    assert sign_in_as_annotator(home)[0] == bob
    assert browsers.person_of(home, sign_in) is None  # the old browser stays signed out


def test_own_access_cannot_be_ended(home: Home) -> None:
    owner = team.ensure_owner(home)
    with pytest.raises(NotAllowed, match="your own"):
        team.disable_person(Seat(home, owner.id), owner.id)


def test_invalid_person_names_are_refused(home: Home, subtests: pytest.Subtests) -> None:
    owner = team.ensure_owner(home)
    for name in ["", "   ", "x" * 81, "a\u202eb", "a\x00b"]:
        with subtests.test(repr(name)):
            with pytest.raises(team.PersonNameError, match="1 to 80"):
                team.make_link(Seat(home, owner.id), name)
            assert len(team.list_people(Seat(home, owner.id))) == 1


@on_sqlite
def test_data_folder_contains_no_secret(home: Home) -> None:
    link = team.make_start_link(home)
    sign_in = team.redeem_link(home, link)
    kept = b"".join(path.read_bytes() for path in home.settings.home.rglob("*") if path.is_file())
    for secret in (link, sign_in):
        assert len(secret) >= 43  # 32 bytes
        assert secret.encode() not in kept
        assert hashlib.sha256(secret.encode()).hexdigest().encode() in kept


# Rights to see a project: listed, added, changed, removed, and their remains


@pytest.fixture
def members_seat(home: Home, owner: int, project: int) -> Seat:
    return Seat(home, owner, project)


def names(seat: Seat) -> dict[str, str]:
    return {one.name: one.role for one in members.list_members(seat).members}


def test_new_project_is_private_to_its_owner(members_seat: Seat) -> None:
    ada = somebody(members_seat.home, members_seat.person_id, "Ada")
    view = members.list_members(members_seat)
    (only,) = view.members
    assert (only.person_id, only.role, only.everywhere, only.ended) == (members_seat.person_id, "owner", True, False)
    assert view.others == ((ada, "Ada"),)
    assert view.groups == ()
    assert managing.list_projects(Seat(members_seat.home, ada)) == []


def test_people_are_added_changed_and_removed(members_seat: Seat) -> None:
    home = members_seat.home
    ada, bob = (somebody(home, members_seat.person_id, name) for name in ("Ada", "Bob"))
    members.give_role(members_seat, [ada, bob], "annotator")
    assert names(members_seat) == {"owner": "owner", "Ada": "annotator", "Bob": "annotator"}
    assert members.list_members(members_seat).others == ()
    members.give_role(members_seat, [ada], "reviewer")
    members.remove_member(members_seat, bob)
    members.remove_member(members_seat, bob)
    assert names(members_seat) == {"owner": "owner", "Ada": "reviewer"}
    assert [one.role for one in managing.list_projects(Seat(home, ada))] == [Role.REVIEWER]
    assert managing.list_projects(Seat(home, bob)) == []
    team.disable_person(Seat(home, members_seat.person_id), ada)
    assert [one.ended for one in members.list_members(members_seat).members] == [False, True]
    assert members.list_members(members_seat).others == ((bob, "Bob"),)


def test_invalid_membership_is_refused(members_seat: Seat) -> None:
    ada = somebody(members_seat.home, members_seat.person_id, "Ada")
    with pytest.raises(MemberError, match=r"one of owner, reviewer, annotator, viewer\. Got 'king'"):
        members.give_role(members_seat, [ada], "king")
    with pytest.raises(MemberError, match="no person with that number"):
        members.give_role(members_seat, [ada, 99], "viewer")
    for act in (
        lambda: members.give_role(members_seat, [ada, members_seat.person_id], "viewer"),
        lambda: members.remove_member(members_seat, members_seat.person_id),
    ):
        with pytest.raises(MemberError, match="owner owns this Winnow, and so every project"):
            act()
    assert names(members_seat) == {"owner": "owner"}


def test_project_owner_has_rights_on_own_project_only(members_seat: Seat) -> None:
    home = members_seat.home
    other = small_project(home, members_seat.person_id, "other")
    ada, bob = (somebody(home, members_seat.person_id, name) for name in ("Ada", "Bob"))
    members.give_role(members_seat, [ada], "owner")
    hers = Seat(home, ada, members_seat.project_id)
    members.give_role(hers, [bob], "viewer")
    assert names(hers) == {"owner": "owner", "Ada": "owner", "Bob": "viewer"}
    assert members.rights_of(hers) == frozenset(Right)
    assert members.may_upload(Seat(home, ada))
    assert not members.may_upload(Seat(home, bob))
    with pytest.raises(NotFound):
        members.list_members(hers.at(other))
    for act in (
        lambda: managing.create_project(Seat(home, ada), "mine", None),  # type: ignore[arg-type]
        lambda: members.share(Seat(home, ada), "Bob", [members_seat.project_id or 0], "owner"),
        lambda: team.make_link(Seat(home, ada), "Cleo"),
    ):
        with pytest.raises(NotAllowed, match="Only the owner may do this; Ada is an annotator"):
            act()
    managing.archive_project(hers)
    assert [one.name for one in managing.put_away(Seat(home, ada)).archived] == ["small"]
    assert managing.put_away(Seat(home, bob)).archived == ()
    managing.restore_project(hers)


def test_name_in_foreign_project_reveals_nothing(members_seat: Seat) -> None:
    small_project(members_seat.home, members_seat.person_id, "secret")
    ada = Seat(members_seat.home, somebody(members_seat.home, members_seat.person_id, "Ada"), members_seat.project_id)
    members.give_role(members_seat, [ada.person_id], "owner")
    managing.rename_project(ada, "secret", "")
    assert managing.get_project(ada).name == "secret"
    managing.rename_project(members_seat, "secret", "Another description, the same name.")


def test_project_keeps_an_owner_who_can_sign_in(members_seat: Seat) -> None:
    """At least an owner of this Winnow, unless someone has removed them outside Winnow."""
    home = members_seat.home
    ada, bob = (somebody(home, members_seat.person_id, name) for name in ("Ada", "Bob"))
    members.give_role(members_seat, [ada, bob], "owner")
    hers = Seat(home, ada, members_seat.project_id)
    with home.database.write() as session:
        stored_people.disable(session, members_seat.person_id, managing.get_project(hers).created_at)
    members.give_role(hers, [bob], "viewer")
    for act in (lambda: members.give_role(hers, [ada], "viewer"), lambda: members.remove_member(hers, ada)):
        with pytest.raises(MemberError, match="needs an owner who can sign in"):
            act()
    assert members.rights_of(hers) == frozenset(Right), "nothing was stored"
    members.give_role(hers, [bob], "owner")
    members.remove_member(hers, ada)
    with pytest.raises(NotFound):
        members.rights_of(hers)


def test_inviting_group_keeps_higher_roles(members_seat: Seat) -> None:
    home = members_seat.home
    ada, bob, cleo, dan = (somebody(home, members_seat.person_id, name) for name in ("Ada", "Bob", "Cleo", "Dan"))
    nowhere = Seat(home, members_seat.person_id)
    experts = members.make_group(nowhere, "Experts", [ada, bob, cleo])
    members.give_role(members_seat, [ada], "reviewer")
    team.disable_person(nowhere, cleo)
    assert members.list_members(members_seat).groups == ((experts, "Experts", 1),)
    assert members.invite_group(members_seat, experts, "viewer") == 1
    assert names(members_seat) == {"owner": "owner", "Ada": "reviewer", "Bob": "viewer"}
    assert members.invite_group(members_seat, experts, "viewer") == 0
    members.change_group(nowhere, experts, "Experts", [dan])
    assert names(members_seat) == {"owner": "owner", "Ada": "reviewer", "Bob": "viewer"}, "a group gives no rights"
    members.remove_group(nowhere, experts)
    with pytest.raises(MemberError, match="no longer exists"):
        members.invite_group(members_seat, experts, "viewer")


def test_sharing_several_projects_is_atomic(members_seat: Seat) -> None:
    home, nowhere = members_seat.home, Seat(members_seat.home, members_seat.person_id)
    second = small_project(home, members_seat.person_id, "second")
    small_project(home, members_seat.person_id, "third")
    ada = Seat(home, somebody(home, members_seat.person_id, "Ada Lovelace"))
    with pytest.raises(NotFound):
        members.share(nowhere, "Ada Lovelace", [second, 99], "viewer")
    assert managing.list_projects(ada) == []
    members.share(nowhere, " ada  lovelace ", [second, members_seat.project_id or 0], "viewer")
    assert {one.name for one in managing.list_projects(ada)} == {"small", "second"}
    assert members.rights_of(ada) == RIGHTS[Role.VIEWER]
    with pytest.raises(MemberError, match="no person named 'Bob'"):
        members.share(nowhere, "Bob", [second], "viewer")


@pytest.mark.parametrize(("first", "then"), [("reviewer", "viewer"), ("viewer", "reviewer")])
def test_sharing_by_name_keeps_existing_roles(members_seat: Seat, first: str, then: str) -> None:
    home, nowhere = members_seat.home, Seat(members_seat.home, members_seat.person_id)
    second = small_project(home, members_seat.person_id, "second")
    ada = somebody(home, members_seat.person_id, "Ada")
    members.give_role(members_seat, [ada], first)
    with pytest.raises(MemberError, match=f"Ada is {first} in small already"):
        members.share(nowhere, "Ada", [second, members_seat.project_id or 0], then)
    assert names(members_seat)["Ada"] == first
    assert len(managing.list_projects(Seat(home, ada))) == 1, "in all, or in none"
    members.share(nowhere, "Ada", [second, members_seat.project_id or 0], first)
    assert [one.role for one in managing.list_projects(Seat(home, ada))] == [first, first]


def test_removed_member_is_stopped_at_next_press(members_seat: Seat) -> None:
    home = members_seat.home
    ada = Seat(home, annotator(home, members_seat.person_id, "Ada"), members_seat.project_id)
    asked = loop.next_question(ada)
    members.remove_member(members_seat, ada.person_id)
    with pytest.raises(NotFound, match="no one has shared it with you"):
        loop.submit_answer(ada, asked.token, "is", asked.choices[:1])
    with home.database.read() as session:
        assert questions.get(session, members_seat.project_id or 0, ada.person_id) is None, "its row is free"
    assert loop.ask_next(members_seat, asked.view.row).view.row == asked.view.row
    members.give_role(members_seat, [ada.person_id], "annotator")
    assert loop.next_question(ada) is not None


def test_member_made_viewer_is_stopped_at_next_press(members_seat: Seat) -> None:
    ada = Seat(members_seat.home, annotator(members_seat.home, members_seat.person_id, "Ada"), members_seat.project_id)
    asked = loop.next_question(ada)
    members.give_role(members_seat, [ada.person_id], "viewer")
    with pytest.raises(NotAllowed, match=r"Only annotators, reviewers and the owner .* Ada is a viewer"):
        loop.submit_answer(ada, asked.token, "is", asked.choices[:1])
    assert managing.get_project(ada).answered == 0


def test_reviewer_sees_and_corrects_all_answers(members_seat: Seat) -> None:
    home, project = members_seat.home, members_seat.project_id or 0
    ada = annotator(home, members_seat.person_id, "Ada")
    somebody(home, members_seat.person_id, "Stranger")
    bob = Seat(home, annotator(home, members_seat.person_id, "Bob", "reviewer"), project)
    saved = answer_next(home, ada, project)
    found = reviewing.find(bob, Search())
    assert [(one.row, one.person) for one in found.rows] == [(saved.row, "Ada")]
    known = [name for _, name in reviewing.options(bob).people]
    assert known == [*names(members_seat)], "of people who have nothing to do with the project nothing is said"
    members.remove_member(members_seat, ada)
    assert "Ada" in [name for _, name in reviewing.options(bob).people], "her answer stays"
    opened = reviewing.open_row(bob, saved.row)
    assert opened.may_correct
    reviewing.correct(bob, saved.row, opened.token, "bad")
    assert reviewing.open_row(members_seat, saved.row).out


def test_count_matches_listed_projects(members_seat: Seat) -> None:
    mine, ada = (
        Seat(members_seat.home, members_seat.person_id),
        Seat(members_seat.home, somebody(members_seat.home, members_seat.person_id, "Ada")),
    )
    assert (members.count_projects(mine), members.count_projects(ada)) == (1, 0)
    members.give_role(members_seat, [ada.person_id], "viewer")
    assert members.count_projects(ada) == 1
    managing.archive_project(members_seat)
    assert (members.count_projects(mine), members.count_projects(ada)) == (0, 0)


# Groups of people: made, changed and removed by the owners of this Winnow


@pytest.fixture
def groups_seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner)


def test_groups_are_made_changed_and_removed(groups_seat: Seat) -> None:
    ada, bob = (somebody(groups_seat.home, groups_seat.person_id, name) for name in ("Ada", "Bob"))
    experts = members.make_group(groups_seat, "  Bird   experts ", [bob, ada])
    assert [(one.id, one.name, one.people) for one in members.list_groups(groups_seat)] == [
        (experts, "Bird experts", (ada, bob))
    ]
    members.change_group(groups_seat, experts, "BIRD experts", [ada])
    assert [(one.name, one.people) for one in members.list_groups(groups_seat)] == [("BIRD experts", (ada,))]
    members.remove_group(groups_seat, experts)
    members.remove_group(groups_seat, experts)
    assert members.list_groups(groups_seat) == []
    with pytest.raises(GroupError, match="no longer exists"):
        members.change_group(groups_seat, experts, "x", [])


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\0b"])
def test_unprintable_group_names_are_refused(groups_seat: Seat, name: str) -> None:
    with pytest.raises(GroupError, match="1 to 80 printable characters"):
        members.make_group(groups_seat, name, [])
    assert members.list_groups(groups_seat) == []


def test_group_names_are_unique_ignoring_case(groups_seat: Seat) -> None:
    experts = members.make_group(groups_seat, "Experts", [])
    others = members.make_group(groups_seat, "Others", [])
    for act in (
        lambda: members.make_group(groups_seat, "experts", []),
        lambda: members.change_group(groups_seat, others, "EXPERTS", []),
    ):
        with pytest.raises(GroupError, match="A group named 'Experts' exists already"):
            act()
    with pytest.raises(GroupError, match="no person 99"):
        members.change_group(groups_seat, experts, "Experts", [groups_seat.person_id, 99])
    assert [one.people for one in members.list_groups(groups_seat)] == [(), ()]


# Reach


def settings(**values: str) -> Settings:
    return Settings.from_environment(values)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "::1", "127.9.9.9", "a.localhost"])
def test_link_to_local_address_is_reported_as_unreachable(host: str) -> None:
    assert is_this_machine(host)
    why = explain_local_host(settings(), host) or ""
    for fix in ("Others cannot use this link", "WINNOW_HOST", "WINNOW_ALLOWED_HOSTS", "reverse proxy"):
        assert fix in why


def test_unreachable_link_names_configured_address() -> None:
    there = settings(WINNOW_HOST="192.0.2.1", WINNOW_ALLOWED_HOSTS="winnow.example.org,*.example.net")
    why = explain_local_host(there, "127.0.0.1") or ""
    assert "open Winnow as 192.0.2.1 or winnow.example.org and make the link there" in why
    assert explain_local_host(there, "winnow.example.org") is None
    assert explain_local_host(there, "a.example.net") is None
    assert "WINNOW_ALLOWED_HOSTS" in (explain_local_host(there, "other.example.org") or "")


def test_allowed_host_is_reachable_behind_local_proxy() -> None:
    behind = settings(WINNOW_ALLOWED_HOSTS="winnow.example.org")
    assert behind.host == "127.0.0.1"
    assert explain_local_host(behind, "winnow.example.org") is None
    assert "Others cannot use this link" in (explain_local_host(behind, "localhost") or "")


@pytest.mark.parametrize("host", ["192.168.0.7", "winnow.example.org", "localhost.example.org", ""])
def test_other_names_are_not_this_machine(host: str) -> None:
    assert not is_this_machine(host)


@pytest.mark.parametrize("host", ["winnow.example.org", "A.example.net", "example.net", "evil.example", "localhost"])
def test_allowed_hosts_match_server(host: str) -> None:
    allowed = settings(WINNOW_ALLOWED_HOSTS="winnow.example.org,*.example.net").allowed_hosts
    app = TrustedHostMiddleware(
        Starlette(routes=[Route("/", lambda _request: PlainTextResponse("in"))]), allowed, www_redirect=False
    )
    with TestClient(app, base_url=f"http://{host}") as client:
        assert (client.get("/").status_code == 200) is allows(allowed, host)
