"""Our own Streamlit components: a JavaScript module that draws, with its style sheets. All are next to this
file."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

# Bundle JavaScript modules into one file, so that the browser needs one request instead of one per import.
# Each module becomes a function that is called once, after those it imports, and returns its exports. Only
# lines that begin with import or export are parsed. Few forms are allowed and all others are refused, so that
# the bundle behaves like the modules.

_ALL = "$joined"
_DEFAULT = "$default"
_IMPORT = re.compile(r'^import (\{[^{}"]*\}) from "(\.[^"]+)";$', re.MULTILINE)
_DECLARED = re.compile(r"^export (default )?(?=(?:const|class|function|async function) ([\w$]+)\b)", re.MULTILINE)
_VALUE = re.compile(r"^export default (?!(?:class|function|async)\b)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b|\bimport\s*[(.]|\$(?:joined|default)\b", re.MULTILINE)


def joined(modules: Mapping[str, str]) -> str:
    """One module, whose default export is {path: what the module there exports, by name}.

    modules : {path from one folder: text}; they import one another by relative paths

    Raises ValueError: a line imports or exports in another form than the message allows, a module imports one that is
    not there, or modules import one another in a circle.
    """
    for name, text in modules.items():
        for path in _imported(name, text):
            if path not in modules:
                raise ValueError(f"{name} imports {path!r}, which is not a module; there are {', '.join(modules)}.")
    order = TopologicalSorter({name: _imported(name, text) for name, text in modules.items()}).static_order()
    called = [f"{_ALL}[{json.dumps(name)}] = {_function(name, modules[name])};" for name in order]
    return "\n".join([f"const {_ALL} = {{}};", *called, f"export default {_ALL};\n"])


def _imported(name: str, text: str) -> list[str]:
    return [_path(name, one) for _, one in _IMPORT.findall(text)]


def _path(importer: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), address))


def _function(name: str, text: str) -> str:
    """Return the JavaScript call that returns the module's exports."""
    rest = _VALUE.sub("", _DECLARED.sub("", _IMPORT.sub("", text)))
    if other := _OTHER.search(rest):
        line = rest[rest.rfind("\n", 0, other.start()) + 1 :].partition("\n")[0]
        raise ValueError(
            f"{name}: {line.strip()!r} cannot be joined with other modules. Allowed are import {{ names }} from "
            '"./path.js"; and export, also default, before const NAME, class NAME, function NAME or async function '
            "NAME, and export default VALUE, each at the beginning of a line. "
            f"The names {_ALL} and {_DEFAULT} are taken. Fix: write it in one of these forms."
        )
    exported = [f"default: {one}" if default else one for default, one in _DECLARED.findall(text)]
    body = _IMPORT.sub(lambda found: _taken(name, *found.groups()), text)
    body, values = _VALUE.subn(f"const {_DEFAULT} = ", _DECLARED.sub("", body))
    exported += [f"default: {_DEFAULT}"] * values
    return f"(() => {{\n{body}return {{ {', '.join(exported)} }};\n}})()"


def _taken(importer: str, names: str, address: str) -> str:
    """Return an import as a destructuring of a module that was called before."""
    taken = re.sub(r"\s+as\s+", ": ", names)
    return f"const {taken} = {_ALL}[{json.dumps(_path(importer, address))}];"


# The JavaScript modules of the pages, bundled into one file at an address that includes a hash of its
# content. Pages take the address from here and the server's route takes the content, so that the two agree.

PATH = "/scripts"
"""Path at which the server serves it."""

# Two lines, because Streamlit takes a single line with a slash for a file path.
_START = """const {{ default: modules }} = await import(new URL({address}, document.baseURI));
export default modules[{name}].default;
"""


@dataclass(frozen=True)
class Scripts:
    """All modules below one folder.

    contents : {path in the folder: text of the module}      joined : all of them as one
    version : a hash of `joined`, part of the address: a browser may cache that address for ever
    """

    contents: Mapping[str, str]
    joined: bytes
    version: str

    @property
    def address(self) -> str:
        """Return the address of the bundle relative to a page."""
        return f"{PATH.lstrip('/')}/{self.version}.js"

    def start(self, name: str) -> str:
        """Return a module that re-exports the default export of one of these. name : such as
        "one_label/card.js"

        Raises KeyError: there is no such module.
        """
        if name not in self.contents:
            raise KeyError(f"There is no JavaScript module {name!r}; there are {', '.join(self.contents)}.")
        return _START.format(address=json.dumps(self.address), name=json.dumps(name))


@cache
def scripts_in(folder: Path) -> Scripts:
    """Read the modules below this folder, once: a running server serves what it started with."""
    contents = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.js"))}
    content = joined(contents).encode()
    return Scripts(contents, content, hashlib.sha256(content).hexdigest()[:16])


_HERE = Path(__file__).parent


def component(name: str, entry: str, styles: Sequence[str] = (), *, html: str | None = None) -> ComponentRenderer:
    """Register a component; once, at the top level of a module.

    entry : the JavaScript module whose default export Streamlit calls      styles : CSS files, in the order in which
    they count; both as paths from this folder      html : constant text, nothing of a user's
    """
    return st.components.v2.component(
        name,
        # Streamlit sends this text with every redraw, so it is only two lines; the browser caches what they
        # import.
        js=scripts_in(_HERE).start(entry),
        css="\n".join((_HERE / style).read_text(encoding="utf-8") for style in styles) or None,
        html=html,
    )
