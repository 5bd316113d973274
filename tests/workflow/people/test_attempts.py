from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow.people import attempts
from workflow.people.attempts import Attempts, folded, network


def test_an_address_is_limited_whatever_names_it_tries() -> None:
    tried = Attempts()
    allowed = [tried.may_try(f"name {n}", "192.0.2.1") for n in range(attempts.PER_ADDRESS.amount + 5)]
    assert sum(allowed) == attempts.PER_ADDRESS.amount
    assert tried.may_try("name 1", "192.0.2.2"), "others are not"


def test_who_is_over_the_limit_of_an_address_uses_up_nobody_s_name() -> None:
    tried = Attempts()
    for n in range(attempts.PER_ADDRESS.amount):
        tried.may_try(f"name {n}", "192.0.2.1")
    for _ in range(50):
        assert not tried.may_try("ada", "192.0.2.1")
    assert tried.may_try("ada", "192.0.2.2")


def test_a_limit_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    monkeypatch.setattr("limits.storage.memory.time.time", lambda: now[0])
    tried = Attempts()
    while tried.may_try("ada", ""):
        pass
    now[0] += 60 * attempts.MINUTES + 1
    assert tried.may_try("ada", "")


def test_of_many_at_once_no_more_are_let_through() -> None:
    tried = Attempts()
    with ThreadPoolExecutor(8) as pool:
        allowed = list(pool.map(lambda n: tried.may_try("ada", f"192.0.2.{n}"), range(100)))
    assert sum(allowed) == attempts.PER_NAME.amount


def test_strangers_cause_only_so_many_lines() -> None:
    tried = Attempts()
    one = sum(tried.may_note("192.0.2.1") for _ in range(1000))
    assert one == attempts.NOTED_PER_ADDRESS.amount
    all_of_them = one + sum(tried.may_note(f"198.51.{n // 250}.{n % 250}") for n in range(1000))
    assert all_of_them <= attempts.NOTED.amount


@given(st.ip_addresses(v=6), st.ip_addresses(v=6))
def test_who_has_a_64_has_one_address(one: object, other: object) -> None:
    same = int(one) >> 64 == int(other) >> 64  # type: ignore[call-overload]
    assert (network(str(one)) == network(str(other))) is same


def test_who_comes_by_ipv4_to_a_server_of_both_is_one_address() -> None:
    assert network("::ffff:192.0.2.1") == "192.0.2.1"
    tried = Attempts()
    while tried.may_try("ada", "::ffff:192.0.2.1"):
        pass
    assert tried.may_try("bob", "::ffff:192.0.2.2"), "others are not"


@given(st.ip_addresses(v=4))
def test_of_ipv4_each_address_counts(one: object) -> None:
    assert network(str(one)) == str(one)


@given(st.text())
def test_any_text_can_be_an_address(text: str) -> None:
    assert isinstance(network(text), str)


@given(st.text(), st.sampled_from([" ", "  ", "\t", "\n"]))
def test_names_are_one_however_they_are_spelt(name: str, space: str) -> None:
    assert folded(f"{space}{name}{space}") == folded(name)


def test_how_long_to_wait_is_known_and_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000_000.0]
    for module in ("limits.storage.memory", "workflow.people.attempts"):
        monkeypatch.setattr(f"{module}.time.time", lambda: now[0])
    tried = Attempts()
    assert tried.must_wait("ada", "192.0.2.1") == 0
    while tried.may_try("ada", "192.0.2.1"):
        now[0] += 10
    wait = tried.must_wait("ada", "192.0.2.1")
    assert 60 * (attempts.MINUTES - 1) <= wait <= 60 * attempts.MINUTES
    now[0] += wait - 5
    assert not tried.may_try("ada", "192.0.2.1")
    now[0] += 6
    assert tried.must_wait("ada", "192.0.2.1") == 0
    assert tried.may_try("ada", "192.0.2.1")


def test_links_that_do_not_work_are_counted_by_address() -> None:
    tried = Attempts()
    for _ in range(attempts.LINKS_PER_ADDRESS.amount):
        assert tried.must_wait_for_links("192.0.2.1") == 0
        tried.link_failed("192.0.2.1")
    assert 0 < tried.must_wait_for_links("192.0.2.1") <= 60 * attempts.MINUTES
    assert tried.must_wait_for_links("192.0.2.2") == 0


def test_presses_are_limited_to_what_hands_can_do() -> None:
    tried = Attempts()
    allowed = sum(tried.may_press(1) for _ in range(3 * attempts.PRESSES_PER_PERSON.amount))
    # A minute may have ended meanwhile.
    assert attempts.PRESSES_PER_PERSON.amount <= allowed <= 2 * attempts.PRESSES_PER_PERSON.amount
    assert tried.may_press(2)
