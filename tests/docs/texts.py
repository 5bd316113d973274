"""All texts of the product, by kind, and a seeded sample of them.

Draw the sample that is judged in `tests/docs/sample.tsv`: `.venv/bin/python -m tests.docs.texts SEED COUNT`.
"""

from __future__ import annotations

import ast
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from tests.conftest import ROOT

NOT_OURS = re.compile(r"package-lock|^node_modules|/data/|\.tsv$|^LICENSE|^CHANGELOG\.md$")
"""Files that others wrote, data, and the changelog, which is edited separately."""
_MARKDOWN = {"docs/decisions/": "decisions", "benchmarks/results/": "benchmark pages"}
REASONS = "reasons"
"""Text below the title of a decision: some rules do not apply to it."""
COMMITS = "commit subjects"
"""Of the last 200 commits: the sample has them, but rules cannot change them."""
_CODE = re.compile(r"[<>{}\\^]|\(\?|^[^ ]+$")
"""Strings that no one reads as text: HTML, patterns, single words with hyphens."""
_STRINGS = {"pages": "page texts", "cli": "command line", "winnow_labels": "command line", "app": "command line"}
_STRING_OR_COMMENT = re.compile(
    r"""(?s:"{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|#[^\r\n]*"""
)
_TEST = re.compile(r"^ *def (test_\w+)", re.M)
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\[])")


class Text(NamedTuple):
    """A text with its kind and its location."""

    kind: str
    path: str
    line: int
    words: str


def tracked() -> list[str]:
    """Paths of the files under version control, relative to the repository."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for path in done.stdout.splitlines() if not NOT_OURS.search(path) and (ROOT / path).is_file()]


def commit_subjects() -> list[Text]:
    """Subjects of the last 200 commits; fewer in a shallow clone."""
    log = ["git", "log", "-200", "--format=%h %s"]
    done = subprocess.run(log, cwd=ROOT, capture_output=True, text=True, check=True)
    commits = (line.split(" ", 1) for line in done.stdout.splitlines())
    return [Text(COMMITS, commit, 1, subject) for commit, subject in commits]


@cache
def texts() -> tuple[Text, ...]:
    """Every text of the repository, once per location."""
    found: list[Text] = []
    for path in tracked():
        if path.endswith(".py"):
            found += python_texts(path, (ROOT / path).read_text())
        elif path.endswith(".md"):
            found += markdown_texts(path, (ROOT / path).read_text())
        elif path.endswith((".js", ".ts", ".mjs", ".css")):
            found += script_texts(path, (ROOT / path).read_text())
        elif path.endswith((".toml", ".yml", ".yaml", "Makefile", "Containerfile", ".service", ".conf", ".ini")):
            found += comment_lines(path, (ROOT / path).read_text())
    return tuple(found)


def python_texts(path: str, source: str) -> Iterator[Text]:
    """Yield docstrings, test names, comments, and strings of three words or more."""
    found = list(strings_and_comments(source))
    if path.startswith(("tests/", "benchmarks/", "db/migrations")):
        for name in _TEST.finditer(source):
            yield Text("test names", path, source.count("\n", 0, name.start(1)) + 1, name[1])
        for line, alone, words in found:
            if alone and words.startswith('"""'):
                yield Text("docstrings", path, line, one_line(words[3:-3]))
    else:
        nodes, docstrings = list(ast.walk(ast.parse(source))), set()
        for node in nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                docstrings.add(id(node.value))
                if isinstance(node.value.value, str):
                    yield Text("docstrings", path, node.lineno, one_line(node.value.value))
        kind = _STRINGS.get(path.split("/")[0].removesuffix(".py"), "messages")
        yield from (Text(kind, path, line, words) for line, words in strings(nodes, docstrings) if is_prose(words))
    run: list[tuple[int, str]] = []
    for number, alone, comment in found:
        if not comment.startswith("#"):
            continue
        words = comment.lstrip("# ").strip()
        if re.match(r"(?:type|noqa|pragma|fmt|mypy|ruff)\b", words):
            continue
        if run and number == run[-1][0] + 1 and alone:
            run.append((number, words))
            continue
        yield from joined(path, run)
        run = [(number, words)]
    yield from joined(path, run)


def strings_and_comments(source: str) -> Iterator[tuple[int, bool, str]]:
    """Yield the line of each string and comment of a Python file, whether it is alone on its lines, and its text as it
    is written. Like `tokenize`, which takes twenty times as long; a syntax tree, for the files of tests, takes six."""
    number, end = 1, 0
    for found in _STRING_OR_COMMENT.finditer(source):
        number += source.count("\n", end, found.start())
        end = found.start()
        before = source[source.rfind("\n", 0, end) + 1 : end]
        yield number, before.strip() in ("", "r") and source[found.end() : found.end() + 1] in ("", "\n"), found.group()


