"""The pages of annotators, the team, groups and tokens."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from db import entries
from pages.parts import frame, one_label, question_card, state
from pages.parts.account_parts import LIFE, LIVES, MAY, ONLY, PURPOSE, browser_in_words, in_words
from pages.parts.measured import team_table
from pages.parts.one_label import card as one_label_card
from plcore.crowd import LEAST_ROWS
from tests.pages.conftest import Open, by_label, listed_problems, sent_to, words
from tests.pages.file_boxes import give
from tests.present import present
from tests.workflow.four import ask, four_class_project
from tests.workflow.vector_world import vector_project
from tests.workflow.world import annotator, small_frame, small_project
from workflow.answering import loop, room
from workflow.answering.room import RoomSettings
from workflow.people import browsers, figures, passwords, team, tokens
from workflow.people.browsers import SignIn, Visit
from workflow.people.figures import CountedShare
from workflow.people.tokens import ApiToken
from workflow.projects import standing
from workflow.seat import Seat
from workflow.server.home import Home

# People, My account and Audit, as their scripts draw them


GOOD = "four plain words here"


@pytest.fixture
def ada(home: Home, owner: int) -> Seat:
    """Ada, signed in in one browser."""
    seat = Seat(home, owner)
    team.redeem_link(home, team.make_link(seat, "Ada"), Visit("192.0.2.1", "Firefox on Linux"))
    return Seat(home, owner + 1)


def press(test: AppTest, key: str) -> AppTest:
    test.button(key=key).click().run()
    assert not test.exception
    return test


def test_owner_manages_person_on_people_page(home: Home, owner: int, ada: Seat, show: Open) -> None:
    passwords.set_password(ada, GOOD)
    test = show(owner, "people.py")
    assert "1 browser signed in · has a password" in words(test)
    press(test, f"link-{ada.person_id}")
    (link,) = [one.value for one in test.code]
    assert team.read_link_name(home, link.split("link=")[1]) == "Ada"
    assert "1 open link" in words(test)
    press(test, f"end-links-{ada.person_id}")
    with pytest.raises(team.LinkError):
        team.read_link_name(home, link.split("link=")[1])
    (browser,) = browsers.my_browsers(ada)
    press(test, f"out-{browser.id}")
    assert browsers.my_browsers(ada) == []
    press(test, f"clear-{ada.person_id}")
    assert not passwords.has_password(ada)
    press(test, f"end-{ada.person_id}")
    assert "access ended · not signed in" in words(test)
    assert [one.label for one in test.button if "elsewhere" in one.label.lower()] == []


def test_owner_sees_and_ends_tokens_of_others(home: Home, owner: int, ada: Seat, show: Open) -> None:
    secrets = [tokens.make_token(ada, purpose) for purpose in ("survey", "note*book")]
    test = show(owner, "people.py")
    assert "1 browser signed in · 2 tokens\n" in words(test)
    used = present(tokens.user_of(home, secrets[0]))
    tokens.note_use(home, used.id)
    test.run()
    assert f"2 tokens, last used {datetime.now(UTC):%Y-%m-%d}" in words(test)
    assert "works until it is revoked" in words(test)
    assert not any(secret in words(test) for secret in secrets)
    press(test, f"end-token-{used.id}")
    assert "1 token" in words(test)
    assert "last used" not in words(test)
    assert [tokens.user_of(home, secret) is None for secret in secrets] == [True, False]


def test_link_to_local_address_warns(owner: int, ada: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    for host, said in (("127.0.0.1", True), ("winnow.example.org", True), ("", True)):
        monkeypatch.setattr(frame, "host", lambda host=host: host)
        test = press(show(owner, "people.py"), f"link-{ada.person_id}")
        assert bool(test.warning) is said
    assert "WINNOW\\_ALLOWED\\_HOSTS" in test.warning[0].value


def test_proxy_names_are_editable_if_proxy_sign_in_is_on(
    home: Home, owner: int, ada: Seat, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(home.settings.sign_in, "proxy_user_header", "remote-user")
    try:
        test = show(owner, "people.py")
        test.text_input(key=f"known-as-{ada.person_id}-").set_value("Ada@Example.org")
        press(test, f"save-known-{ada.person_id}")
        assert "elsewhere ada" in words(test)
        test.text_input(key=f"known-as-{owner}-").set_value("ada@example.org")
        press(test, f"save-known-{owner}")
        assert "is another person" in words(test)
    finally:
        object.__setattr__(home.settings.sign_in, "proxy_user_header", "")


def test_password_is_set_and_changed_on_my_account(home: Home, ada: Seat, show: Open) -> None:
    test = show(ada.person_id, "account.py")
    new, again = test.text_input
    new.set_value(GOOD)
    again.set_value("another")
    press(test, "set-password")
    assert "The two passwords differ" in words(test)
    assert [one.value for one in test.text_input] == ["", ""]
    for box in test.text_input:
        box.set_value(GOOD)
    press(test, "set-password")
    assert browsers.person_of(home, passwords.sign_in_by_password(home, "Ada", GOOD))
    kept = ("new", "again")
    assert {test.session_state[f"{state.PASSWORD}-{name}"] for name in kept} == {""}
    present, new, again = test.text_input
    present.set_value("wrong")
    for box in (new, again):
        box.set_value("another plain one")
    press(test, "set-password")
    assert "present password is wrong" in words(test)


def test_browsers_are_signed_out_on_my_account(ada: Seat, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    team.redeem_link(ada.home, team.make_link(Seat(ada.home, 1), "Ada"), Visit("", "Safari on iPhone"))
    team.redeem_link(ada.home, team.make_link(Seat(ada.home, 1), "Ada"))
    phone = next(one for one in browsers.my_browsers(ada) if one.browser == "Safari on iPhone")
    other = next(one for one in browsers.my_browsers(ada) if one.browser == "Firefox on Linux")
    monkeypatch.setattr(frame, "sign_in_id", lambda: phone.id)
    test = show(ada.person_id, "account.py")
    assert "**Safari on iPhone** · **this one**" in words(test)
    press(test, f"out-{other.id}")
    assert len(browsers.my_browsers(ada)) == 2
    press(test, "out-others")
    assert [one.id for one in browsers.my_browsers(ada)] == [phone.id]


def test_audit_is_shown_and_filtered(owner: int, ada: Seat, show: Open) -> None:
    test = show(owner, "audit.py")
    assert list(test.table[0].value.What) == ["signed in", "link created", "person added"]
    test.selectbox[1].set_value("link-made").run()
    assert list(test.table[0].value.Whom) == ["Ada"]
    test.selectbox[1].set_value("project-binned").run()
    assert "No entry matches this filter." in words(test)
    assert not test.exception


def test_sign_in_without_browser_details_is_described() -> None:
    at = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert browser_in_words(SignIn(1, 1, at, None, "", "", "")) == "**A browser**  \nsigned in 2026-03-01 12:30 UTC"
    full = browser_in_words(SignIn(1, 1, at, at, "password", "192.0.2.1", "Firefox on Linux"), this=1)
    assert full.startswith("**Firefox on Linux** · **this one**  \n")
    assert "by a password · last seen 2026-03-01 12:30 UTC · 192" in full


# The Team page and each person's own box, as their scripts draw them


@pytest.fixture
def project(home: Home, owner: int) -> int:
    return small_project(home, owner, overlap=2, fold="majority", test_share=0.3)


def answered(home: Home, person: int, project: int, *, right: bool, times: int) -> None:
    seat = Seat(home, person, project)
    for _ in range(times):
        question = present(loop.next_question(seat))
        true = str(small_frame().truth[question.view.row])
        wrong = next(one for one in question.choices if one != true)
        loop.submit_answer(seat, question.token, "is", [true if right else wrong])


def table(test: AppTest) -> dict[str, Any]:
    """Data sent to the Team page's table."""
    (data,) = sent_to(test, "winnow_team")
    return data


