from __future__ import annotations

import hashlib
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from tests.databases import on_sqlite
from workflow.access import NotAllowed, NotFound
from workflow.people import browsers, team
from workflow.seat import Seat
from workflow.server.home import Home


def wait(monkeypatch: pytest.MonkeyPatch, time: timedelta) -> None:
    """Let this much time pass, as workflow.people sees it."""

    class Later(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) + time

    for module in (team, browsers):
        monkeypatch.setattr(module, "datetime", Later)


def sign_in_as_annotator(home: Home, name: str = "bob") -> tuple[int, str]:
    owner = team.ensure_owner(home)
    sign_in = team.redeem_link(home, team.make_link(Seat(home, owner.id), name))
    person = browsers.person_of(home, sign_in)
    assert person is not None
    return person.id, sign_in


def test_there_is_one_owner(home: Home) -> None:
    owner = team.ensure_owner(home)
    assert owner.is_owner
    assert team.ensure_owner(home) == owner
    assert team.list_people(Seat(home, owner.id)) == [owner]


def test_the_start_link_signs_the_owner_in(home: Home) -> None:
    sign_in = team.redeem_link(home, team.make_start_link(home))
    assert browsers.person_of(home, sign_in) == team.ensure_owner(home)


def test_a_link_works_once(home: Home) -> None:
    secret = team.make_start_link(home)
    team.redeem_link(home, secret)
    with pytest.raises(team.LinkError, match="used already"):
        team.redeem_link(home, secret)


@pytest.mark.parametrize("secret", ["", "nonsense", "\u00e9", "' OR 1=1 --"])
def test_an_unknown_link_is_refused(home: Home, secret: str) -> None:
    team.make_start_link(home)
    with pytest.raises(team.LinkError, match="not known"):
        team.redeem_link(home, secret)
    assert browsers.person_of(home, secret) is None


def test_of_many_at_once_one_redeems_the_link(home: Home) -> None:
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


def test_links_live_side_by_side_until_one_is_used(home: Home) -> None:
    owner = team.ensure_owner(home)
    for make in (lambda: team.make_start_link(home), lambda: team.make_link(Seat(home, owner.id), "bob")):
        first, second, third = make(), make(), make()
        team.redeem_link(home, second)
        for other in (first, third):
            with pytest.raises(team.LinkError, match="expired"):
                team.redeem_link(home, other)


def test_a_link_is_made_again_without_the_name(home: Home) -> None:
    owner = Seat(home, team.ensure_owner(home).id)
    bob, _ = sign_in_as_annotator(home)
    again = browsers.person_of(home, team.redeem_link(home, team.make_link_for(owner, bob)))
    assert again is not None
    assert again.id == bob
    with pytest.raises(NotFound, match="no person 99"):
        team.make_link_for(owner, 99)
    with pytest.raises(team.PersonNameError, match="is an owner"):
        team.make_link_for(owner, owner.person_id)


def test_open_links_are_ended_together_and_there_are_only_so_many(home: Home) -> None:
    owner = Seat(home, team.ensure_owner(home).id)
    bob, _ = sign_in_as_annotator(home)
    made = [team.make_link_for(owner, bob) for _ in range(team.MOST_OPEN)]
    with pytest.raises(team.LinkError, match="20 links of bob are open"):
        team.make_link(owner, "Bob")
    team.end_links(owner, bob)
    for secret in made:
        with pytest.raises(team.LinkError, match="expired"):
            team.look_at_link(home, secret)
    assert team.look_at_link(home, team.make_link_for(owner, bob)) == "bob"


def test_who_a_refused_link_was_for_is_known_to_the_audit(home: Home) -> None:
    owner = team.ensure_owner(home)
    secret = team.make_link(Seat(home, owner.id), "bob")
    team.redeem_link(home, secret)
    assert team.person_of_link(home, secret) == owner.id + 1
    assert team.person_of_link(home, "nonsense") is None


def test_a_second_link_for_a_name_is_for_the_same_person(home: Home) -> None:
    bob, _ = sign_in_as_annotator(home, "bob")
    again, _ = sign_in_as_annotator(home, "  bob ")
    assert bob == again


def test_sign_ins_expire_and_end(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bob, first = sign_in_as_annotator(home)
    _, second = sign_in_as_annotator(home)
    browsers.sign_out(home, first)
    assert browsers.person_of(home, first) is None
    found = browsers.person_of(home, second)
    assert found is not None
    assert found.id == bob
    wait(monkeypatch, browsers.SIGN_IN_LIFE + timedelta(seconds=1))
    assert browsers.person_of(home, second) is None


def test_disabling_ends_sign_ins_and_links_and_a_new_link_lets_in_again(home: Home) -> None:
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


def test_only_an_owner_manages_people(home: Home) -> None:
    owner = team.ensure_owner(home)
    bob, _ = sign_in_as_annotator(home)
    for person_id in (bob, 99):
        with pytest.raises(NotAllowed):
            team.make_link(Seat(home, person_id), "eve")
        with pytest.raises(NotAllowed):
            team.disable_person(Seat(home, person_id), owner.id)
        with pytest.raises(NotAllowed):
            team.list_people(Seat(home, person_id))
    with pytest.raises(NotAllowed, match="your own"):
        team.disable_person(Seat(home, owner.id), owner.id)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\u202eb", "a\x00b"])
def test_names_are_checked(home: Home, name: str) -> None:
    owner = team.ensure_owner(home)
    with pytest.raises(team.PersonNameError, match="1 to 80"):
        team.make_link(Seat(home, owner.id), name)
    assert len(team.list_people(Seat(home, owner.id))) == 1


@on_sqlite
def test_no_secret_is_kept_in_the_folder(home: Home) -> None:
    link = team.make_start_link(home)
    sign_in = team.redeem_link(home, link)
    kept = b"".join(path.read_bytes() for path in home.settings.home.rglob("*") if path.is_file())
    for secret in (link, sign_in):
        assert len(secret) >= 43  # 32 bytes
        assert secret.encode() not in kept
        assert hashlib.sha256(secret.encode()).hexdigest().encode() in kept


def test_the_folders_are_for_this_user_alone(home: Home) -> None:
    for folder in (home.settings.home, home.tables_dir):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
