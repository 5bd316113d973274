"""Numbers and times as text, and shortened long texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


def ago(moment: datetime) -> str:
    """Return a time in the past, such as "3 minutes ago"."""
    return f"{span(datetime.now(UTC) - moment)} ago"


def span(length: timedelta) -> str:
    """Return a length of time in its largest sensible unit, such as "2 hours"."""
    seconds = length.total_seconds()
    for limit, size, name in ((90, 1, "second"), (5400, 60, "minute"), (129600, 3600, "hour")):
        if seconds < limit:
            return counted(max(1, round(seconds / size)), name)
    return counted(round(seconds / 86400), "day")


def counted(count: int, name: str, several: str | None = None) -> str:
    """Return a number of things, such as "1 row", "2 rows". several : if it is not the name with an s"""
    return f"{count:,} {name if count == 1 else several or f'{name}s'}"


def either(count: int, one: str, several: str) -> str:
    """Return the word that agrees with a count: one for 1, several for others."""
    return one if count == 1 else several


def percent(share: float, digits: int = 0) -> str:
    """Return a share in [0, 1], such as "87%". digits : after the point"""
    return f"{100 * share:.{digits}f}%"


def between(low: float, high: float, digits: int = 0) -> str:
    """Return a range of shares, such as "84 to 90%"."""
    return f"{100 * low:.{digits}f} to {percent(high, digits)}"


def about(count: float) -> str:
    """Return a number known to two digits, such as "140"."""
    digits = max(len(str(int(abs(count)))) - 2, 0)
    return f"{round(count / 10**digits) * 10**digits:,}"


def roughly(count: float, one: str) -> str:
    """Return such a number of things: "140 answers", "1 answer"."""
    return f"{about(count)} {either(round(count), one, one + 's')}"


def size(count: int) -> str:
    """Return a number of bytes, such as "12 kB"."""
    for limit, unit, name in ((1_000_000, 1_000, "kB"), (1_000_000_000, 1_000_000, "MB")):
        if count < limit:
            return f"{max(0.1, count / unit):.1f} {name}" if count < 10 * unit else f"{count / unit:.0f} {name}"
    return f"{count / 1_000_000_000:.1f} GB"


def shortened(text: str, most: int) -> str:
    """Return the beginning of the text, with an ellipsis if it is cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


# Export page texts for each kind of project.


@dataclass(frozen=True)
class ExportWords:
    """counted : what the summary counts      sources : meaning of each source      about : contents of a file

    rows : each of `workflow.exporting.files.CHOICES`      sure : which rows are confident
    nothing : shown if a choice has none
    """

    counted: str
    sources: Mapping[str, str]
    about: str
    rows: Mapping[str, str]
    sure: str
    nothing: Mapping[str, str]
