"""The strategies in words: what each asks first, and why a row is asked."""

from __future__ import annotations

NAMES = {
    "apl": "APL: could change most predictions",
    "pl": "PL: as APL, computed exactly (slower)",
    "mw": "MW: most predictions rest on it",
    "mp": "MP: has the most candidates",
    "act": "ACT: lies farthest from the exact rows",
    "random": "RD: drawn at random",
}
"""Every strategy a project can choose, the default first."""

_FIRST = {
    "mw": "Most predictions rest on this row",
    "mp": "This row has the most candidates",
    "act": "This row lies farthest from the exact ones",
    "random": "This row was drawn at random",
}


def reason(strategy: str, decides: int, undecided: int) -> str:
    """One or two sentences: why this row, and what the answer could do."""
    first = f"{_FIRST[strategy]}. " if strategy in _FIRST else ""
    if undecided == 0:
        return f"{first}No answer can change a prediction any more; only the row's own label is still open."
    if decides == 0:
        return (
            f"{first}No single answer here can change one of the {undecided:,} undecided predictions; "
            "the row's own label is still open."
        )
    return f"{first}Your answer could change {decides:,} of {undecided:,} undecided predictions."
