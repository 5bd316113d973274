"""Parts of the import page."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts import state
from pages.parts.components import joined, scripts_in
from pages.parts.importing import uploads
from tests.pages.conftest import PATIENCE, Open, press, words
from tests.pages.file_boxes import give, take_away
from tests.workflow.importing.test_more_rows import later
from tests.workflow.world import small_project, somebody
from web.packed import FOLDER
from workflow.files import limited
from workflow.files.limited import asking
from workflow.importing import arrivals
from workflow.seat import Seat
from workflow.server.home import Home

# A waiting file shows how many come before it; a file whose turn does not come causes no penalty


CSV = b"id,labels,w\n1,a|b,3\n2,b,4\n3,a,5\n"


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExitStack]:
    """As many files as can be read at a time; no one waits for them."""
    monkeypatch.setattr(asking, "LONGEST", 0.0)
    with ExitStack() as turns:
        for _ in range(asking.AT_ONCE):
            turns.enter_context(asking.IMPORTS.turn())
        yield turns


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (0, None),
        (1, "1 other file comes before this one. It is read when its turn comes"),
        (3, "3 other files come before this one. It is read when its turn comes"),
    ],
)
def test_queue_length_of_uploads_is_shown(before: int, said: str | None) -> None:
    def page(before: int) -> None:
        import streamlit as st

        from pages.parts.importing.uploads import show

        place = st.empty()
        show(place, 2, None)
        show(place, before, None)

    test = AppTest.from_function(page, args=(before,), default_timeout=PATIENCE).run()
    assert not test.exception
    assert [one.value.startswith(said or "?") for one in test.info] == ([True] if said else [])
    if said:
        assert "if you leave it for 2 minutes, you lose your place" in test.info[0].value


def test_number_of_checked_files_is_shown() -> None:
    def page() -> None:
        import streamlit as st

        from pages.parts.importing.uploads import show

        show(st.empty(), 0, 0.25)

    test = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not test.exception
    (progress,) = test.get("progress")
    assert progress.proto.text == "Checking every file … 25%"


def test_reloaded_page_finds_file_and_its_reading(owner: int, show: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = asking.ask

    def counted(job: str, *given: object, **more: object) -> limited.Finished:
        asked.append(job)
        return ask(job, *given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(asking, "ask", counted)
    test = give(show(owner, "import_table.py"), "A table", "t.csv", CSV)
    file = test.query_params["file-import"]
    anew = show(owner, None, **{"file-import": file})
    anew.switch_page("import_table.py")
    anew.query_params["file-import"] = file
    anew.run()
    assert any(button.label == "Create project" for button in anew.button)
    assert asked == ["read", "check"]


def tried_again(test: AppTest) -> AppTest:
    press(test, "Try again")
    return test


def test_import_that_waited_too_long_can_be_retried(owner: int, show: Open, others: ExitStack) -> None:
    test = give(show(owner, "import_table.py"), "A table", "t.csv", CSV)
    (warning,) = test.warning
    assert "still before this one" in warning.value
    assert not test.error
    assert not test.info
    tried_again(test)
    assert test.warning
    others.close()
    tried_again(test)
    assert not test.warning
    assert any(button.label == "Create project" for button in test.button)


def test_more_rows_that_waited_too_long_can_be_retried(home: Home, owner: int, show: Open, others: ExitStack) -> None:
    project = small_project(home, owner)
    test = show(owner, "project_page.py", project=str(project))
    data = later(n=3).to_csv(index=False).encode()
    give(test, "A table with more rows", "more.csv", data)
    assert any("still before this one" in one.value for one in test.warning)
    others.close()
    tried_again(test)
    assert "3 new rows" in words(test)


# The box for a file: its reports, its content, and no access to other people's files


FILE_BOX_CSV = b"id,candidates,x\n" + b"".join(b"r%d,a|b,%d\n" % (number, number) for number in range(12))


@pytest.fixture
def pressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the browser: the value under a box's key is what the browser sends."""
    drawn = uploads._BOX

    def box(key: str, data: dict[str, Any], on_chosen_change: Callable[[], None]) -> None:
        if st.session_state.get(key, {}).get("chosen"):
            on_chosen_change()
            st.session_state[key] = {}
            st.rerun()
        drawn(key=f"{key}-drawn", data=data)

    monkeypatch.setattr(uploads, "_BOX", box)


def told(test: AppTest) -> dict[str, Any]:
    """Data sent to the first box."""
    proto = next(one.proto for one in test.get("bidi_component") if one.proto.component_name == "winnow_file_box")
    found: dict[str, Any] = json.loads(proto.json)
    return found


def test_empty_file_box_says_what_it_accepts(owner: int, show: Open) -> None:
    said = told(show(owner, "import_table.py"))
    assert said["label"] == "A table, or a zip of a table and its files"
    assert said["limit"] == "At most 200 MB, one file."
    assert (said["most"], said["address"], said["file"]) == (200_000_000, "uploads", None)


def test_file_stays_in_its_box_until_it_is_removed(owner: int, show: Open) -> None:
    test = give(show(owner, "import_table.py"), "A table", "birds.csv", FILE_BOX_CSV)
    assert told(test)["file"] == {"name": "birds.csv", "size": "0.1 kB"}
    test.switch_page("home.py").run()
    test.switch_page("import_table.py").run()
    assert told(test)["file"] is not None, "also while another page was shown"
    assert told(take_away(test, "A table"))["file"] is None


