"""Parts around every page: frame, colours, charts, tour, scripts."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.parts import frame, map_chart, palette
from pages.parts.components import Scripts, joined, scripts_in
from pages.parts.map_chart import by_doubt, by_name, by_state, instance_map
from pages.parts.tour import STEPS
from tests.conftest import ROOT
from tests.pages.conftest import Open, press, words
from tests.workflow.world import annotator, answer_next, small_project
from workflow import demos
from workflow.demos import Demo, making
from workflow.seat import Seat
from workflow.server.home import Home

# Start of every page: user names are shown unchanged


EMOJI = re.compile(r":\+1:|:-1:|:[\w-]+:")
"""Emoji names of the browser (remark-emoji), in text without backslashes."""
ICON = re.compile(r":material/[a-z0-9_]+:")


@pytest.mark.parametrize("name", ["animal:dog:poodle", "at 12:100:30", ":material/home:", ":+1:", "a:b:c:d"])
def test_escape_breaks_emoji_and_icons(name: str) -> None:
    shown = frame.escape(name).replace("\\", "")
    assert not EMOJI.search(shown)
    assert not ICON.search(shown)
    assert shown.replace("\u2060", "") == name


@pytest.mark.parametrize("name", ["row 4: a", "12:30", "a :: b"])
def test_escape_adds_no_invisible_character_to_plain_name(name: str) -> None:
    assert "\u2060" not in frame.escape(name)


# Every colour of a mark is read on the page of either theme


THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
MARKS = (
    palette.WINNOW,
    palette.DOUBT,
    palette.GOAL,
    palette.BAD,
    palette.APART,
    palette.GIVEN,
    palette.RANDOM,
    *palette.FURTHER,
)


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_matches_wcag_definition() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("mark", MARKS)
def test_marks_contrast_with_both_themes(scheme: str, mark: str) -> None:
    assert contrast(mark, THEME[scheme]["backgroundColor"]) >= 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_contrast_with_both_themes(scheme: str) -> None:
    colours = THEME[scheme]
    for ground in ("backgroundColor", "secondaryBackgroundColor"):
        assert contrast(colours["textColor"], colours[ground]) >= 4.5
        assert contrast(colours["linkColor"], colours[ground]) >= 4.5
    for name in ("orange", "green"):
        assert contrast(colours[f"{name}TextColor"], colours[f"{name}BackgroundColor"]) >= 4.5


def test_mark_colours_are_distinct() -> None:
    assert len(set(MARKS)) == len(MARKS)


def test_band_is_translucent_colour() -> None:
    assert palette.band("#2b8a78", 0.2) == "rgba(43, 138, 120, 0.2)"


# The marks of the map: colours and shapes of names, rings for what the model says, grey for the rest


NAMES = [f"c{k}" for k in range(9)]


def test_class_keeps_its_mark_in_every_selection() -> None:
    numbers, known = np.array([7, 7, 1, 3, -1]), np.array([True, False, True, True, False])
    marks = by_name(numbers, known, [1, 7], NAMES, "nothing known")
    assert [(one.name, one.here.tolist()) for one in marks] == [
        ("c1 (1)", [False, False, True, False, False]),
        ("c7 (2)", [True, False, False, False, False]),
        ("", [False, True, False, False, False]),
        ("others (1)", [False, False, False, True, False]),
        ("nothing known (1)", [False, False, False, False, True]),
    ]
    first, second, ring, others, nothing = (one.look for one in marks)
    assert first["color"] == second["color"] == ring["color"], "6 colours: the seventh is the first again"
    assert (first["symbol"], second["symbol"], ring["symbol"]) == ("circle", "square", "square-open")
    assert (others["color"], others["symbol"]) == (palette.GIVEN, "circle")
    assert (nothing["color"], nothing["symbol"]) == (palette.GIVEN, "circle-open")
    assert marks[1].group == marks[2].group != marks[0].group


def test_first_thirty_six_class_marks_are_distinct() -> None:
    looks = {palette.class_mark(number) for number in range(36)}
    assert len(looks) == 36
    assert palette.class_mark(36) == palette.class_mark(0)


def test_every_row_is_drawn_once() -> None:
    rng = np.random.default_rng(0)
    numbers, known = rng.integers(-1, 9, 200), rng.random(200) < 0.5
    doubt = np.where(known, np.nan, rng.random(200))
    states = rng.choice(list(map_chart.STATE_MARKS), 200).tolist()
    for marks in (by_name(numbers, known, [0, 2, 4], NAMES, "none"), by_doubt(doubt), by_state(states)):
        assert (sum(one.here.astype(int) for one in marks) == 1).all()


def test_doubt_is_shaded_from_least_to_most() -> None:
    settled, doubtful = by_doubt(np.array([np.nan, 0.1, 0.4]))
    assert settled.here.tolist() == [True, False, False]
    assert doubtful.look["color"].tolist() == [10, 40]
    assert (doubtful.look["cmin"], doubtful.look["cmax"]) == (10, 40), "in per cent, as the bar says"
    assert doubtful.look["size"][0] < doubtful.look["size"][1]
    (all_sure,) = by_doubt(np.zeros(3))
    assert all_sure.look["cmax"] > all_sure.look["cmin"]
    assert np.isfinite(all_sure.look["size"]).all()
    (none,) = by_doubt(np.full(3, np.nan))
    assert none.here.all()


def test_map_point_carries_name_text_and_row() -> None:
    marks = by_state(["open", "bad", "open"])
    figure = instance_map(np.zeros((3, 2)), marks, list("abc"), ["x", "<y>", "z"], np.array([7, 8, 9]))
    carried = {tuple(point) for trace in figure.data for point in trace.customdata}
    assert carried == {("a", "x", 7), ("b", "&lt;y&gt;", 8), ("c", "z", 9)}
    assert figure.layout.xaxis.visible is False
    assert figure.layout.yaxis.title.text is None


def test_map_legend_names_label_once() -> None:
    marks = by_name(np.array([0, 0]), np.array([True, False]), [0], ["<b>"], "none")
    figure = instance_map(np.zeros((2, 2)), marks, ["a", "b"], ["", ""], np.arange(2))
    assert [(trace.name, trace.showlegend) for trace in figure.data] == [("&lt;b&gt; (2)", True), ("", False)]


# The tour of a demo: step by step, ended by one click, and shown only in demos


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]


@pytest.mark.parametrize("demo", demos.ALL, ids=lambda one: one.key)
def test_tour_advances_step_by_step(home: Home, owner: int, show: Open, demo: Demo) -> None:
    test = show(owner, "annotate.py", project=str(small_project(home, owner, demo.name)))
    steps = STEPS[demo.key]
    for place, step in enumerate(steps, start=1):
        assert f"Tour, {place} of {len(steps)}" in words(test)
        assert step.words in words(test)
        assert ("Next" in labels(test)) == (place < len(steps))
        if place < len(steps):
            press(test, "Next")


def test_tour_advances_when_its_target_page_is_opened(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "annotate.py", project=str(small_project(home, owner, demos.DIGITS.name)))
    for _ in range(4):
        press(test, "Next")
    test.switch_page("progress.py").run()
    assert "Tour, 5 of 5" in words(test)


def test_tour_follows_answers_and_visit_to_progress(
    home: Home, owner: int, show: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = small_project(home, owner, demos.DIGITS.name)
    count, counted = making.answered, []
    monkeypatch.setattr(making, "answered", lambda seat: counted.append(seat) or count(seat))
    for place, until in enumerate((0, 3, 8, 20), start=1):
        while count(Seat(home, owner, project)) < until:
            answer_next(home, owner, project)
        test = show(owner, "annotate.py", project=str(project))
        assert f"Tour, {place} of 5" in words(test)
        counted.clear()
        test.run()
        assert len(counted) == 1, "counted once a drawing"
    test.switch_page("progress.py").run()
    assert "Tour, 4 of 5" in words(test)
    test.switch_page("annotate.py").run()
    assert "Tour, 5 of 5" in words(test)
    assert "Tour, 1 of 5" in words(show(annotator(home, owner, "Ada"), "annotate.py", project=str(project)))


def test_progress_opened_first_shows_its_tour_step(home: Home, owner: int, show: Open) -> None:
    test = show(owner, "progress.py", project=str(small_project(home, owner, demos.DIGITS.name)))
    assert "Tour, 4 of 5" in words(test)
    press(test, "Next")
    assert "Tour, 5 of 5" in words(test)


def test_end_the_tour_button_ends_it_for_good(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner, demos.DIGITS.name)
    test = press(show(owner, "annotate.py", project=str(project)), "End the tour")
    assert "Tour" not in words(test)
    for page in ("annotate.py", "progress.py"):
        assert "Tour" not in words(show(owner, page, project=str(project))), "in a new tab, too"
    ada = annotator(home, owner, "Ada")
    assert "Tour, 1 of 5" in words(show(ada, "annotate.py", project=str(project))), "hers is her own"


def test_own_project_has_no_tour(home: Home, owner: int, show: Open) -> None:
    project = small_project(home, owner)
    for page in ("annotate.py", "progress.py"):
        assert "End the tour" not in labels(show(owner, page, project=str(project)))


def test_tour_links_annotators_only_to_progress() -> None:
    for steps in STEPS.values():
        assert {step.page for step in steps if step.page and not step.owners} == {"progress.py"}
        assert len(" ".join(step.words for step in steps).split()) < 260, "two minutes, and no more"


# The address of the JavaScript modules: it is a hash of them all


def scripts(folder: Path, files: dict[str, str]) -> Scripts:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return scripts_in(folder)


def test_scripts_version_depends_on_names_and_contents(tmp_path: Path) -> None:
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


def test_scripts_are_joined_into_one_file(tmp_path: Path) -> None:
    files = {"a.js": 'import { b } from "./b/c.js";\n', "b/c.js": "export const b = 'Å';\n"}
    made = scripts(tmp_path, files)
    assert dict(made.contents) == files
    assert made.joined.decode() == joined(files)
    assert made.address == f"scripts/{made.version}.js"


def test_start_names_existing_module_or_fails(tmp_path: Path) -> None:
    made = scripts(tmp_path, {"b/a.js": "export default 1;\n"})
    assert made.start("b/a.js") == (
        f'const {{ default: modules }} = await import(new URL("{made.address}", document.baseURI));\n'
        'export default modules["b/a.js"].default;\n'
    )
    with pytest.raises(KeyError, match=r"no JavaScript module 'b.js'; there are b/a.js"):
        made.start("b.js")