def joined(path: str, run: list[tuple[int, str]]) -> Iterator[Text]:
    """Yield the comment that consecutive lines make."""
    words = " ".join(words for _, words in run)
    if is_prose(words):
        yield Text("comments", path, run[0][0], words)


def strings(nodes: list[ast.AST], docstrings: set[int]) -> Iterator[tuple[int, str]]:
    """Yield string constants with their lines; an f-string with `…` for its values."""
    inside: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in ast.walk(node)} - {id(node)}
            parts = [str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values]
            if id(node) not in inside:
                yield node.lineno, one_line("".join(parts))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (inside | docstrings):
            yield node.lineno, one_line(node.value)


def markdown_texts(path: str, source: str) -> Iterator[Text]:
    """Yield the sentences outside blocks of code, with headings and cells of tables."""
    kind = next((kind for folder, kind in _MARKDOWN.items() if path.startswith(folder)), "docs")
    if path.startswith("docs/decisions/0"):
        kind, title = REASONS, source.splitlines()[0].lstrip("# 0123456789.")
        yield Text("decisions", path, 1, title)
    start, lines, fenced = 1, [], False
    for number, line in enumerate([*source.splitlines(), ""], start=1):
        fence = line.lstrip().startswith("```")
        if fenced or fence or not line.strip() or line.startswith(("|", "#", "- ")) or re.match(r"\d+\. ", line):
            paragraph = one_line(" ".join(lines))
            yield from (Text(kind, path, start, part) for part in _SENTENCE.split(paragraph) if is_prose(part))
            lines = []
        fenced ^= fence
        if fenced or fence or not line.strip():
            continue
        if line.startswith("|"):
            yield from (
                Text(kind, path, number, cell.strip()) for cell in line.strip("| ").split("|") if is_prose(cell)
            )
            continue
        start = start if lines else number
        lines.append(re.sub(r"^(?:#+ |- |\d+\. )", "", line))


def script_texts(path: str, source: str) -> Iterator[Text]:
    """Yield comments, and strings with spaces, of JavaScript and style sheets."""
    for found in re.finditer(r"/\*(.*?)\*/|(?:^|\s)//([^\n]*(?:\n\s*//[^\n]*)*)", source, flags=re.S):
        words = one_line(re.sub(r"^\s*(?://|\*)", "", found.group(1) or found.group(2) or "", flags=re.M))
        if is_prose(words):
            yield Text("comments", path, source.count("\n", 0, found.start()) + 1, words)
    bare = re.sub(r"/\*.*?\*/|(?:^|\s)//[^\n]*", lambda found: "\n" * found.group().count("\n"), source, flags=re.S)
    if not path.startswith("tests/") and not path.endswith(".css"):
        for found in re.finditer(r'"([^"\n]*)"|`([^`]*)`', bare):
            words = one_line(re.sub(r"\$\{[^}]*\}", "…", found.group(1) or found.group(2) or ""))
            if is_prose(words) and not re.search(r"[<>{}=]", words):
                yield Text("page texts", path, bare.count("\n", 0, found.start()) + 1, words)


def comment_lines(path: str, source: str) -> Iterator[Text]:
    """Yield the comments of a file of settings."""
    for number, line in enumerate(source.splitlines(), start=1):
        found = re.search(r"(?:^|\s)##? +(.*)", line)
        if found and is_prose(found.group(1)):
            yield Text("comments", path, number, found.group(1))


def one_line(words: str) -> str:
    return re.sub(r"\s+", " ", words).strip()


def is_prose(words: str) -> bool:
    """Whether a text has three words, with a lower-case one among them."""
    plain = re.findall(r"(?<![\w./`])[A-Za-z][a-z']+(?![\w/`])", words)
    return len(plain) >= 3 and not re.match(r"[a-z]+(?:-[a-z]+)* [a-z]+: ", words)


def sample(seed: int, count: int = 300) -> list[Text]:
    """Draw texts, equally many of each kind, without repeats of the same words."""
    drawing = random.Random(seed)
    kinds: dict[str, dict[str, Text]] = defaultdict(dict)
    for text in (*texts(), *commit_subjects()):
        if text.kind in ("page texts", "command line", "messages") and _CODE.search(text.words):
            continue
        kinds["decisions" if text.kind == REASONS else text.kind].setdefault(text.words, text)
    drawn: list[Text] = []
    for place, kind in enumerate(sorted(kinds)):
        share = count // len(kinds) + (place < count % len(kinds))
        drawn += drawing.sample(sorted(kinds[kind].values()), min(share, len(kinds[kind])))
    return drawn


if __name__ == "__main__":
    for number, text in enumerate(sample(*map(int, sys.argv[1:])), start=1):
        print(f"{number}\t{text.kind}\t{text.path}:{text.line}\t{text.words}")  # noqa: T201