@pytest.mark.usefixtures("pressed")
def test_new_file_in_box_replaces_old_one(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "import_table.py")
    seat, keys = Seat(home, owner), []
    for name in ("one.csv", "two.csv"):
        coming = arrivals.begin(seat, name, len(FILE_BOX_CSV))
        coming.write(FILE_BOX_CSV)
        keys.append(coming.finish().key)
        coming.end()
    first, second = keys
    box = f"{state.FILE}-box-import"
    for key, shown in ((first, "one.csv"), (second, "two.csv"), ("", None)):
        test.session_state[box] = {"chosen": {"key": key}}
        test.run()
        assert not test.exception
        assert (told(test)["file"] or {}).get("name") == shown
    assert arrivals.find(seat, first) is None
    assert arrivals.find(seat, second) is None
    assert list(home.uploads_dir.iterdir()) == []


@pytest.mark.usefixtures("pressed")
@pytest.mark.parametrize("key", ["x" * 32, "../winnow.sqlite3", 7, None, ["a"], {"key": "a"}])
def test_invalid_file_key_is_ignored(owner: int, show: Open, key: object) -> None:
    test = show(owner, "import_table.py")
    test.session_state[f"{state.FILE}-box-import"] = {"chosen": {"key": key}}
    test.run()
    assert not test.exception
    assert told(test)["file"] is None


def test_file_of_another_person_is_hidden(home: Home, owner: int, show: Open) -> None:
    other = Seat(home, somebody(home, owner, "Ada"))
    coming = home.arrivals.begin(home.uploads_dir, other.person_id, "hers.csv", 1, arrivals.Room(10, 10, 1_000_000))
    coming.write(b"x")
    key = coming.finish().key
    coming.end()
    test = show(owner, "import_table.py")
    test.session_state[uploads.held_at("import")] = key
    test.run()
    assert told(test)["file"] is None
    assert "The file is no longer here. Choose it again." in words(test)


def test_upload_is_deleted_after_project_is_created(home: Home, owner: int, show: Open) -> None:
    test = give(show(owner, "import_table.py"), "A table", "birds.csv", FILE_BOX_CSV)
    assert len(list(home.uploads_dir.iterdir())) == 1
    press(test, "Create project")
    assert list(home.uploads_dir.iterdir()) == []
    test.switch_page("import_table.py").run()
    assert told(test)["file"] is None
    assert "no longer here" not in words(test)


# Modules that are joined do what they do one by one: the same names, the same functions, in Node


LOOK = """
const seen = {};
for (const [name, one] of Object.entries(JOINED)) {
  seen[name] = {};
  for (const [key, value] of Object.entries(one)) seen[name][key] = [typeof value, value?.name ?? null, String(value)];
}
console.log(JSON.stringify(seen));
"""
"""Exports of each module, in words; of functions their text."""


def run(folder: Path, script: str) -> Any:
    """The JSON output of a script that Node runs next to the files of this folder."""
    node = shutil.which("node")
    assert node, "The tests of the JavaScript need Node.js 20 or newer: https://nodejs.org"
    (folder / "look.mjs").write_text(script)
    done = subprocess.run([node, "look.mjs"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def both(folder: Path, modules: Mapping[str, str]) -> tuple[Any, Any]:
    """Exports of the modules, separately and joined."""
    for name, text in modules.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "joined.mjs").write_text(joined(modules))
    all_of_them = ", ".join(f'"{name}": await import("./{name}")' for name in modules)
    apart = run(folder, f"const JOINED = {{ {all_of_them} }};{LOOK}")
    return apart, run(folder, f'import JOINED from "./joined.mjs";{LOOK}')


def test_joined_page_scripts_export_what_modules_do(tmp_path: Path) -> None:
    apart, together = both(tmp_path, scripts_in(FOLDER).contents)
    assert together == apart
    assert together["one_label/card.js"].keys() == {"default"}
    assert together["card/keys.js"]["onKey"][0] == "function"
    assert sum(len(one) for one in together.values()) > 100


def test_joining_supports_every_import_form_with_separate_names(tmp_path: Path) -> None:
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


def test_joined_module_runs_once_after_its_imports(tmp_path: Path) -> None:
    """Whatever the order of their names; so its state is shared by all."""
    first = "export const kept = [];\n"
    adding = 'import {{ kept }} from "./z.js";\nkept.push("{0}");\nexport const {0} = kept.length;\n'
    modules = {"a.js": adding.format("a"), "b.js": adding.format("b"), "z.js": first}
    _, together = both(tmp_path, modules)
    assert together["z.js"]["kept"][2] == "a,b"
    assert [together[f"{name}.js"][name][2] for name in "ab"] == ["1", "2"]


def test_unsupported_import_form_is_refused_with_allowed_forms(subtests: pytest.Subtests) -> None:
    for line in [
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
    ]:
        with subtests.test(line):
            with pytest.raises(
                ValueError, match=r"^card/a\.js: '.*' cannot be joined .* Allowed are .* Fix: "
            ) as refusal:
                joined({"card/a.js": f"// @ts-check\n\n{line}\nconst d = 1;\n", "card/b.js": "export const b = 1;\n"})
            assert line in str(refusal.value)


def test_import_of_missing_module_is_refused() -> None:
    with pytest.raises(ValueError, match=r"card/a.js imports 'b.js', which is not a module; there are card/a.js\."):
        joined({"card/a.js": 'import { b } from "../b.js";\n'})


def test_import_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="cycle"):
        joined({one: f'import {{ b }} from "./{other}";\n' for one, other in (("a.js", "b.js"), ("b.js", "a.js"))})
