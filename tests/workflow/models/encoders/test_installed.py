"""Encoders added from files, and those in the data folder: listed, checked, removed."""

from __future__ import annotations

import dataclasses
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from plcore.tables.encoders import EncoderError
from tests.plcore.tables.encoders.models import encoder, mean_color
from tests.plcore.tables.encoders.small_catalogue import WORDS, file_of, words_entry
from tests.workflow.models.encoders.conftest import Known
from workflow.files import stored
from workflow.importing import encoding
from workflow.models.encoders import installed
from workflow.server.home import Home

pytestmark = pytest.mark.usefixtures("known")


def zipped(path: Path, **members: bytes) -> Path:
    """A zip; `__` in a name stands for a slash."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)
    return path


def given(folder: Path, how: str) -> Path:
    """The model under another name: in a folder, a package in a folder, a zip, a package, or a zip in a package."""
    if how == "packages":
        (folder / "mine").mkdir()
        (folder / "mine" / "broken.zip").write_bytes(b"junk")
        zipped(folder / "mine" / "words-1.0-py3-none-any.whl", words__weights=WORDS)
        return folder / "mine"
    if how == "folder":
        (folder / "mine" / "deep").mkdir(parents=True)
        (folder / "mine" / "deep" / "weights.bin").write_bytes(WORDS)
        (folder / "mine" / "readme.txt").write_bytes(b"x" * len(WORDS))
        return folder / "mine"
    if how == "nested":
        inner = zipped(folder / "inner.zip", weights=WORDS).read_bytes()
        return zipped(folder / "words-1.0-py3-none-any.whl", **{"words__model.zip": inner})
    return zipped(folder / f"words.{how}", words__weights=WORDS, words__readme=b"x" * len(WORDS))


@pytest.mark.parametrize("how", ["folder", "packages", "zip", "whl", "nested"])
def test_encoder_files_are_found_by_hash(home: Home, tmp_path: Path, how: str) -> None:
    source = given(tmp_path, how)
    assert installed.add(home, source) == ("words",)
    folder = encoding.folder_of(home, "words")
    assert (folder / "model.onnx").read_bytes() == WORDS
    assert [path.name for path in home.encoders_dir.iterdir()] == ["words"]
    with pytest.raises(EncoderError, match="Words is there already"):
        installed.add(home, source)


def refused(home: Home, source: Path, **options: Any) -> str:
    with pytest.raises(EncoderError) as caught:
        installed.add(home, source, **options)
    assert list(home.encoders_dir.iterdir()) == []
    return str(caught.value)


def test_other_files_are_refused(home: Home, tmp_path: Path) -> None:
    other = zipped(tmp_path / "other.zip", weights=WORDS[:-1] + b"!")
    assert "contains no encoder that Winnow's authors have tested ('words')" in refused(home, other)
    (tmp_path / "junk.whl").write_bytes(b"junk")
    assert "cannot be read (BadZipFile" in refused(home, tmp_path / "junk.whl")
    assert "cannot be read (FileNotFoundError" in refused(home, tmp_path / "gone.zip")


def test_incomplete_files_are_refused_naming_missing_ones(home: Home, tmp_path: Path, known: Known) -> None:
    files = [file_of("onnx/model.onnx", WORDS), file_of("tokenizer.json", b"{}", "tokenizer")]
    known(words=words_entry(files=files))
    assert "lacks 'tokenizer.json' of Words" in refused(home, given(tmp_path, "zip"))


def test_members_of_other_sizes_are_never_unpacked(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A megabyte of zeros, a name that leads out of the folder, and a zip in a zip in a zip."""
    deep = zipped(tmp_path / "a.zip", **{"b.zip": zipped(tmp_path / "b.zip", w=WORDS).read_bytes()}).read_bytes()
    bomb = zipped(tmp_path / "bomb.zip", zeros=bytes(1_000_000), **{"../../out": WORDS, "deep.zip": deep})
    copied: list[int] = []
    copy = installed._copy

    def watched(member: Any, file: Any, size: int) -> None:
        copied.append(size)
        copy(member, file, size)

    monkeypatch.setattr(installed, "_copy", watched)
    assert installed.add(home, bomb) == ("words",)
    assert set(copied) == {len(WORDS), len(deep)}
    assert not list(tmp_path.rglob("out"))
    monkeypatch.setattr(installed, "MOST_NAMES", 2)
    with pytest.raises(EncoderError, match="more than 2 files"):
        installed.add(home, bomb)


