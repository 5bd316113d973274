"""JavaScript modules made one file: what a browser would ask for one import after another it asks for once.

Each becomes a function of its own names that is called once, after those of what it imports, and gives what it exports.
Nothing of it is looked into but the lines that begin with import or export, and these have few forms: any other is
refused, so that what is joined does what the modules do.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from graphlib import TopologicalSorter

_ALL = "$joined"
_DEFAULT = "$default"
_IMPORT = re.compile(r'^import (\{[^{}"]*\}) from "(\.[^"]+)";$', re.MULTILINE)
_DECLARED = re.compile(
    r"^export (default )?(?=(?:const|class|function|async function) ([\w$]+)\b)", re.MULTILINE
)
_VALUE = re.compile(r"^export default (?!(?:class|function|async)\b)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|.*\bimport\s*[(.].*|.*\$(?:joined|default)\b.*", re.MULTILINE)


def joined(modules: Mapping[str, str]) -> str:
    """One module, whose default export is {path: what the module there exports, by name}.

    modules : {path from one folder: text}; they import one another by relative paths

    Raises
    ------
    ValueError
        A line imports or exports in another form than the message allows, a module imports one that is not there, or
        modules import one another in a circle.
    """
    for name, text in modules.items():
        for path in _imported(name, text):
            if path not in modules:
                raise ValueError(
                    f"{name} imports {path!r}, which is no module; there are {', '.join(modules)}."
                )
    order = TopologicalSorter({name: _imported(name, text) for name, text in modules.items()}).static_order()
    called = [f"{_ALL}[{json.dumps(name)}] = {_function(name, modules[name])};" for name in order]
    return "\n".join([f"const {_ALL} = {{}};", *called, f"export default {_ALL};\n"])


def _imported(name: str, text: str) -> list[str]:
    return [_path(name, one) for _, one in _IMPORT.findall(text)]


def _path(importer: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), address))


def _function(name: str, text: str) -> str:
    """The call, in JavaScript, that gives what the module exports."""
    rest = _VALUE.sub("", _DECLARED.sub("", _IMPORT.sub("", text)))
    if other := _OTHER.search(rest):
        raise ValueError(
            f"{name}: {other[0].strip()!r} cannot be joined with other modules. Allowed are import {{ names }} from "
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
    """An import as what takes the same names of a module that was called before."""
    taken = re.sub(r"\s+as\s+", ": ", names)
    return f"const {taken} = {_ALL}[{json.dumps(_path(importer, address))}];"
