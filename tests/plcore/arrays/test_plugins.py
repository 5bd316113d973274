"""Plug-ins are found by their entry points; broken ones are named with the reason, and raise nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from plcore.arrays import Plugin, PluginError, parts_barred
from plcore.arrays.plugins import find_plugins, import_part

GROUP = "winnow.test"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python imports from."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def distribute(site: Path, name: str, version: str, *points: str, group: str = GROUP) -> None:
    """Write the metadata of an installed distribution with these entry points."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "entry_points.txt").write_text("\n".join([f"[{group}]", *points]))


def test_plugins_are_sorted_by_name_with_distribution_and_version(site: Path) -> None:
    (site / "plug_of_ours.py").write_text("WORDS, OTHERS = 'words', 'others'\n")
    distribute(site, "plug-two", "2.0", "zeta = plug_of_ours:OTHERS")
    distribute(site, "plug-one", "1.5", "beta = plug_of_ours:WORDS", "alpha = plug_of_ours:OTHERS")
    distribute(site, "plug-three", "3.0", "gamma = plug_of_ours:WORDS", group="winnow.others")
    assert find_plugins(GROUP, str) == (
        Plugin(GROUP, "alpha", "plug-one", "1.5", "others", None),
        Plugin(GROUP, "beta", "plug-one", "1.5", "words", None),
        Plugin(GROUP, "zeta", "plug-two", "2.0", "others", None),
    )
    assert find_plugins(GROUP, str)[0].source == "plug-one 1.5"
    assert find_plugins("winnow.nothing", str) == ()


@pytest.mark.parametrize(
    ("point", "why"),
    [
        ("one = plug_not_there:X", r"plug_not_there:X cannot be imported \(ModuleNotFoundError: No module named"),
        ("one = plug_raising:X", r"plug_raising:X cannot be imported \(RuntimeError: no licence\)"),
        ("one = json:nothing", r"json:nothing cannot be imported \(AttributeError: "),
        ("one = json:dumps", "json:dumps must be a str. Got function. Fix: install a version"),
        ("One_2 = json:dumps", "The name 'One_2' is not allowed. Fix: use 1 to 40 lower-case"),
    ],
)
def test_broken_plugin_is_named_with_reason(site: Path, point: str, why: str) -> None:
    (site / "plug_raising.py").write_text("raise RuntimeError('no licence')\n")
    (site / "plug_well.py").write_text("WORDS = 'words'\n")
    distribute(site, "plug-broken", "0.1", point, "well = plug_well:WORDS")
    broken, well = find_plugins(GROUP, str)
    assert (well.declared, well.fault) == ("words", None)
    assert broken.declared is None
    with pytest.raises(ValueError, match=why):
        raise ValueError(broken.fault)


def test_second_plugin_of_a_name_is_left_out(site: Path) -> None:
    (site / "plug_twice.py").write_text("WORDS = 'words'\n")
    distribute(site, "plug-b", "1", "same = plug_twice:WORDS")
    distribute(site, "plug-a", "2", "same = plug_twice:WORDS")
    first, second = find_plugins(GROUP, str)
    assert (first.distribution, first.fault) == ("plug-a", None)
    assert second.distribution == "plug-b"
    assert second.fault == "The name 'same' is taken by plug-a 2. Fix: uninstall one of the two."


def test_broken_plugin_reserves_no_name(site: Path) -> None:
    (site / "plug_late.py").write_text("WORDS = 'words'\n")
    distribute(site, "plug-a", "1", "same = plug_nowhere:X")
    distribute(site, "plug-b", "1", "same = plug_late:WORDS")
    broken, well = find_plugins(GROUP, str)
    assert broken.fault is not None
    assert well.declared == "words"


def test_parts_are_imported_by_name_unless_barred() -> None:
    assert import_part("json:JSONEncoder.encode").__name__ == "encode"  # type: ignore[attr-defined]
    for reference in ("plug_nowhere:X", "json:nothing"):
        with pytest.raises(PluginError, match=f"^{reference} of a plug-in cannot be imported .*Fix: install"):
            import_part(reference)
    with parts_barred("not here."), pytest.raises(PluginError, match="json:dumps is part of a plug-in: not here"):
        import_part("json:dumps")
    import_part("json:dumps")
