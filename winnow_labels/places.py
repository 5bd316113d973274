"""Places that a command reads from and writes to: a path, `-` for standard input and output, or an address such as
`s3://bucket/birds.csv`.

Only commands open addresses, for the person who types them; pages and the HTTP API never do (decision 79). Credentials
come from the environment.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import unquote

import click

from winnow_labels import __version__
from winnow_labels.options import counted, megabytes, say

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

STANDARD = "-"
"""Names standard input or output; a file of this name is `./-`."""
PACKAGES = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "sftp": "paramiko"}
"""Packages that fsspec needs, by the beginning of the address; that of hf:// is always installed."""
_FILE = "file://"
"""Begins the address of a path."""
_ADDRESS = re.compile(rf"(?!{_FILE})([A-Za-z][\w+.-]+)://")
_WITH_PASSWORD = re.compile(r"[^/@]*:[^/@]*@")
_WEB = ("http", "https")
DATA_SET = "hf://datasets/USER/NAME"
_DATA_SET = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)/?")
_PIECE = 1 << 20
"""Bytes copied at a time."""
_SECONDS = 60
"""Longest silence of a web server."""
_IS_READ = "winnow.standard-input"


class FileOptions(TypedDict):
    """Options of a command about a file: further files, and how it is read."""

    rows: str | None
    vectors: str | None
    as_it_is: bool
    ways: dict[str, str]