def act(test: AppTest, what: str, person: int) -> AppTest:
    """Press a button of the table, which AppTest cannot click."""
    test.session_state[state.TEAM_ACT] = what, person
    return test.run()


def test_team_page_without_answers_says_so(owner: int, project: int, show: Open) -> None:
    assert "No one has answered yet" in words(show(owner, "team_page.py", project=str(project)))


def test_team_lists_each_annotator_and_excludes_and_includes_answers(
    home: Home, owner: int, project: int, show: Open
) -> None:
    ada, ben = annotator(home, owner, "Ada"), annotator(home, owner, "Ben")
    annotator(home, owner, "Cem", "viewer")
    annotator(home, owner, "Dora")
    team.make_link(Seat(home, owner), "Dora")
    for _ in range(12):
        answered(home, ada, project, right=True, times=1)
        answered(home, ben, project, right=False, times=1)
    test = show(owner, "team_page.py", project=str(project))
    before = table(test)
    assert [(one["name"], one["role"], one["answers"]) for one in before["people"]] == [
        ("Ada", "Annotator", 12),
        ("Ben", "Annotator", 12),
    ]
    assert [one["agreement"] for one in before["people"]] == [team_table.measured(CountedShare(0, 12))] * 2
    assert before["agreement"]["value"] is None
    assert before["agreement"]["sofar"] == f"12 of {LEAST_ROWS} shared rows"
    assert [(one["name"], one["link"]) for one in before["invites"]] == [("Dora", "open")]
    assert [(one["one"], one["other"]) for one in before["pairs"]] == [("Ada", "Ben")]

    act(test, "details", ben)
    assert "Blind checks correct: – (0 of 10)" in words(test)
    assert "Confused labels: – 12 of 30 shared answers" in words(test)
    act(test, "exclude", ben)
    test.button(key=f"{state.TEAM_ACT}-exclude-{ben}").click().run()
    assert not test.exception
    after = table(test)
    assert [one["excluded"] for one in after["people"]] == [False, True]
    assert after["people"][0]["agreement"]["value"] is None
    assert after["people"][0]["agreement"]["sofar"] == "0 of 10 rows"
    act(test, "include", ben)
    test.button(key=f"{state.TEAM_ACT}-exclude-{ben}").click().run()
    assert table(test) == before
    act(test, "answers", ben)
    assert test.session_state[f"{state.REVIEW}-{project}-person"] == ben


