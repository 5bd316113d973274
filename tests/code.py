"""Python files as text: their import statements, found without parsing the rest, which takes a hundred times as
long."""

from __future__ import annotations

import ast
import re

_IMPORT = re.compile(r"^[ \t]*((?:import|from)[ \t]+[\w.]+(?:[ \t]+import[ \t]*\([^)]*\)|[^\n#\"']*))", re.M)
"""A statement of formatted code: alone on its line, or in parentheses."""


def imports_in(source: str) -> list[ast.Import | ast.ImportFrom]:
    """The import statements of formatted code, inside functions and for types alone too. Lines of a text that read like
    one count as well."""
    found: list[ast.Import | ast.ImportFrom] = []
    for text in _IMPORT.findall(source):
        try:
            body = ast.parse(text.strip()).body
        except SyntaxError:  # a sentence: "from the table on"
            continue
        found += [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    return found
