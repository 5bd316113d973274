"""Refusals for programs."""

from __future__ import annotations

from web.problems import no_call, problem


def test_a_problem_is_what_rfc_9457_says() -> None:
    said = problem(404, "There is none.", {"retry-after": "5"})
    assert (said.status_code, said.media_type) == (404, "application/problem+json")
    assert said.headers["retry-after"] == "5"
    assert bytes(said.body) == (
        b'{"type":"about:blank","title":"Not Found","status":404,"detail":"There is none."}'
    )


def test_half_of_a_character_can_be_sent_back() -> None:
    assert b"got ?" in bytes(problem(422, "got \ud800").body)


def test_an_address_that_is_none_is_told_where_they_stand() -> None:
    said = no_call(405, {"allow": "GET"})
    assert (said.status_code, said.headers["allow"]) == (405, "GET")
    assert b"Method Not Allowed: there is no such call. Fix: take one that /api/v1/docs lists" in bytes(
        said.body
    )
