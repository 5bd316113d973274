"""Every link of every page leads to a file that is there, and a heading that is on it. Nobody elsewhere is asked."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.conftest import ROOT
from tests.docs.pages import PAGES, READMES, anchors, links, name_of


def test_every_link_leads_somewhere(subtests: pytest.Subtests) -> None:
    for page in (*PAGES, *READMES):
        with subtests.test(name_of(page)):
            check_links(page)


def check_links(page: Path) -> None:
    wrong = []
    for link in links(page):
        at = urlsplit(link)
        if at.scheme:
            assert at.scheme == "https", link
            assert at.hostname, link
            continue
        target = (page.parent / at.path).resolve() if at.path else page
        there = target.exists() and target.is_relative_to(ROOT)
        if not there or (at.fragment and at.fragment not in anchors(target)):
            wrong.append(link)
    assert not wrong


def test_every_result_that_is_measured_is_told_of() -> None:
    listed = links(ROOT / "docs" / "measured.md")
    results = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    assert len(results) > 50
    assert [one.name for one in results if f"../benchmarks/results/{one.name}" not in listed] == []


def test_there_are_links_of_every_sort() -> None:
    """Or the test above would look at nothing."""
    found = [link for page in PAGES for link in links(page)]
    assert any("#" in link for link in found)
    assert any(link.endswith(".svg") for link in found)
    assert any(link.startswith("../benchmarks") for link in found)
    assert len(found) > 150


def test_a_wrong_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One, two\n\n[a](b.md) `[c](d.md)` ![e](f.svg#g)\n\n```\n[h](i.md)\n```\n\n## A – b\n")
    assert links(page) == ["b.md", "f.svg#g"]
    assert anchors(page) == {"one-two"}  # the other has two spellings, and can be linked to by none
