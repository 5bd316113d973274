"""The archive of a backup, and the folder in which it is assembled."""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.plcore.tables.zips import forged
from tests.workflow.backups.drill import files_of, reopened, rows_of
from tests.workflow.world import answer_next
from workflow.backups import making, restoring, staging
from workflow.backups.archive import check_archive, extract_all, write_archive
from workflow.backups.manifest import DATABASE, HOME, MANIFEST, BackupError, DamagedError, Manifest, understand
from workflow.server import running
from workflow.server.home import Home
from workflow.server.settings import Settings, SettingsError

# Every byte of a backup counts: any changed byte is refused, with its place


TABLE = f"tables/{hashlib.sha256(b'rows').hexdigest()}.parquet"
_PICTURE = hashlib.sha256(b"picture").hexdigest()
PICTURE = f"media/{_PICTURE[:2]}/{_PICTURE}.png"
CONTENTS = {DATABASE: b"all the answers" * 20, PICTURE: b"picture", TABLE: b"rows"}
SAID = Manifest(kind=HOME, schema="0001", made_at="2026-01-02T03:04:05+00:00", counts={"projects": 1})


def written(folder: Path, contents: dict[str, bytes] = CONTENTS) -> Path:
    sources = []
    for number, (name, data) in enumerate(contents.items()):
        (folder / str(number)).write_bytes(data)
        sources.append((name, folder / str(number)))
    path = folder / "backup.zip"
    write_archive(path, SAID, sources)
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return written(tmp_path_factory.mktemp("whole")).read_bytes()


def test_archive_round_trips_its_members(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = written(tmp_path)
    manifest = check_archive(path, lambda done, total: told.append((done, total)))
    assert {one.name: one.size for one in manifest.members} == {name: len(data) for name, data in CONTENTS.items()}
    assert manifest.damaged == ()
    assert told[-1] == (manifest.size, manifest.size)
    extract_all(path, manifest, tmp_path / "out")
    assert {name: (tmp_path / "out" / name).read_bytes() for name in CONTENTS} == CONTENTS
    assert path.stat().st_mode & 0o777 == 0o600, "the hashes of passwords are in it"


def test_archive_is_a_valid_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(written(tmp_path)) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == [*CONTENTS, MANIFEST]


def test_file_with_wrong_ending_is_noted_and_stored(tmp_path: Path) -> None:
    path = written(tmp_path, {**CONTENTS, PICTURE: b"another picture"})
    assert check_archive(path).damaged == (PICTURE,)


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "backup.zip").write_text("mine")
    with pytest.raises(BackupError, match=r"There is a file .* already"):
        written(tmp_path)
    assert (tmp_path / "backup.zip").read_text() == "mine"


def test_every_changed_byte_is_noticed(whole: bytes, tmp_path: Path) -> None:
    """All bytes of a small file, one after another."""
    path = tmp_path / "backup.zip"
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        with pytest.raises(BackupError):
            check_archive(path)
    path.write_bytes(whole)
    check_archive(path)


