"""What the site is made of besides the folder docs, and where links lead there."""

from __future__ import annotations

import re

import pytest

from docs import hooks
from tests.conftest import ROOT
from tests.docs.pages import PAGES, links, name_of


def test_the_files_beside_are_there_and_are_those_that_pages_link_to() -> None:
    beside = hooks.beside()
    assert {"CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/results/table8.md"} <= set(beside)
    assert all((ROOT / path).is_file() for path in beside)


def test_every_decision_is_listed_by_topic() -> None:
    """Each once, under its number."""
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"^- \[(\d+)\. .+\]\((0.+\.md)\)$", (folder / "README.md").read_text(), flags=re.M)
    there = [(path.read_text().split(".")[0].removeprefix("# "), path.name) for path in folder.glob("0*.md")]
    assert sorted(listed) == sorted(there)


@pytest.mark.parametrize(
    ("at", "written", "there"),
    [
        ("docs/papers.md", "[t](../benchmarks/results/table8.md)", "[t](benchmarks/results/table8.md)"),
        ("docs/papers.md", "[r](researcher.md#a-first-run)", "[r](researcher.md#a-first-run)"),
        ("docs/developer.md", "[d](decisions)", "[d](decisions/README.md)"),
        ("docs/architecture.md", "[README.md](../README.md)", "[README.md](index.md)"),
        ("docs/decisions/0001-rooms.md", "[a](../architecture.md)", "[a](../architecture.md)"),
        ("docs/decisions/0016-x.md", "[m](../../benchmarks/results/a.svg)", "m"),
        (
            "docs/decisions/0016-x.md",
            "![m](../../benchmarks/results/seconds.svg)",
            "![m](../benchmarks/results/seconds.svg)",
        ),
        ("CONTRIBUTING.md", "[who](docs/access.md)", "[who](access.md)"),
        ("CONTRIBUTING.md", "under the [licence](LICENSE) of", "under the licence of"),
        ("benchmarks/results/seconds.md", "![s](seconds.svg)", "![s](seconds.svg)"),
        ("docs/comparison.md", "[c](https://example.org) [h](#here)", "[c](https://example.org) [h](#here)"),
        ("docs/library.md", "```python\nx[0](../cli.py)\n```", "```python\nx[0](../cli.py)\n```"),
    ],
)
def test_links_are_as_they_have_to_be_on_the_site(at: str, written: str, there: str) -> None:
    assert hooks.relinked(written, at) == there


def test_no_page_of_the_site_links_to_what_the_site_does_not_have() -> None:
    """MkDocs says so, too, where it is installed; here it is seen without it."""
    there = {hooks.site_path(path) for path in hooks.beside()} | {"index.md"}
    there |= {
        path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*") if path.is_file()
    }
    for page in PAGES:
        name = name_of(page)
        if name == "README.md":
            continue
        copy = hooks.relinked(page.read_text(), name)
        folder = (ROOT / hooks.site_path(name)).parent
        for link in hooks._LINK.findall("".join(hooks._BLOCK.split(copy)[::2])):
            target = link[2].partition("#")[0]
            if target and not target.startswith("https:"):
                assert (folder / target).resolve().relative_to(ROOT).as_posix() in there, (name, target)
    assert links(ROOT / "docs" / "papers.md")
