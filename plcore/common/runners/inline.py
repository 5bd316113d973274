"""Work done where it was asked for: the default, and what the others are measured against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plcore.common.runners.runner import BlockError, J, Meanwhile, R, alone, said


class Inline:
    """A `Runner` that is the process itself."""

    def __init__(self) -> None:
        self._cancelled = False

    def map(
        self,
        function: Callable[[J], R],
        jobs: Iterable[J],
        meanwhile: Meanwhile | None = None,  # noqa: ARG002 - nobody waits beside the work
    ) -> Iterator[tuple[J, R]]:
        self._cancelled = False
        for job in jobs:
            if self._cancelled:
                return
            try:
                result = alone(function, job)
            except Exception as error:
                raise BlockError(job, said(error)) from error
            yield job, result

    def cancel(self) -> None:
        self._cancelled = True

    def close(self) -> None:
        """There is nothing to let go."""