def test_team_leads_with_suspected_guesser(
    home: Home, owner: int, project: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = annotator(home, owner, "Ada")
    answered(home, ada, project, right=True, times=1)
    monkeypatch.setattr(figures, "warnings", lambda _: {ada: ("May be guessing. 3 of 30 correct.",)})
    test = show(owner, "team_page.py", project=str(project))
    (one,) = table(test)["people"]
    assert one["warnings"] == [["May be guessing", "3 of 30 correct."]]
    act(test, "exclude", ada)
    test.button(key=f"{state.TEAM_ACT}-exclude-{ada}").click().run()
    with home.database.read() as session:
        assert entries.about_project(session, project)[-1].kind == "aside"


def test_team_page_is_read_only_for_reviewers(home: Home, owner: int, project: int, show: Open) -> None:
    reviewer, ada = annotator(home, owner, "Rita", "reviewer"), annotator(home, owner, "Ada")
    answered(home, ada, project, right=True, times=2)
    data = table(show(reviewer, "team_page.py", project=str(project)))
    assert [one["name"] for one in data["people"]] == ["Ada"]
    assert (data["excludes"], data["links"], data["invites"]) == (False, False, None)
    assert "Only reviewers and owners" in words(show(ada, "team_page.py", project=str(project)))


def test_progress_shows_annotators_only_their_own_figures(home: Home, owner: int, project: int, show: Open) -> None:
    ada, ben = annotator(home, owner, "Ada"), annotator(home, owner, "Benedict")
    vera = annotator(home, owner, "Vera", "viewer")
    for _ in range(3):
        answered(home, ada, project, right=True, times=1)
        answered(home, ben, project, right=True, times=1)
    shown = words(show(ada, "progress.py", project=str(project)))
    assert "**3** answers" in shown
    assert "Same as the others: – (0 of 10)" in shown
    assert "Benedict" not in shown
    assert "Your figures begin" in words(show(owner, "progress.py", project=str(project)))
    assert "Your figures" not in words(show(vera, "progress.py", project=str(project)))
    assert figures.mine(Seat(home, ada, project)).answers == 3


# API tokens on My account, as its script draws them


@pytest.fixture
def seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner)