class FileToRead(click.Path):
    """A file, or a folder if `dir_okay`, to read; `on_disk` finds it."""

    def __init__(self, *, dir_okay: bool = True) -> None:
        super().__init__(exists=True, dir_okay=dir_okay, allow_dash=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return an address unchanged, and a path if it exists."""
        return value if _protocol(value) is not None else super().convert(value.removeprefix(_FILE), param, ctx)


def on_disk(what: str, files: FileOptions) -> tuple[Path, dict[str, Any]]:
    """Return the path of a file to read, and the other arguments of `workflow.importing.read_paths`.

    Anything that is not on this machine is first copied to a scratch file, which is removed when the command ends.
    Raises ClickException if it cannot be read, or the disk is full.
    """
    rows, vectors = (None if one is None else path_of(one) for one in (files["rows"], files["vectors"]))
    return path_of(what), {**files, "rows": rows, "vectors": vectors}


def path_of(what: str) -> Path:
    """Return the path of a file to read, like `on_disk`."""
    if _protocol(what) is not None:
        return _fetched(what)
    if what != STANDARD:
        return _local(what)
    context = click.get_current_context()
    if sys.stdin is None or context.meta.get(_IS_READ):
        why = "is closed" if sys.stdin is None else "can be only one of the files"
        raise click.UsageError(f"Standard input {why}. Fix: name a file.")
    context.meta[_IS_READ] = True
    target = _scratch() / "standard input"
    _copy(iter(lambda: sys.stdin.buffer.read(_PIECE), b""), target)
    return target


def project_name(what: str) -> str:
    """Return the name of a project made from this file. Raises UsageError for standard input, which has none."""
    if what == STANDARD:
        raise click.UsageError("Standard input has no name. Fix: name the project, such as --name birds.")
    if _protocol(what) is not None:
        return PurePosixPath(file_name(what)).stem
    return _local(what).stem or _local(what).resolve().stem  # of "." the folder's name


def file_name(address: str) -> str:
    """Return the last part of an address without its query."""
    from workflow.files.arriving import plain_name

    path = address.partition("://")[2].rstrip("/")
    return plain_name(unquote(path.partition("?")[0]).rstrip("/") if _protocol(address) in _WEB else path)


@contextmanager
def written(target: str) -> Iterator[Path]:
    """Yield the path at which to write a file. For an address it is a scratch file, which is sent there at the end: so
    nothing is sent of a file that could not be written whole. Raises ClickException if it cannot be sent."""
    if _protocol(target) is None:
        yield _local(target)
        return
    if _protocol(target) in _WEB:
        raise click.UsageError(f"A file cannot be sent to {_shown(target)}. Fix: write to a path, and upload that.")
    system, place = _file_system(target)
    path = _scratch() / file_name(target)
    yield path
    if sys.stderr.isatty():
        say(f"Sending {counted(path.stat().st_size, 'byte')} to {_shown(target)} ...", err=True)
    with _trying(target, "written"):
        system.put_file(str(path), place)


@contextmanager
def pushed(address: str, *, private: bool) -> Iterator[Path]:
    """Yield the path at which to write a zip, whose files are at the end sent to a data set of the Hugging Face Hub, in
    one commit. private : of a data set that is created      Raises ClickException."""
    data_set, folder = _data_set(address), _scratch()
    path = folder / "dataset.zip"
    yield path
    with _trying(address, "written"):
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars

        if not sys.stderr.isatty():
            disable_progress_bars()
        shutil.unpack_archive(path, folder / "files")
        hub = HfApi(library_name="winnow-labels", library_version=__version__)
        hub.create_repo(data_set, repo_type="dataset", private=private, exist_ok=True)
        hub.upload_folder(
            repo_id=data_set, folder_path=folder / "files", repo_type="dataset", commit_message="Labels from Winnow"
        )


def data_set_name(address: str) -> str:
    """Return the NAME of a data set on the hub. Raises UsageError for any other address."""
    return _data_set(address).partition("/")[2]


def _data_set(address: str) -> str:
    """Return USER/NAME of a data set on the hub."""
    found = _DATA_SET.fullmatch(address)
    if found is None:
        raise click.UsageError(f"A data set is at {DATA_SET}. Got {address!r:.100}.")
    return found[1]


def _protocol(what: str) -> str | None:
    """Return the beginning of an address in lower case; None for a path."""
    found = _ADDRESS.match(what)
    return None if found is None else found[1].lower()


def _local(what: str) -> Path:
    return Path(what.removeprefix(_FILE))


def _shown(address: str) -> str:
    """Return an address for messages, without the query, which may hold a key."""
    return address.partition("?")[0]


@contextmanager
def _trying(address: str, done: str) -> Iterator[None]:
    """Raise ClickException for any error of a library that reaches an address: each has its own."""
    try:
        yield
    except click.ClickException:
        raise
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        why = "there is no such file" if isinstance(error, FileNotFoundError) else why
        fix = "check the address, and the credentials in the environment"
        raise click.ClickException(f"{_shown(address)} cannot be {done}: {why}. Fix: {fix}.") from error


def _file_system(address: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system of an address, and the path in it. Raises ClickException."""
    _check(address)
    protocol = _protocol(address)
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise click.ClickException(
            f"{protocol}:// needs the package fsspec. Fix: pip install 'winnow-labels[remote]'."
        ) from None
    try:
        found: tuple[AbstractFileSystem, str] = url_to_fs(address)
    except ImportError as error:
        package = PACKAGES.get(protocol or "")
        fix = f"the package {package}. Fix: pip install {package}" if package else f"a further package. Fix: {error}"
        raise click.ClickException(f"{protocol}:// needs {fix}.") from None
    except ValueError as error:
        said = f"{_shown(address)} is not an address: {error}. Fix: begin it as in s3://."
        raise click.ClickException(said) from None
    return found


def _check(address: str) -> None:
    if _WITH_PASSWORD.match(address.partition("://")[2]):
        raise click.UsageError("An address has no password here. Fix: put credentials into the environment.")


def _fetched(address: str) -> Path:
    """Copy the file or folder at an address to a scratch folder; return its path there."""
    target = _scratch() / file_name(address)
    if _protocol(address) in _WEB:
        _check(address)
        with _trying(address, "read"):
            _download(address, target)
        return target
    system, path = _file_system(address)
    with _trying(address, "read"):
        if not system.isdir(path):
            _copy_file(system, path, target)
            return target
        names = system.find(path)
        _check_count(len(names), address)
        for each in names:
            inside = PurePosixPath(each.removeprefix(path).lstrip("/"))
            if not inside.parts:  # an empty object that marks the folder
                continue
            if ".." in inside.parts:
                raise click.ClickException(f"{_shown(address)} names a file outside of the folder: {each}.")
            (target / inside).parent.mkdir(parents=True, exist_ok=True)
            _copy_file(system, each, target / inside)
    return target


def _check_count(n_files: int, address: str) -> None:
    from workflow.importing import MAX_FILES

    if n_files > MAX_FILES:
        raise click.ClickException(
            f"{_shown(address)} holds {counted(n_files, 'file')}, more than {MAX_FILES:,}. Fix: name a folder in it."
        )


def _download(address: str, target: Path) -> None:
    import httpx2

    as_it_is = {"accept-encoding": "identity"}
    with httpx2.stream("GET", address, headers=as_it_is, follow_redirects=True, timeout=_SECONDS) as reply:
        if not reply.is_success:
            raise click.ClickException(
                f"{_shown(address)} cannot be read: the server answered {reply.status_code}. Fix: check the address."
            )
        size = reply.headers.get("content-length", "")
        _copy(reply.iter_bytes(_PIECE), target, int(size) if size.isdecimal() else None)


def _copy_file(system: AbstractFileSystem, path: str, target: Path) -> None:
    with system.open(path, "rb") as file:
        _copy(iter(lambda: file.read(_PIECE), b""), target, system.size(path))


def _scratch() -> Path:
    """Return a new folder that is removed when the command ends."""
    from workflow.files.scratch import Scratch

    scratch = Scratch()
    click.get_current_context().call_on_close(lambda: scratch.close())  # keeps it until then
    return scratch.path


def _copy(pieces: Iterable[bytes], target: Path, size: int | None = None) -> None:
    """Write pieces to a new file. size : bytes in all, if known, which are shown on a terminal"""
    from workflow.files.arriving import SPARE

    tell, done = megabytes(), 0
    with target.open("xb") as file:
        for piece in pieces:
            if shutil.disk_usage(target.parent).free - max(len(piece), (size or 0) - done) < SPARE:
                raise click.ClickException(
                    f"There is no room left on the disk for {target.name}: it is copied into {target.parent.parent}. "
                    "Fix: make room there, or set TMPDIR to another folder."
                )
            file.write(piece)
            done += len(piece)
            if tell is not None and size is not None:
                tell(done, size)
