"""Messages of MkDocs when it builds the site: files outside of docs/ that pages link to, and where they are there.

On the site docs/ is the top; README.md stays in the repository, since index.md is the front door there. A link to a
file that the site does not have (code, licence) becomes its words.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/results/*.md", "benchmarks/results/*.svg")
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^]]*)\]\((?P<target>[^)\s]+)\)")
_BLOCK = re.compile(r"(^ *```.*?^ *```)", flags=re.S | re.M)
_ELSEWHERE = re.compile(r"[a-z]+:|#")


def beside() -> list[str]:
    """The files outside of docs/ that the site has, too, by their paths in the repository."""
    return sorted(path.relative_to(ROOT).as_posix() for one in _BESIDE for path in ROOT.glob(one))


def site_path(path: str) -> str:
    """A path in the repository -> that on the site."""
    if path == "README.md":
        return "index.md"
    if path == "docs/decisions":
        return "decisions/README.md"
    return path.removeprefix("docs/")


def relinked(markdown: str, at: str) -> str:
    """The text of a page with its links as they have to be on the site.

    at : the page's path in the repository
    """
    folder, here = posixpath.dirname(at), posixpath.dirname(site_path(at))
    known = {*beside(), "README.md", "docs/decisions"}

    def link(found: re.Match[str]) -> str:
        target, mark, anchor = found["target"].partition("#")
        if _ELSEWHERE.match(found["target"]):
            return found[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if not path.startswith("docs/") and path not in known:
            return found["words"]
        return f"{found['picture']}[{found['words']}]({posixpath.relpath(site_path(path), here or '.')}{mark}{anchor})"

    texts = _BLOCK.split(markdown)  # every other one is a block of code
    return "".join(text if number % 2 else _LINK.sub(link, text) for number, text in enumerate(texts))


def on_files(files: Any, config: Any) -> Any:
    """MkDocs has found the files of docs/: those next to come along."""
    from mkdocs.structure.files import File

    for path in beside():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs has read a page."""
    path = page.file.src_uri
    return relinked(markdown, path if path in beside() else f"docs/{path}")
