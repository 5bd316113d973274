"""Modules that are joined do what they do one by one: the same names, the same functions, in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pages.parts.components import joined, scripts_in
from web.scripts import FOLDER

LOOK = """
const seen = {};
for (const [name, one] of Object.entries(JOINED)) {
  seen[name] = {};
  for (const [key, value] of Object.entries(one)) seen[name][key] = [typeof value, value?.name ?? null, String(value)];
}
console.log(JSON.stringify(seen));
"""
"""What each module exports, in words; of functions their text."""


def run(folder: Path, script: str) -> Any:
    """What a script prints as JSON, run by Node beside the files of this folder."""
    node = shutil.which("node")
    assert node, "The tests of the JavaScript need Node.js 20 or newer: https://nodejs.org"
    (folder / "look.mjs").write_text(script)
    done = subprocess.run([node, "look.mjs"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def both(folder: Path, modules: Mapping[str, str]) -> tuple[Any, Any]:
    """What the modules export one by one, and joined."""
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "joined.mjs").write_text(joined(modules))
    all_of_them = ", ".join(f'"{name}": await import("./{name}")' for name in modules)
    apart = run(folder, f"const JOINED = {{ {all_of_them} }};{LOOK}")
    return apart, run(folder, f'import JOINED from "./joined.mjs";{LOOK}')


def test_those_of_the_pages_are_the_same(tmp_path: Path) -> None:
    apart, together = both(tmp_path, scripts_in(FOLDER).contents)
    assert together == apart
    assert together["one_label/card.js"].keys() == {"default"}
    assert together["card/keys.js"]["onKey"][0] == "function"
    assert sum(len(one) for one in together.values()) > 100


def test_every_form_is_taken_and_names_are_each_modules_own(tmp_path: Path) -> None:
    apart, together = both(
        tmp_path,
        {
            "z.js": "// export nothing\nconst own = 1;\nexport const $one = own;\nexport class Two {}\n",
            "b/a.js": 'import { $one as own, Two } from "../z.js";\nimport {\n  three,\n  four,\n} from "./c.js";\n'
            "const text = `no\n  import of it`;\nexport default [own, Two.name, three(), typeof four, text].join();\n",
            "b/c.js": 'import { default as own } from "../own.js";\nexport function three() {\n  return own(1);\n}\n'
            "export async function four() {\n  await null;\n}\n",
            "own.js": "export default function own(x) {\n  return -x;\n}\n",
            "last.js": "export default class Last {}",
        },
    )
    assert together == apart
    assert together["b/a.js"]["default"][2] == "1,Two,-1,function,no\n  import of it"


def test_a_module_is_called_once_and_after_those_that_it_imports(tmp_path: Path) -> None:
    """Whatever the order of their names; so that what one keeps all see."""
    first = "export const kept = [];\n"
    adding = 'import {{ kept }} from "./z.js";\nkept.push("{0}");\nexport const {0} = kept.length;\n'
    modules = {"a.js": adding.format("a"), "b.js": adding.format("b"), "z.js": first}
    _, together = both(tmp_path, modules)
    assert together["z.js"]["kept"][2] == "a,b"
    assert [together[f"{name}.js"][name][2] for name in "ab"] == ["1", "2"]


@pytest.mark.parametrize(
    "line",
    [
        'import "./b.js";',
        'import b from "./b.js";',
        'import * as b from "./b.js";',
        'import { b } from "elsewhere";',
        'import { b } from "./b.js"',
        'export { b } from "./b.js";',
        'export * from "./b.js";',
        "export { b };",
        "export let b = 1;",
        "export var b = 1;",
        "export const { b } = c;",
        "export function* b() {}",
        "export default function () {}",
        "export default class {}",
        "export default async () => {};",
        "const b = await import(c);",
        "const b = import.meta.url;",
        "const $joined = 1;",
        "const $default = 1;",
    ],
)
def test_another_form_is_refused_with_the_forms_that_there_are(line: str) -> None:
    with pytest.raises(
        ValueError, match=r"^card/a\.js: '.*' cannot be joined .* Allowed are .* Fix: "
    ) as refusal:
        joined({"card/a.js": f"// @ts-check\n\n{line}\nconst d = 1;\n", "card/b.js": "export const b = 1;\n"})
    assert line in str(refusal.value)


def test_what_is_not_there_is_not_imported() -> None:
    with pytest.raises(
        ValueError, match=r"card/a.js imports 'b.js', which is no module; there are card/a.js\."
    ):
        joined({"card/a.js": 'import { b } from "../b.js";\n'})


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="cycle"):
        joined(
            {
                one: f'import {{ b }} from "./{other}";\n'
                for one, other in (("a.js", "b.js"), ("b.js", "a.js"))
            }
        )