def test_unwanted_members_are_unpacked_one_at_a_time(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unwanted = {f"m{number}": bytes([number]) * len(WORDS) for number in range(9)}
    source = zipped(tmp_path / "many.zip", words=WORDS, again=WORDS, **unwanted)
    kept: list[int] = []
    copy = installed._copy

    def watched(member: Any, file: Any, size: int) -> None:
        copy(member, file, size)
        kept.append(len(list(Path(file.name).parent.iterdir())))

    monkeypatch.setattr(installed, "_copy", watched)
    assert installed.add(home, source) == ("words",)
    assert kept == [1, *[2] * 10]


def test_false_member_size_is_found(home: Home, tmp_path: Path) -> None:
    """The directory has the right size, but there is more behind it."""
    data = zipped(tmp_path / "z.zip", weights=WORDS + bytes(100_000)).read_bytes()
    real, said = (len(WORDS) + 100_000).to_bytes(4, "little"), len(WORDS).to_bytes(4, "little")
    assert data.count(real) == 2
    (tmp_path / "z.zip").write_bytes(data.replace(real, said))
    assert "cannot be read" in refused(home, tmp_path / "z.zip")


def test_licence_must_be_accepted_for_added_files(home: Home, tmp_path: Path, known: Known) -> None:
    known(words=words_entry(licence="CC-BY-NC-SA-4.0", commercial=False))
    assert "may not be used commercially" in refused(home, given(tmp_path, "zip"))
    assert installed.add(home, tmp_path / "words.zip", non_commercial=True) == ("words",)


# Files in the data folder


def test_list_shows_available_files_and_commands(home: Home, tmp_path: Path, known: Known) -> None:
    bare = [{"name": "model.onnx", "what": "model"}]
    known(
        words=words_entry(), packaged=words_entry(revision=None, wheel="wordllama==1.0"), bare=words_entry(files=bare)
    )
    found = {one.entry.key: one.state for one in installed.list_encoders(home)}
    assert found == {"words": "can be downloaded", "packaged": "can be added from its package", "bare": "not verified"}
    installed.add(home, given(tmp_path, "zip"))
    found = {one.entry.key: one.state for one in installed.list_encoders(home)}
    assert found["words"] == "installed"


def test_check_finds_changes(home: Home, tmp_path: Path) -> None:
    installed.add(home, given(tmp_path, "zip"))
    assert installed.check(home, "words").startswith("words: OK.")
    path = encoding.folder_of(home, "words") / "encoder.json"
    path.write_text('{"kind": "text", "prefix": "x"}')
    with pytest.raises(
        EncoderError, match=r"'encoder.json' in .* has changed since .* Fix: winnow encoders remove words"
    ):
        installed.check(home, "words")
    path.unlink()
    with pytest.raises(EncoderError, match=r"is missing or has changed"):
        installed.check(home, "words")


def test_own_encoder_is_checked_and_never_removed(home: Home) -> None:
    encoder(home.encoders_dir / "mine", {"kind": "image", "size": 4}, mean_color())
    assert installed.check(home, "mine").startswith("mine: it opens.")
    with pytest.raises(EncoderError, match=r"'mine' is your own encoder.*Fix: remove the folder"):
        installed.remove(home, "mine")
    assert encoding.names(home) == ("mine",)


def test_removed_encoder_can_be_added_again(home: Home, tmp_path: Path) -> None:
    installed.add(home, given(tmp_path, "zip"))
    installed.remove(home, "words")
    assert list(home.encoders_dir.iterdir()) == []
    with pytest.raises(EncoderError, match="No encoder is called 'words'"):
        installed.remove(home, "words")
    assert installed.add(home, tmp_path / "words.zip") == ("words",)


def test_disabled_encoders_are_not_listed_or_added(home: Home, tmp_path: Path) -> None:
    off = dataclasses.replace(home, settings=dataclasses.replace(home.settings, encoders=False))
    source = given(tmp_path, "zip")
    installed.add(home, source)
    own = home.encoders_dir / "own"
    own.mkdir()
    for act in (
        lambda: installed.list_encoders(off),
        lambda: installed.get(off, "words"),
        lambda: installed.add(off, source),
        lambda: encoding.folder_of(off, "words"),
    ):
        with pytest.raises(EncoderError, match="switched off on this server"):
            act()
    assert encoding.names(off) == ("own",)
    installed.remove(off, "words")
    assert not (home.encoders_dir / "words").exists()


def test_leftovers_of_killed_install_are_removed_after_a_day(home: Home) -> None:
    half = home.encoders_dir / f"{stored.NEW}abcdefgh"
    (half / "made").mkdir(parents=True)
    assert encoding.names(home) == ()
    stored.clear(home.settings)
    assert half.exists()
    os.utime(half, (0, 0))
    stored.clear(home.settings)
    assert not half.exists()
