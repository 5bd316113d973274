"""The README's commands work, and files named in CONTRIBUTING exist. For all pages see tests/docs."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

import cli
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_make_targets_exist(name: str) -> None:
    named = set(re.findall(r"(?:^|`)make (\w+)", (ROOT / name).read_text(), flags=re.M))
    assert {"run", "test"} <= named
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M))
    assert named <= targets


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(name: str) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text())
    assert targets
    missing = [target for target in targets if not target.startswith("http") and not (ROOT / target).exists()]
    assert not missing


def test_pictures_are_kept_only_if_they_are_shown() -> None:
    """`make screenshots` creates the others, in a folder that git ignores."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        (page.parent / target).resolve().relative_to(ROOT).as_posix()
        for page in pages
        for target in re.findall(r"!\[[^]]*\]\(([^)]*\bscreens/[^)]+)\)", page.read_text())
    }
    kept = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "screens").iterdir()}
    assert shown
    assert kept == shown


def test_library_example_runs_and_learns() -> None:
    """In a process of its own: tests/packaging."""
    (example,) = blocks("python")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(example, "README.md", "exec"), {})  # noqa: S102
    before, after = map(float, re.findall(r": ([\d.]+)$", said.getvalue(), flags=re.M))
    assert after > before + 0.1


def test_commands_it_names_exist() -> None:
    named = set(re.findall(r"(?:^|`)winnow ([a-z]+)", README, flags=re.M))
    assert "serve" in named
    assert named <= set(cli.main.commands)
