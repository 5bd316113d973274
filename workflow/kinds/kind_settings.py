"""What the settings of every kind of project have in common."""

from __future__ import annotations

from typing import Any, Protocol


class KindSettings(Protocol):
    """What the settings of every kind have in common. The values are plain JSON."""

    @property
    def by_row(self) -> bool:
        """Whether a question is about a whole row, not about one label of it."""

    def beginning(self, earlier: Any, seq: int) -> Any:
        """These settings after the earlier ones, from the entry `seq` on."""

    @property
    def control_share(self) -> float:
        """Share of the rows, or cells, drawn as controls, and of the questions that are about one of them."""

    def to_json(self) -> dict[str, Any]:
        """As they are stored."""


class WorkerSettings(KindSettings, Protocol):
    """Settings of a project whose model a worker trains."""

    @property
    def train_every(self) -> int:
        """Answers after which it is trained anew."""

    @property
    def train_seconds(self) -> float:
        """Seconds after an answer at which it is trained anew, however few answers there are."""