def make(test: AppTest, purpose: str, life: str = "90 days") -> AppTest:
    press(test, "new-token")
    test.text_input(key=PURPOSE).set_value(purpose)
    test.selectbox(key=LIFE).set_value(life)
    return press(test, "make-token")


def test_token_is_made_shown_once_and_revoked(seat: Seat, show: Open) -> None:
    test = make(show(seat.person_id, "account.py"), "bird survey")
    (secret,) = [one.value for one in test.code]
    found = present(tokens.user_of(seat.home, secret))
    assert found.person.id == seat.person_id
    assert "The token for bird survey" in words(test)
    assert "not used yet" in words(test)
    assert state.TOKEN not in test.session_state
    test.run()
    assert not test.code
    assert secret not in words(test)
    (one,) = tokens.my_tokens(seat)
    assert one.expires_at is not None
    assert (one.expires_at - one.created_at).days == 90
    press(test, f"end-token-{one.id}")
    assert tokens.my_tokens(seat) == []
    assert tokens.user_of(seat.home, secret) is None


def test_token_is_narrowed_on_the_page(seat: Seat, show: Open) -> None:
    number = small_project(seat.home, seat.person_id, "birds")
    test = press(show(seat.person_id, "account.py"), "new-token")
    test.text_input(key=PURPOSE).set_value("notebook")
    test.selectbox(key=MAY).set_value("Read only, including exports")
    test.multiselect(key=ONLY).set_value([number])
    press(test, "make-token")
    (one,) = tokens.my_tokens(seat)
    assert (one.may, one.projects) == ("read", [number])
    assert f"reads in project {number} · created" in words(test)


def test_refused_token_purpose_stays_in_its_box(seat: Seat, show: Open) -> None:
    test = make(show(seat.person_id, "account.py"), "survey", "Until I revoke it")
    assert tokens.my_tokens(seat)[0].expires_at is None
    make(test, "survey")
    assert "already" in words(test)
    assert test.text_input(key=PURPOSE).value == "survey"
    assert not test.code
    assert len(tokens.my_tokens(seat)) == 1


def test_account_lists_own_tokens_only(seat: Seat, show: Open) -> None:
    tokens.make_token(seat, "the owner's own")
    team_seat = Seat(seat.home, seat.person_id + 1)
    from workflow.people import team

    team.make_link(seat, "Ada")
    assert "the owner" not in words(show(team_seat.person_id, "account.py"))


def test_tokens_are_described_in_words() -> None:
    at = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    assert in_words(ApiToken(1, 1, "a*b", at, None, None)) == (
        "**a\\*b**  \ndoes all that its person may · created 2026-03-01 · works until you revoke it · not used yet"
    )
    assert in_words(ApiToken(1, 1, "x", at, at, at)).endswith("ends 2026-03-01 · last used 2026-03-01 12:30 UTC")
    assert None in LIVES.values()


# Groups of classes on the pages: set on the settings page, sent to the card, listed at import


GROUPS = "A file of groups"
FUR = {"furry": ("cat", "dog"), "insect": ("ant", "bee")}


