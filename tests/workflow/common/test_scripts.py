"""The addresses of the JavaScript modules: each names what is in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from workflow.common.scripts import scripts_in


def version(folder: Path, files: dict[str, str]) -> str:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return scripts_in(folder).version


def test_another_content_or_name_is_another_version(tmp_path: Path) -> None:
    first = {"a.js": "export {}", "b/c.js": ""}
    same = {**first, "page.py": "no script", "card.css": "no script"}
    assert version(tmp_path / "first", first) == version(tmp_path / "same", same)
    others = [{**first, "a.js": "export { }"}, {**first, "d.js": ""}, {"a.js": "export {}", "b/d.js": ""}]
    found = {version(tmp_path / str(place), files) for place, files in enumerate([first, *others])}
    assert len(found) == 4


def test_an_address_is_that_of_a_module_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("export {}")
    scripts = scripts_in(tmp_path)
    assert scripts.address("a.js") == f"scripts/{scripts.version}/a.js"
    with pytest.raises(KeyError, match=r"no JavaScript module 'b.js'; there are a.js"):
        scripts.address("b.js")


def test_a_module_comes_with_all_that_it_and_those_import(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.js").write_text(
        'import { one } from "./b/c.js";\n/** @import { T } from "./types.js" */\nconst x = "./d.js";\n'
    )
    (tmp_path / "b" / "c.js").write_text('import {\n  one,\n  two,\n} from "../e.js";\nimport "./c.js";\n')
    for name in ("d.js", "e.js"):
        (tmp_path / name).write_text('export function one() { return "./d.js"; }\n')
    scripts = scripts_in(tmp_path)
    assert scripts.with_imports("a.js") == ["a.js", "b/c.js", "e.js"]
    assert scripts.with_imports("e.js") == ["e.js"]
