"""A table of pairs of texts, in which only the premise tells two of the classes apart."""

from __future__ import annotations

_PREMISES = (
    ("an old captain steers the boat", "a young captain anchors the boat", "harbour"),
    ("an old baker kneads the dough", "a young baker slices the bread", "bakery"),
)
_HYPOTHESES = ("somebody is busy there and smiles at the others", "somebody works with both hands until the evening")
_HEAD = "id,labels,premise,hypothesis\n"


def pair(name: str, labels: str, premise: str, hypothesis: str) -> str:
    """Return a line of the table."""
    return f"{name},{labels},{premise},{hypothesis}\n"


def pairs_csv(rows: int = 24) -> bytes:
    """Return rows with an answer each, and two open rows p0 and p1 with the same hypothesis and other premises."""
    lines = [
        pair(f"p{k}", "harbour|bakery", _PREMISES[k][0] + " today", _HYPOTHESES[0] + " in this moment again")
        for k in range(2)
    ]
    for row in range(rows):
        first, second, label = _PREMISES[row % 2]
        premise = f"{second if row % 4 > 1 else first} in room {row}"
        lines.append(pair(f"r{row}", label, premise, f"{_HYPOTHESES[row // 4 % 2]} before hour {row} begins"))
    return (_HEAD + "".join(lines)).encode()


PAIRS = pairs_csv()
