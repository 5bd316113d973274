"""Whether what is stored may be what an answer said, also where it is stored as another kind."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from workflow.answering.asked import Saved


def saved(kind: str, labels: str = "", denied: str = "") -> Saved:
    return Saved(3, kind, 0, "r0", tuple(labels), repeated=True, denied=tuple(denied))


@pytest.mark.parametrize(
    ("stored", "kind", "labels"),
    [
        (saved("is", "a"), "is", "a"),
        (saved("among", "ab"), "among", "ba"),
        (saved("is", "a"), "none", "ac"),
        (saved("among", "ab"), "none", "ab"),
        (saved("none"), "none", ""),
        (saved("unsure", "a"), "unsure", ""),
        (saved("yes", "ab", "c"), "labels", "ab"),
        (saved("yes", "a"), "labels", "ab"),
        (saved("no", "abc"), "labels", ""),
        (saved("no", "a"), "labels", "b"),
    ],
)
def test_it_may_be(stored: Saved, kind: str, labels: Sequence[str]) -> None:
    assert stored.may_be(kind, labels)


@pytest.mark.parametrize(
    ("stored", "kind", "labels"),
    [
        (saved("is", "a"), "is", "b"),
        (saved("is", "a"), "among", "a"),
        (saved("is", "a"), "none", ""),
        (saved("is", "a"), "none", "b"),
        (saved("not", "a"), "none", "a"),
        (saved("yes", "ab", "c"), "labels", "abc"),
        (saved("yes", "ab", "c"), "labels", "a"),
        (saved("no", "abc"), "labels", "a"),
        (saved("skip"), "labels", ""),
        (saved("unsure", "a"), "skip", ""),
    ],
)
def test_it_may_not_be(stored: Saved, kind: str, labels: Sequence[str]) -> None:
    assert not stored.may_be(kind, labels)
