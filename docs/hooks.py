"""Messages of MkDocs when it builds the site: files outside of docs/ that pages link to, and the API reference.

On the site docs/ is the top; README.md stays in the repository, since index.md is the front door there. A link to a
file that the site does not have (code, licence) becomes its words. The API reference has a page for each class, and
one for the functions of each package: they are generated from the names in `__all__`, and api.md lists them.
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "benchmarks/results/*.md", "benchmarks/results/*.svg")
_LINK = re.compile(r"(?P<picture>!?)\[(?P<words>[^]]*)\]\((?P<target>[^)\s]+)\)")
_BLOCK = re.compile(r"(^ *```.*?^ *```)", flags=re.S | re.M)
_ELSEWHERE = re.compile(r"[a-z]+:|#")
PACKAGES = ("plcore", "plcore.evaluation", "plcore.query", "plcore.crowd", "plcore.sensing", "plcore.tables")
"""The public packages of the library, in the order of the reference."""
REFERENCE = "api.md"


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


def source_of(module: str) -> ast.Module:
    """Parse a module or a package's `__init__.py`: the reference is built without the library's requirements."""
    path = ROOT.joinpath(*module.split("."))
    return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())


def definition(module: str, name: str) -> ast.stmt | None:
    """Return the statement that defines this name, followed through imports; None if it is a package or a value."""
    for node in ast.walk(source_of(module)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.module:
            for one in node.names:
                if (one.asname or one.name) == name and not ROOT.joinpath(*node.module.split("."), one.name).is_dir():
                    return definition(node.module, one.name)
    return None


def public_names(package: str) -> tuple[list[str], list[str]]:
    """Return the public classes of a package, and its public functions."""
    tree = source_of(package)
    lists = (
        one.value
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and one.targets[0].id == "__all__"
    )
    classes, functions = [], []
    for name in ast.literal_eval(next(lists)):
        found = definition(package, name)
        if isinstance(found, ast.ClassDef):
            classes.append(name)
        elif isinstance(found, ast.FunctionDef):
            functions.append(name)
    return classes, functions


def api_pages() -> dict[str, str]:
    """Return the text of every generated page of the reference, by its path on the site."""
    pages: dict[str, str] = {}
    for package in PACKAGES:
        classes, functions = public_names(package)
        pages |= {f"api/{package}.{name}.md": f"# {name}\n\n::: {package}.{name}\n" for name in classes}
        if functions:
            listed = "\n\n".join(f"::: {package}.{name}" for name in functions)
            pages[f"api/{package}.md"] = f"# Functions of {package}\n\n{listed}\n"
    return pages


def api_list() -> str:
    """Return the contents of the reference: each class with the first line of its docstring, and the functions."""
    parts = []
    for package in PACKAGES:
        classes, functions = public_names(package)
        parts.append(f"## {package}\n")
        for name in classes:
            about = ast.get_docstring(definition(package, name)) or ""  # type: ignore[arg-type]
            parts.append(f"- [`{name}`](api/{package}.{name}.md): {about.partition(chr(10))[0]}")
        if functions:
            named = ", ".join(f"[`{name}`](api/{package}.md#{package}.{name})" for name in functions)
            parts.append(f"- Functions: {named}")
        parts.append("")
    return "\n".join(parts)


def on_files(files: Any, config: Any) -> Any:
    """Add the linked files outside docs/, and the pages of the reference, to the files that MkDocs has found."""
    from mkdocs.structure.files import File

    for path in beside():
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    for path, text in api_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """MkDocs has read a page."""
    path = page.file.src_uri
    if path.startswith("api/"):
        return markdown
    if path == REFERENCE:
        return f"{markdown}\n{api_list()}"
    return relinked(markdown, path if path in beside() else f"docs/{path}")
