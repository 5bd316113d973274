"""Several people at the same questions: what projects of every kind share of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np

from plcore.common.checks import check_choice, check_int, is_real
from plcore.loop.entries import Entry

EVERYBODY = np.iinfo(np.int64).max
"""How many people a question asks for that is for all of them."""


class OverlapSettings:
    """The part of the settings by which several people answer the same. The settings of a kind are a dataclass that has
    these fields.

    overlap, overlap_share : how many people answer each question about a share in (0, 1] of the rows, drawn at random;
        one person answers each of the others
    agree : as soon as so many of them say the same, nobody else is asked; None: all are
    checks_by_all : whether blind checks are asked of everybody
    fold : by which rule several answers become one; the first of the kind's rules is "latest"
    own_since : seq of the entry after which people answer for themselves and see nothing of what others said; None:
        each answer counts after those before it
    """

    overlap: int
    overlap_share: float
    agree: int | None
    checks_by_all: bool
    fold: str
    own_since: int | None

    def check_overlap(self, folds: Sequence[str]) -> None:
        """Raise ValueError naming the setting that is wrong. folds : the rules of the kind"""
        check_choice("fold", self.fold, folds)
        check_int("overlap", self.overlap, 1)
        if self.agree is not None:
            check_int("agree", self.agree, 2)
            if self.agree > self.overlap:
                raise ValueError(f"agree must be at most overlap, {self.overlap}. Got {self.agree!r}.")
        if not is_real(self.overlap_share) or not 0 < self.overlap_share <= 1:
            raise ValueError(f"overlap_share must be in (0, 1]. Got {self.overlap_share!r}.")
        if not isinstance(self.checks_by_all, bool):
            raise ValueError(f"checks_by_all must be True or False. Got {self.checks_by_all!r}.")
        if self.own_since is not None:
            check_int("own_since", self.own_since, 0)

    @property
    def several(self) -> bool:
        """Whether people answer for themselves: several of them a question, or their answers become one by a rule."""
        return self.own_since is not None or self._wants_several

    @property
    def _wants_several(self) -> bool:
        return self.overlap > 1 or self.checks_by_all or self.fold != "latest"

    def beginning(self, earlier: Self, seq: int) -> Self:
        """These settings after the earlier ones, from the entry `seq` on. Once people have answered for themselves they
        always do: what an answer meant then is not to be read otherwise later."""
        since = seq if self._wants_several else None
        if earlier.several:
            since = earlier.own_since or 0
        made: Self = replace(cast("Any", self), own_since=since)  # the settings of every kind are a dataclass
        return made

    @property
    def overlap_parts(self) -> tuple[object, ...]:
        """What of the same log others become by these settings; of a project where nobody answers for themselves
        nothing does."""
        if not self.several:
            return ()
        return self.own_since, self.fold, self.overlap, float(self.overlap_share).hex(), self.agree


def by_person(entries: Sequence[Entry], since: int) -> dict[str, list[Entry]]:
    """{annotator: their entries} of the answers to a row, in order. Those from before people answered for themselves,
    up to the entry `since`, are one person's, who answered last then, if they have said nothing since."""
    found: dict[str, list[Entry]] = {}
    for one in entries:
        if one.seq > since:
            found.setdefault(one.annotator, []).append(one)
    together = [one for one in entries if one.seq <= since]
    if together:
        found.setdefault(together[-1].annotator, together)
    return found
