"""The points of a curve are the same from columns, None where they were None, and in the order in which they came."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plcore.evaluation.estimates import ControlCounts
from plcore.loop.one_label import CurvePoint
from plcore.loop.one_label.learner import LearnerCurve

SHARES = st.one_of(st.none(), st.floats(0, 1))
POINTS = st.lists(
    st.builds(
        CurvePoint,
        seq=st.integers(0, 2**40),
        answers=st.integers(0, 99),
        accuracy=SHARES,
        settled=st.floats(0, 1),
        candidates_left=st.integers(0, 2**40),
        model_version=st.integers(0, 99),
        control=st.builds(ControlCounts, *[st.integers(0, 9)] * 4),
        progressive_error=SHARES,
    ),
    min_size=1,
    max_size=8,
)


@given(POINTS, POINTS)
def test_columns_give_back_the_points(early, late):
    curve = LearnerCurve(early[0])
    for point in early[1:]:
        curve.append(point)
    again = LearnerCurve.from_arrays(curve.to_arrays())
    assert (again.start, again.version) == (early[0], early[-1].model_version)
    for point in late:
        again.append(point)
    assert again.version == late[-1].model_version
    unread = LearnerCurve.from_arrays(again.to_arrays())
    assert again.points() == [*early, *late] == unread.points() == again.points()
    assert LearnerCurve.from_arrays(again.to_arrays()).points() == [*early, *late]
    assert LearnerCurve.from_arrays(again.start_alone()).points() == early[:1]


def test_points_are_a_new_list_each_time():
    curve = LearnerCurve(CurvePoint(0, 0, None, 0.0, 3, 0))
    curve.points().clear()
    assert len(curve.points()) == 1


def test_a_curve_of_versions_keeps_its_start():
    start, version = CurvePoint(0, 0, None, 0.0, 3, 0), CurvePoint(9, 9, 0.5, 0.5, 1, 9)
    curve = LearnerCurve(start, [version])
    assert curve.points() == [version]
    assert LearnerCurve.from_arrays(curve.start_alone()).points() == [start]
