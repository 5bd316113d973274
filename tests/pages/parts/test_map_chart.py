"""The marks of the map: colours and shapes of names, rings for what the model says, grey for the rest."""

from __future__ import annotations

import numpy as np

from pages.parts import map_chart, palette
from pages.parts.map_chart import by_doubt, by_name, by_state, instance_map

NAMES = [f"c{k}" for k in range(9)]


def test_a_name_keeps_its_colour_and_shape_whatever_else_is_chosen() -> None:
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


def test_thirty_six_names_look_all_different() -> None:
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


def test_doubt_is_shaded_from_the_least_to_the_most() -> None:
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


def test_a_point_carries_its_name_what_is_told_of_it_and_its_row() -> None:
    marks = by_state(["open", "bad", "open"])
    figure = instance_map(np.zeros((3, 2)), marks, list("abc"), ["x", "<y>", "z"], np.array([7, 8, 9]))
    carried = {tuple(point) for trace in figure.data for point in trace.customdata}
    assert carried == {("a", "x", 7), ("b", "&lt;y&gt;", 8), ("c", "z", 9)}
    assert figure.layout.xaxis.visible is False
    assert figure.layout.yaxis.title.text is None


def test_the_legend_names_a_label_once() -> None:
    marks = by_name(np.array([0, 0]), np.array([True, False]), [0], ["<b>"], "none")
    figure = instance_map(np.zeros((2, 2)), marks, ["a", "b"], ["", ""], np.arange(2))
    assert [(trace.name, trace.showlegend) for trace in figure.data] == [("&lt;b&gt; (2)", True), ("", False)]
