"""Somebody who is away is looked for again: soon at first, then more and more seldom."""

from __future__ import annotations

from workflow.models.waiting import FIRST, LAST, Away


def test_who_is_away_is_looked_for_more_and_more_seldom() -> None:
    now = 1000.0
    away = Away(lambda: now)
    assert away.is_due, "the first time at once"
    told, waits = [], []
    for _ in range(8):
        told.append(away.missed().removeprefix("It is tried again in "))
        begun = now
        assert not away.is_due
        while not away.is_due:
            now += 1
        waits.append(now - begun)
    assert waits == [10, 20, 40, 80, 160, 300, 300, 300]
    assert (waits[0], waits[-1]) == (FIRST, LAST)
    assert told[:6] == [
        "10 seconds.",
        "20 seconds.",
        "40 seconds.",
        "80 seconds.",
        "3 minutes.",
        "5 minutes.",
    ]


def test_who_was_there_is_looked_for_soon_when_missed_again() -> None:
    now = 0.0
    away = Away(lambda: now)
    for _ in range(5):
        away.missed()
    away.there()
    assert away.is_due
    assert away.missed() == "It is tried again in 10 seconds."
    assert not away.is_due
    now = FIRST
    assert away.is_due
