"""The pages of the documentation, taken apart: blocks of code, links, headings."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT

PAGES = sorted(
    [
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "docs" / "tutorials").glob("*.md"),
        *(ROOT / "docs" / "decisions").glob("*.md"),
        *(ROOT / "benchmarks" / "results").glob("*.md"),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    ]
)
READMES = sorted(ROOT.glob("*/README.md"))
"""The pages about rooms of the code, which are not on the site."""
_BLOCK = re.compile(r"^ *```(\w*)\n(.*?)^ *```", flags=re.S | re.M)
_LINK = re.compile(r"\[(?:[^]]*)\]\(([^)\s]+)\)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code of a page in this language, in their order."""
    return [text for kind, text in _BLOCK.findall(page.read_text()) if kind == language]


def languages(page: Path) -> set[str]:
    return {kind for kind, _ in _BLOCK.findall(page.read_text())}


def links(page: Path) -> list[str]:
    """Links of a page, including images, outside code."""
    words = re.sub(r"`[^`\n]*`", "", _BLOCK.sub("", page.read_text()))
    return _LINK.findall(words)


def anchors(page: Path) -> set[str]:
    """The anchors of headings, as both the site and the repository make them."""
    text = _BLOCK.sub("", page.read_text())
    found = set()
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.M):
        words = re.sub(r"[`*]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        repository = re.sub(r"[^\w\s-]", "", words).replace(" ", "-")
        site = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", words))
        if repository == site:
            found.add(site)
    return found


def commands(page: Path) -> list[str]:
    """The lines that a page tells people to type; one that ends in a backslash continues on the next."""
    return [
        line.strip()
        for block in blocks(page, "console")
        for line in block.replace("\\\n", " ").splitlines()
        if line.strip()
    ]
