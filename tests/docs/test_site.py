"""mkdocs.yml and the requirements of `make docs`. The site itself is built by `make docs`, also in CI."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

import winnow_labels
from docs import hooks
from tests.conftest import ROOT
from tests.docs.pages import PAGES, READMES, anchors, links, name_of

CONFIGURATION: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def in_menu(part: Any) -> list[str]:
    if isinstance(part, str):
        return [part]
    return [page for one in (part if isinstance(part, list) else part.values()) for page in in_menu(one)]


def test_every_page_is_in_menu_once() -> None:
    menu = in_menu(CONFIGURATION["nav"])
    assert len(menu) == len(set(menu))
    docs = ROOT / "docs"
    written = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert {name for name in written if not name.startswith("decisions/0")} <= set(menu)
    beside = {hooks.site_path(path) for path in hooks.beside()}
    assert all((ROOT / "docs" / page).exists() or page in beside for page in menu)


def test_site_fetches_nothing_from_other_servers() -> None:
    assert CONFIGURATION["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript"} & set(CONFIGURATION)
    names = [one if isinstance(one, str) else next(iter(one)) for one in CONFIGURATION["plugins"]]
    assert names == ["search", "mkdocstrings"]


def test_ci_builds_site_with_warnings_as_errors() -> None:
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text()
    assert "make docs" in (ROOT / ".ci" / "run").read_text().splitlines()
    wanted = {"absolute_links": "warn", "unrecognized_links": "warn", "anchors": "warn"}
    assert wanted.items() <= CONFIGURATION["validation"].items()


def test_api_reference_covers_public_packages() -> None:
    assert "plcore" in hooks.PACKAGES
    for name in hooks.PACKAGES:
        face = ROOT.joinpath(*name.split("."), "__init__.py")
        assert "__all__" in face.read_text(), name


def test_api_reference_has_page_for_each_class() -> None:
    pages, listed = hooks.api_pages(), hooks.api_list()
    for package in hooks.PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            public = getattr(module, name)
            if inspect.isclass(public):
                assert pages[f"api/{package}.{name}.md"].endswith(f"::: {package}.{name}\n")
                assert f"(api/{package}.{name}.md)" in listed
            elif inspect.isfunction(public):
                assert f"::: {package}.{name}\n" in pages[f"api/{package}.md"]
                assert f"(api/{package}.md#{package}.{name})" in listed


def test_site_requirements_are_pinned() -> None:
    lines = [line for line in (ROOT / "requirements-docs.txt").read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines]
    assert {"mkdocs", "mkdocs-material", "mkdocstrings", "mkdocstrings-python"} <= set(names)
    assert len(names) == len(set(names))


# CITATION.cff has the required fields, and agrees with the package metadata.


CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_citation_has_fields_required_by_format_1_2_0() -> None:
    assert CITATION["cff-version"] == "1.2.0"
    assert all(CITATION[key] for key in ("message", "title", "authors"))
    assert CITATION["type"] in ("software", "dataset")
    for reference in CITATION["references"]:
        assert all(reference[key] for key in ("type", "title", "authors"))


def test_citation_matches_package_metadata() -> None:
    assert CITATION["version"] == winnow_labels.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["authors"] == PROJECT["authors"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert CITATION["abstract"] == f"{PROJECT['description']}."


def test_citation_and_security_contain_no_email_address() -> None:
    for name in ("CITATION.cff", "SECURITY.md"):
        assert not re.search(r"[\w.]+@[\w.]+", (ROOT / name).read_text())


# Sources of the site outside docs, and targets of its links.


def test_linked_files_outside_docs_exist() -> None:
    beside = hooks.beside()
    assert {"CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/results/table8.md"} <= set(beside)
    assert all((ROOT / path).is_file() for path in beside)


def test_every_decision_is_listed_by_topic() -> None:
    """Each exactly once, under its number."""
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"^- \[(\d+)\. .+\]\((0.+\.md)\)$", (folder / "README.md").read_text(), flags=re.M)
    there = [(path.read_text().split(".")[0].removeprefix("# "), path.name) for path in folder.glob("0*.md")]
    assert sorted(listed) == sorted(there)


def test_links_are_rewritten_for_site(subtests: pytest.Subtests) -> None:
    for at, written, there in [
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
    ]:
        with subtests.test(at):
            assert hooks.relinked(written, at) == there


def test_site_pages_link_only_to_files_of_site() -> None:
    """MkDocs reports this, too, if it is installed; here it is checked without it."""
    there = {hooks.site_path(path) for path in hooks.beside()} | {"index.md"}
    there |= {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*") if path.is_file()}
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


# Every link of every page leads to an existing file and heading. Other sites are not requested.


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


def test_every_measured_result_is_listed_in_measured() -> None:
    listed = links(ROOT / "docs" / "measured.md")
    results = sorted((ROOT / "benchmarks" / "results").glob("*.md"))
    assert len(results) > 50
    assert [one.name for one in results if f"../benchmarks/results/{one.name}" not in listed] == []


def test_link_tests_see_every_sort_of_link() -> None:
    """Otherwise the test above would check nothing."""
    found = [link for page in PAGES for link in links(page)]
    assert any("#" in link for link in found)
    assert any(link.endswith(".svg") for link in found)
    assert any(link.startswith("../benchmarks") for link in found)
    assert len(found) > 150


def test_wrong_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One, two\n\n[a](b.md) `[c](d.md)` ![e](f.svg#g)\n\n```\n[h](i.md)\n```\n\n## A – b\n")
    assert links(page) == ["b.md", "f.svg#g"]
    assert anchors(page) == {"one-two"}  # the other has two spellings, so it cannot be linked to
