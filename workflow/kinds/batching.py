"""What a kind of project says of rows that are confirmed together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol


class Batching(Protocol):
    """learner : of the kind      annotator : whoever is to confirm, as the learner names them      rows : by number"""

    def find_sure(self, learner: Any, annotator: str, barred: Collection[int]) -> tuple[str, list[int]] | str:
        """The label that the model is surest of, and the rows with it that this annotator can be asked about together,
        the surest first; or, where it is sure of too few, a sentence that says why there are none.

        barred : rows that are not to be among them
        """

    def may_stand(self, learner: Any, annotator: str, row: int, label: str) -> bool:
        """Whether the row may be put before this annotator together with others, to confirm this label: nobody has
        answered it who answers for themselves, it is no blind check, and they have not put it aside."""

    def may_confirm(self, learner: Any, annotator: str, row: int, label: str) -> bool:
        """Whether this annotator can still say so of a row that was put before them."""

    def name_now(self, learner: Any, label: str) -> str:
        """The present name of a class that was named so when the rows were put before somebody."""

    def labels_of(self, learner: Any, annotator: str, rows: Sequence[int]) -> Mapping[str, int]:
        """{label: for how many of these rows it can be confirmed}, those first that the model gives most of them."""

    def shares(self, learner: Any, rows: Sequence[int], label: str) -> list[tuple[float, str | None]]:
        """Of each row the model's share of this label, as its question would show it, and the label that it gives."""

    def checked(self, learner: Any, at_least: float) -> tuple[int, int]:
        """(right, all) of the rows with a known label, which the model has not learnt from, in which its share of a
        label reaches this much."""
