"""mkdocs.yml and what `make docs` needs. The site itself is built by `make docs`, in CI too."""

from __future__ import annotations

import re
from typing import Any

import yaml

from docs import hooks
from tests.conftest import ROOT

CONFIGURATION: dict[str, Any] = yaml.safe_load((ROOT / "mkdocs.yml").read_text())


def in_menu(part: Any) -> list[str]:
    if isinstance(part, str):
        return [part]
    return [page for one in (part if isinstance(part, list) else part.values()) for page in in_menu(one)]


def test_every_page_is_in_the_menu_once() -> None:
    menu = in_menu(CONFIGURATION["nav"])
    assert len(menu) == len(set(menu))
    docs = ROOT / "docs"
    written = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert {name for name in written if not name.startswith("decisions/0")} <= set(menu)
    beside = {hooks.site_path(path) for path in hooks.beside()}
    assert all((ROOT / "docs" / page).exists() or page in beside for page in menu)


def test_nothing_is_fetched_from_elsewhere() -> None:
    assert CONFIGURATION["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript"} & set(CONFIGURATION)
    names = [one if isinstance(one, str) else next(iter(one)) for one in CONFIGURATION["plugins"]]
    assert names == ["search", "mkdocstrings"]


def test_what_is_warned_of_is_an_error_and_ci_builds_it() -> None:
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text()
    assert "make docs" in (ROOT / ".ci" / "run").read_text().splitlines()
    wanted = {"absolute_links": "warn", "unrecognized_links": "warn", "anchors": "warn"}
    assert wanted.items() <= CONFIGURATION["validation"].items()


def test_the_api_page_names_public_packages() -> None:
    named = re.findall(r"^::: ([\w.]+)$", (ROOT / "docs" / "api.md").read_text(), flags=re.M)
    assert "plcore" in named
    for name in named:
        face = ROOT.joinpath(*name.split("."), "__init__.py")
        assert "__all__" in face.read_text(), name


def test_what_the_site_needs_is_pinned() -> None:
    lines = [
        line for line in (ROOT / "requirements-docs.txt").read_text().splitlines() if line and line[0] != "#"
    ]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    names = [line.partition("==")[0].lower() for line in lines]
    assert {"mkdocs", "mkdocs-material", "mkdocstrings", "mkdocstrings-python"} <= set(names)
    assert len(names) == len(set(names))
