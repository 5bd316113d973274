"""The address of the JavaScript modules: it names what is in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.parts.components import Scripts, joined, scripts_in


def scripts(folder: Path, files: dict[str, str]) -> Scripts:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return scripts_in(folder)


def test_another_content_or_name_is_another_version(tmp_path: Path) -> None:
    first = {"a.js": "export const a = 1;\n", "b/c.js": ""}
    same = {**first, "page.py": "no script", "card.css": "no script"}
    others = [
        {**first, "a.js": "export const a =  1;\n"},
        {**first, "d.js": ""},
        {"a.js": "export const a = 1;\n", "b/d.js": ""},
    ]
    made = [scripts(tmp_path / str(place), files) for place, files in enumerate([first, same, *others])]
    assert made[0] == made[1]
    assert len({one.version for one in made}) == len({one.address for one in made}) == 4


def test_they_are_given_out_as_one(tmp_path: Path) -> None:
    files = {"a.js": 'import { b } from "./b/c.js";\n', "b/c.js": "export const b = 'Å';\n"}
    made = scripts(tmp_path, files)
    assert dict(made.contents) == files
    assert made.joined.decode() == joined(files)
    assert made.address == f"scripts/{made.version}.js"


def test_a_start_is_of_a_module_that_is_there(tmp_path: Path) -> None:
    made = scripts(tmp_path, {"b/a.js": "export default 1;\n"})
    assert made.start("b/a.js") == (
        f'const {{ default: modules }} = await import(new URL("{made.address}", document.baseURI));\n'
        'export default modules["b/a.js"].default;\n'
    )
    with pytest.raises(KeyError, match=r"no JavaScript module 'b.js'; there are b/a.js"):
        made.start("b.js")