@given(data=st.data())
def test_removed_moved_or_inserted_pieces_are_noticed(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    other = data.draw(st.binary(max_size=30))
    changed = whole[:first] + other + whole[last:]
    path = tmp_path_factory.getbasetemp() / "changed.zip"
    path.write_bytes(changed)
    if changed == whole:
        check_archive(path)
        return
    with pytest.raises(BackupError):
        check_archive(path)


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def inside(name: str, offset: int = 0) -> Callable[[bytes], bytes]:
    """Flip a bit in the contents of this member."""
    return lambda data: flipped(data, data.index(CONTENTS[name]) + offset)


DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "the database": (inside(DATABASE), DATABASE),
    "the end of the database": (inside(DATABASE, 299), DATABASE),
    "a table": (inside(TABLE), TABLE),
    "the end of a table": (inside(TABLE, 3), TABLE),
    "a picture": (inside(PICTURE), PICTURE),
    "the manifest": (lambda data: data.replace(b'"schema": "0001"', b'"schema": "0002"'), MANIFEST),
    "the beginning of the manifest": (lambda data: flipped(data, data.index(b'{\n "kind"')), MANIFEST),
    "a hash in the manifest": (
        lambda data: data.replace(hashlib.sha256(b"rows").hexdigest().encode() + b'"', b"0" * 64 + b'"'),
        MANIFEST,
    ),
    "the hash of the manifest": (lambda data: flipped(data, len(data) - 70), MANIFEST),
    "the hash of the whole": (lambda data: flipped(data, len(data) - 1), "the bytes between its members"),
    "the date of a member": (lambda data: flipped(data, data.rindex(b"PK\x01\x02") + 14), "the bytes between"),
    "a name in the list": (lambda data: flipped(data, data.rindex(b"winnow.sqlite3")), "innow.sqlite3"),
    "the beginning of a member": (lambda data: flipped(data, data.index(b"PK\x03\x04", 9)), PICTURE),
    "the list": (lambda data: flipped(data, data.rindex(b"PK\x01\x02")), "the list of its members"),
    "the last record": (lambda data: flipped(data, data.rindex(b"PK\x05\x06")), "the list of its members"),
    "cut in the middle": (lambda data: data[: len(data) // 2], "its end"),
    "cut by a byte": (lambda data: data[:-1], "its end"),
    "with something behind": (lambda data: data + b"\n", "its end"),
    "copied as text": (lambda data: data.replace(b"\n", b"\r\n"), ""),
    "a page of zeros": (lambda data: data[:100] + bytes(100) + data[200:], DATABASE),
}


def test_damaged_archive_is_refused_with_its_place(whole: bytes, tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, (damage, place) in DAMAGES.items():
        with subtests.test(name):
            changed = damage(whole)
            assert changed != whole
            path = tmp_path / "backup.zip"
            path.write_bytes(changed)
            with pytest.raises(
                DamagedError, match=r"backup\.zip is damaged at .*: expected .*, got .* Fix: "
            ) as refused:
                check_archive(path)
            assert place in refused.value.place


def test_at_least_twenty_damages_are_tested() -> None:
    assert len(DAMAGES) >= 20


def test_damaged_member_is_reported_with_both_hashes(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "backup.zip"
    path.write_bytes(whole.replace(b"picture", b"pictura"))
    with pytest.raises(DamagedError) as refused:
        check_archive(path)
    assert f"expected 7 bytes with SHA-256 {_PICTURE}" in str(refused.value)
    assert f"got 7 bytes with SHA-256 {hashlib.sha256(b'pictura').hexdigest()}" in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"id,candidates\n", b"\x00" * 5000])
def test_file_that_is_no_backup_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "notes.zip"
    path.write_bytes(data)
    with pytest.raises(BackupError, match=r"notes\.zip is not a backup of Winnow"):
        check_archive(path)


def made_by_hand(path: Path, method: int = zipfile.ZIP_STORED, **members: bytes) -> Path:
    """A file with right seals, whatever is in it."""
    listed = [
        {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
    ]
    said = {
        **{"format": 1, "kind": HOME, "winnow": "0", "schema": "0001", "made_at": "", "counts": {}},
        **{"missing": [], "damaged": [], "members": listed},
    }
    manifest = json.dumps(said).encode()
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr(zipfile.ZipInfo(MANIFEST), manifest)
        archive.comment = b"winnow-backup " + hashlib.sha256(manifest).hexdigest().encode() + b" " + b"0" * 64
    return sealed(path, path.read_bytes())


def sealed(path: Path, data: bytes) -> Path:
    path.write_bytes(data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode())
    return path


def test_handmade_archive_is_accepted(tmp_path: Path) -> None:
    """So that the files refused below are refused for their own reasons."""
    check_archive(made_by_hand(tmp_path / "b.zip", **CONTENTS))


OUTSIDE = ["../winnow.sqlite3", "/etc/passwd", "tables/../../x.parquet", "media/aa/../x", "notes.txt", "C:\\x", ".ssh"]


def test_member_names_outside_archive_are_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name in [*OUTSIDE, PICTURE.replace(_PICTURE[:2] + "/", "zz/"), TABLE.upper()]:
        with subtests.test(repr(name)):
            with pytest.raises(DamagedError, match="an invalid name") as refused:
                check_archive(made_by_hand(tmp_path / "b.zip", **{name: b"x"}))
            assert re.escape(name) in re.escape(refused.value.place) or repr(name) == refused.value.place


def test_bombs_are_refused_unread(tmp_path: Path) -> None:
    """A megabyte of zeros in a kilobyte; twice the same bytes; more bytes than the file has."""
    bomb = made_by_hand(tmp_path / "bomb.zip", zipfile.ZIP_DEFLATED, **{DATABASE: bytes(1 << 20)})
    with pytest.raises(DamagedError, match="compressed or encrypted"):
        check_archive(bomb)
    path = made_by_hand(tmp_path / "flat.zip", **CONTENTS)
    data = path.read_bytes()
    first = struct.unpack_from("<L", data, data.rindex(b"PK\x01\x02", 0, data.rindex(PICTURE.encode())) + 42)[0]
    with pytest.raises(DamagedError, match="a place of another member"):
        check_archive(sealed(path, forged(data, TABLE, 42, "<L", first)))
    long = forged(forged(data, TABLE, 24, "<L", 1 << 30), TABLE, 20, "<L", 1 << 30)
    with pytest.raises(DamagedError, match="or outside"):
        check_archive(sealed(path, long))


def test_member_missing_from_manifest_is_refused(tmp_path: Path) -> None:
    path = made_by_hand(tmp_path / "b.zip", **CONTENTS)
    data = path.read_bytes()
    other = TABLE.replace(".parquet", "")[:-1] + ("0" if TABLE[-9] != "0" else "1") + ".parquet"
    list_at = data.rindex(TABLE.encode())
    with pytest.raises(DamagedError, match="the members that the manifest lists"):
        check_archive(sealed(path, data[:list_at] + other.encode() + data[list_at + len(other) :]))


def test_archive_of_later_format_is_refused_with_its_version(tmp_path: Path) -> None:
    path = made_by_hand(tmp_path / "b.zip", **CONTENTS)
    data = path.read_bytes().replace(b'{"format": 1', b'{"format": 9')
    start = data.index(b'{"format": 9')
    manifest = data[start : data.index(b"PK\x01\x02")]
    seal = hashlib.sha256(manifest).hexdigest().encode()
    with pytest.raises(BackupError, match=r"made by Winnow 0, in a newer form than this one knows \(9, here 1\)"):
        check_archive(sealed(path, data[: -64 - 65] + seal + data[-65:]))


OF_ANOTHER_KIND = {
    "lists a hundred thousand deep": b"[" * 100_000,
    "a list": b"[]",
    "counts that are none": {"counts": ["projects"]},
    "a count in words": {"counts": {"projects": "one"}},
    "a size in words": {"members": [{"name": DATABASE, "size": "1", "sha256": ""}]},
    "a name that is a number": {"members": [{"name": 1, "size": 1, "sha256": ""}]},
    "tables of no version": {"schema": None},
    "what no manifest has": {"other": 1},
}


def test_invalid_manifest_is_refused(subtests: pytest.Subtests) -> None:
    said = json.loads(json.dumps(asdict(SAID)))
    assert understand(json.dumps(said).encode(), "b.zip") == SAID
    for how, other in OF_ANOTHER_KIND.items():
        with subtests.test(how):
            data = json.dumps(said | other).encode() if isinstance(other, dict) else other
            with pytest.raises(DamagedError, match="expected the manifest of a backup") as refused:
                understand(data, "b.zip")
            assert refused.value.place == MANIFEST


# A restore that an owner asked for is done by the next start, once; if it cannot be done nothing is
# changed


@pytest.fixture
def backup(home: Home, project: int) -> str:
    """Make a backup; returns its name."""
    home.backups_dir.mkdir()
    name = making.name_at(datetime.now(UTC))
    making.make(home, home.backups_dir / name)
    return name


def state_of(folder: Path) -> object:
    return rows_of(folder / DATABASE), files_of(folder)


def test_staged_backup_is_restored_at_next_start_once(home: Home, owner: int, project: int, backup: str) -> None:
    folder = home.settings.home
    saved = state_of(folder)
    answer_next(home, owner, project)
    staging.stage(folder, backup)
    assert staging.staged(folder) == backup
    home.close()
    said = str(staging.carry_out(home.settings))
    assert f"{backup} was restored. The previous database is now {folder / 'backups' / 'before-restore-'}" in said
    assert staging.last(folder) == said
    assert state_of(folder) == saved
    reopened(folder).close()
    assert staging.carry_out(home.settings) is None


def test_start_without_staged_backup_restores_nothing(home: Home, backup: str) -> None:
    staging.stage(home.settings.home, backup)
    staging.unstage(home.settings.home)
    staging.unstage(home.settings.home)
    assert staging.carry_out(home.settings) is None
    assert staging.last(home.settings.home) is None


@pytest.mark.parametrize("how", ["damaged", "gone", "in use"])
def test_impossible_restore_is_reported_and_changes_nothing(
    home: Home, owner: int, project: int, backup: str, how: str
) -> None:
    answer_next(home, owner, project)
    path = home.backups_dir / backup
    if how == "damaged":
        path.write_bytes(path.read_bytes()[:-1])
    if how == "gone":
        path.unlink()
    staging.stage(home.settings.home, backup)
    if how != "in use":
        home.close()
    before = state_of(home.settings.home)
    said = str(staging.carry_out(home.settings))
    assert f"{backup} was not restored." in said
    assert {"damaged": "is damaged at", "gone": "could not be restored", "in use": "is open in"}[how] in said
    assert state_of(home.settings.home) == before
    assert staging.last(home.settings.home) == said


def test_unreadable_staging_note_is_ignored(home: Home) -> None:
    for text in ("", "{}", "[]", "3"):
        (home.settings.home / staging.WANTED).write_text(text)
        assert staging.carry_out(home.settings) is None


def test_interrupted_restore_is_reported_and_not_repeated(
    home: Home, owner: int, project: int, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Winnow was killed: its progress is unknown, and people may have answered since."""
    answer_next(home, owner, project)
    home.close()
    folder = home.settings.home
    answered = state_of(folder)
    staging.stage(folder, backup)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(staging, "restore", killed)
        with pytest.raises(KeyboardInterrupt):
            staging.carry_out(home.settings)
    assert staging.staged(folder) is None
    with monkeypatch.context() as patch:
        patch.setattr(running, "share", in_use_by_another)
        assert staging.carry_out(home.settings) is None, "a restore by hand is about it"
    said = str(staging.carry_out(home.settings))
    assert f"Restoring {backup} was interrupted." in said
    assert "ask for it again" in said
    assert staging.last(folder) == said
    assert state_of(folder) == answered
    assert staging.carry_out(home.settings) is None
    staging.stage(folder, backup)
    assert f"{backup} was restored." in str(staging.carry_out(home.settings))


def in_use_by_another(folder: Path) -> None:
    raise running.InUseError(str(folder))


def test_unexpected_error_in_restore_is_reported_and_not_repeated(
    home: Home, project: int, backup: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    home.close()
    staging.stage(home.settings.home, backup)

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(staging, "restore", broken)
    said = str(staging.carry_out(home.settings))
    assert f"{backup} was not restored: ZeroDivisionError: a fault." in said
    assert "could not be restored" in caplog.text
    assert staging.last(home.settings.home) == said
    assert staging.carry_out(home.settings) is None


def test_start_during_restore_is_refused(
    home: Home, owner: int, project: int, backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the first look at the backup on, before anyone has the folder to themselves."""
    folder, check, tried = home.settings.home, restoring.check_archive, []
    saved = state_of(folder)
    answer_next(home, owner, project)
    home.close()
    staging.stage(folder, backup)

    def beside(*given: Any, **named: Any) -> Any:
        with pytest.raises(SettingsError, match=r"by another process\. Fix: try again when it has ended"):
            staging.carry_out(home.settings)
        tried.append((folder / staging.BEGUN).exists())
        return check(*given, **named)

    monkeypatch.setattr(restoring, "check_archive", beside)
    assert f"{backup} was restored." in str(staging.carry_out(home.settings))
    assert tried == [True], "the note is still there for the one that has begun"
    assert state_of(folder) == saved
    assert staging.carry_out(home.settings) is None


def test_restore_lock_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    staging.stage(tmp_path, "a.zip")
    (tmp_path / running.RESTORING).mkdir()
    with pytest.raises(SettingsError, match="restore-lock in it cannot be written: Is a directory"):
        staging.carry_out(Settings.from_environment({"WINNOW_HOME": str(tmp_path)}))
    assert staging.staged(tmp_path) == "a.zip"