@pytest.fixture
def groups_seat(home: Home, owner: int) -> Seat:
    return Seat(home, owner, four_class_project(home, owner))


def settings(show: Open, seat: Seat) -> AppTest:
    return show(seat.person_id, "project_page.py", project=str(seat.project_id))


def test_groups_file_is_checked_set_and_removed(show: Open, groups_seat: Seat) -> None:
    room.change_room(groups_seat, RoomSettings("Look.", "fixed", {"ant": "small"}))
    test = settings(show, groups_seat)
    assert "Remove all groups" not in [one.label for one in test.button]
    file = b"class,group,more\ncat,furry,one\ndog,furry,\nant,insect,\nbee,insect,\n"
    give(test, GROUPS, "groups.csv", file)
    assert not test.exception
    assert "1 group of one class" in words(test)
    assert room.groups_of(groups_seat) == {}
    by_label(test.button, "Use these groups").click().run()
    assert not test.exception
    assert room.groups_of(groups_seat) == FUR
    shown = [one.value for one in test.dataframe if "Group" in one.value.columns]
    assert [list(one.Group) for one in shown] == [["furry", "insect"]]
    assert list(shown[0].Which) == ["cat, dog", "ant, bee"]
    assert room.room_of(groups_seat).guidelines == "Look."
    # Saving the other settings does not change them.
    by_label(test.text_area, "Guidelines").set_value("Look again.").run()
    assert room.groups_of(groups_seat) == FUR
    by_label(test.button, "Remove all groups").click().run()
    assert not test.exception
    assert room.groups_of(groups_seat) == {}


def test_problems_of_groups_file_are_listed(show: Open, groups_seat: Seat) -> None:
    test = settings(show, groups_seat)
    give(test, GROUPS, "groups.csv", b"class,group\ncow,furry\nant,bee\n")
    assert "2 problems to fix before these can be groups. Nothing was stored." in words(test)
    first, second = listed_problems(test)
    assert "'cow' is not a class of the project." in first
    assert "The group 'bee' has the name of a class." in second
    assert not [one for one in test.button if one.label.startswith("Use th")]


def test_groups_of_single_classes_are_refused(show: Open, groups_seat: Seat) -> None:
    test = settings(show, groups_seat)
    give(test, GROUPS, "groups.csv", b"class,group\ncat,furry\n")
    assert not test.exception
    assert by_label(test.button, "Use these groups").disabled


def test_label_vectors_have_no_groups(home: Home, owner: int, show: Open) -> None:
    test = settings(show, Seat(home, owner, vector_project(home, owner)))
    assert "Groups of classes" not in words(test)


def test_card_gets_groups_of_classes(
    home: Home, owner: int, groups_seat: Seat, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert groups_seat.project_id is not None
    room.set_groups(groups_seat, FUR)
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(one_label_card, "_CARD", lambda data, **_: told.append(data))
    monkeypatch.setattr(one_label_card, "_CLASSES", lambda key, data: told.append(data))
    monkeypatch.setattr(question_card.st, "session_state", {})
    draw = one_label.question_card(groups_seat, ask(home, owner, groups_seat.project_id))
    draw(standing.standing(groups_seat), None, lambda: None)
    assert told.pop()["question"]["groups"] == [
        {"key": "1", "name": "insect", "labels": ("ant", "bee")},
        {"key": "2", "name": "furry", "labels": ("cat",)},
    ]
    one_label.class_list(groups_seat.project_id, ("ant", "bee", "cat", "dog"), {}, room.groups_of(groups_seat))
    assert told.pop()["groups"] == [["furry", ("cat", "dog")], ["insect", ("ant", "bee")]]


def test_annotate_page_with_groups_is_drawn_for_everyone(home: Home, owner: int, show: Open, groups_seat: Seat) -> None:
    room.set_groups(groups_seat, FUR)
    ada = annotator(home, owner, "Ada")
    for person in (owner, ada):
        assert not show(person, "annotate.py", project=str(groups_seat.project_id)).exception
