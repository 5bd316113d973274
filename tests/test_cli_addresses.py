"""The command line: files at addresses, by fsspec and from web servers on 127.0.0.1."""

from __future__ import annotations

import base64
import gc
import io
import json
import re
import sys
import tempfile
import threading
import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import fsspec
import numpy as np
import pandas as pd
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from huggingface_hub import HfFileSystem

import cli
from tests.test_cli import Shell, shell
from tests.test_house import sources
from winnow_labels import places
from workflow import importing
from workflow.files import arriving

__all__ = ["shell"]

CSV = "id,candidates,text\na,wren|robin,small brown\nb,robin,red breast\nc,wren|robin,small brown\n"


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of scratch files, in which a command leaves none."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    gc.collect()  # of the input of a refused command
    assert list(folder.iterdir()) == []


@pytest.fixture
def memory() -> Iterator[MemoryFileSystem]:
    """The file system behind memory://, empty before and after."""
    found: MemoryFileSystem = fsspec.filesystem("memory")
    MemoryFileSystem.store.clear()
    yield found
    MemoryFileSystem.store.clear()
    MemoryFileSystem.pseudo_dirs[:] = [""]


def parquet(ids: str) -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"id": list(ids), "candidates": [["wren", "robin"]] * len(ids), "x": range(len(ids))}).to_parquet(file)
    return file.getvalue()


class TestFileSystem:
    def test_import_and_append_read_file(self, shell: Shell, memory: MemoryFileSystem) -> None:
        memory.pipe_file("/aviary/birds.csv", CSV.encode())
        memory.pipe_file("/aviary/more.csv", CSV.replace("\na,", "\nd,").encode())
        assert shell.done("import", "memory://aviary/birds.csv") == "Project 1: 3 rows, 2 classes.\n"
        assert json.loads(shell.done("projects", "--json"))[0]["name"] == "birds"
        assert shell.done("append", 1, "memory://aviary/more.csv") == "Project 1: 1 row added, 4 in all.\n"

    def test_import_reads_folder_of_parts(self, shell: Shell, memory: MemoryFileSystem) -> None:
        memory.pipe_file("/aviary/parts/first/a.parquet", parquet("abc"))
        memory.pipe_file("/aviary/parts/second/b.parquet", parquet("de"))
        assert "Project 1: 5 rows, 2 classes.\n" in shell.done("import", "memory://aviary/parts/")
        assert json.loads(shell.done("projects", "--json"))[0]["name"] == "parts"

    def test_files_next_to_table_are_read(self, shell: Shell, memory: MemoryFileSystem) -> None:
        memory.pipe_file("/votes.csv", b"task,worker,label\na,Ann,wren\na,Bob,robin\nb,Ann,wren\n")
        memory.pipe_file("/rows.csv", b"task,x\na,1\nb,2\n")
        vectors = io.BytesIO()
        np.savez(vectors, ids=np.array(["a", "b"]), embeddings=np.eye(2, dtype=np.float32))
        memory.pipe_file("/v.npz", vectors.getvalue())
        words = ("--rows", "memory://rows.csv", "--embeddings", "memory://v.npz")
        status, _, err = shell("import", "memory://votes.csv", *words)
        assert status == 0, err
        assert "Vectors of 2 numbers were joined" in err

    @pytest.mark.parametrize("command", ["compare", "simulate", "verify"])
    def test_other_commands_read_file(self, shell: Shell, memory: MemoryFileSystem, command: str) -> None:
        memory.pipe_file("/birds.csv", CSV.encode())
        refused = shell.refused(command, "memory://birds.csv")
        assert any(said in refused for said in ("too few to compare", "has no true labels", "the header of a log"))

    def test_missing_file_is_refused(self, shell: Shell, memory: MemoryFileSystem) -> None:
        refused = shell.refused("import", "memory://aviary/none.csv")
        assert refused.startswith("Error: memory://aviary/none.csv cannot be read: there is no such file. Fix: check")

    def test_error_of_library_is_refused_in_one_line(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("no\ncredentials")

        memory.pipe_file("/birds.csv", CSV.encode())
        monkeypatch.setattr(MemoryFileSystem, "_open", fail)
        assert "memory://birds.csv cannot be read: no credentials. Fix: " in shell.refused(
            "import", "memory://birds.csv"
        )

    def test_path_outside_of_folder_is_refused(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        memory.pipe_file("/aviary/a.csv", CSV.encode())
        monkeypatch.setattr(MemoryFileSystem, "find", lambda *_: ["/aviary/../../../a.csv"])
        assert "names a file outside of the folder" in shell.refused("import", "memory://aviary")
        assert list(tmp_path.rglob("a.csv")) == []

    def test_folder_of_too_many_files_is_refused(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in "abc":
            memory.pipe_file(f"/aviary/{name}.parquet", parquet(name))
        monkeypatch.setattr(importing, "MAX_FILES", 2)
        said = "Error: memory://aviary holds 3 files, more than 2. Fix: name a folder in it."
        assert shell.refused("import", "memory://aviary") == said

    def test_object_that_marks_folder_is_skipped(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.pipe_file("/aviary/a.parquet", parquet("abc"))
        monkeypatch.setattr(MemoryFileSystem, "find", lambda *_: ["/aviary/", "/aviary/a.parquet"])
        assert "Project 1: 3 rows" in shell.done("import", "memory://aviary")

    def test_ctrl_c_leaves_nothing(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        def interrupt(*_: object, **__: object) -> None:
            assert list((tmp_path / "scratch").iterdir())
            raise KeyboardInterrupt

        memory.pipe_file("/birds.csv", CSV.encode())
        monkeypatch.setattr(places, "_copy", interrupt)
        assert shell("import", "memory://birds.csv")[0] == cli.INTERRUPTED
        assert json.loads(shell.done("projects", "--json")) == []

    def test_full_disk_is_refused_before_reading(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.pipe_file("/birds.csv", CSV.encode())
        monkeypatch.setattr(arriving, "SPARE", 1 << 62)
        assert "no room left on the disk for birds.csv" in shell.refused("import", "memory://birds.csv")

    def test_progress_is_shown_on_terminal_only(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        memory.pipe_file("/birds.csv", CSV.encode() + b"\n" * 2_000_000)
        assert "\r" not in shell("import", "memory://birds.csv", "--dry-run")[2]
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        assert "\r1.0 of 2.0 MB\r2.0 of 2.0 MB" in shell("import", "memory://birds.csv", "--dry-run")[2]


class TestExport:
    def test_export_sends_same_file(self, shell: Shell, memory: MemoryFileSystem, tmp_path: Path) -> None:
        (tmp_path / "birds.csv").write_text(CSV)
        shell.done("import", tmp_path / "birds.csv")
        for name in ("out.csv", "out.parquet"):
            document = json.loads(shell.done("export", 1, "--to", f"memory://aviary/{name}", "--json"))
            shell.done("export", 1, "--to", tmp_path / name)
            sent = memory.cat_file(f"/aviary/{name}")
            assert sent == (tmp_path / name).read_bytes()
            form = name.partition(".")[2]
            assert document == {"file": f"memory://aviary/{name}", "format": form, "bytes": len(sent)}

    def test_refused_export_sends_nothing(
        self, shell: Shell, memory: MemoryFileSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "birds.csv").write_text(CSV)
        shell.done("import", tmp_path / "birds.csv")
        assert "There is no project 7" in shell.refused("export", 7, "--to", "memory://out.csv")
        assert "sets its format" in shell.refused("export", 1, "--to", "memory://out.doc")
        assert "cannot be sent to https://a.org/out.csv." in shell.refused("export", 1, "--to", "https://a.org/out.csv")
        assert MemoryFileSystem.store == {}

        def fail(*_: object, **__: object) -> None:
            raise PermissionError("Access Denied")

        monkeypatch.setattr(MemoryFileSystem, "put_file", fail)
        said = shell.refused("export", 1, "--to", "memory://out.csv")
        assert "memory://out.csv cannot be written: Access Denied. Fix: check" in said


def test_file_address_is_a_path(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "birds.csv").write_text(CSV)
    assert "3 rows" in shell.done("import", f"file://{tmp_path}/birds.csv", "--dry-run")
    assert "does not exist" in shell.refused("import", f"file://{tmp_path}/none.csv")
    shell.done("import", f"file://{tmp_path}/birds.csv")
    shell.done("export", 1, "--to", f"file://{tmp_path}/out.csv")
    assert (tmp_path / "out.csv").read_text() == shell.done("export", 1)


class TestAddress:
    def test_missing_package_is_named(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("s3fs", "gcsfs"):
            monkeypatch.setitem(sys.modules, name, None)
        assert shell.refused("import", "s3://b/a.csv") == "Error: s3:// needs the package s3fs. Fix: pip install s3fs."
        assert "gs:// needs the package gcsfs." in shell.refused("export", 1, "--to", "gs://b/a.csv")
        monkeypatch.setitem(sys.modules, "fsspec.core", None)
        said = "Error: s3:// needs the package fsspec. Fix: pip install 'winnow-labels[remote]'."

        assert shell.refused("import", "s3://b/a.csv") == said

    def test_unknown_protocol_is_refused(self, shell: Shell) -> None:
        assert "Protocol not known: s33. Fix: begin it as in s3://." in shell.refused("import", "s33://b/a.csv")

    @pytest.mark.parametrize("address", ["https://ann:secret@localhost/a.csv", "sftp://ann:secret@localhost/a.csv"])
    def test_password_is_refused(self, shell: Shell, address: str) -> None:
        for words in (("import", address), ("export", 1, "--to", address.replace("https", "ftp"))):
            refused = shell.refused(*words)
            assert "Fix: put credentials into the environment." in refused
            assert "secret" not in refused


class Web(BaseHTTPRequestHandler):
    """Web server that also answers as a hub of data sets with one file each. pushed : what was sent there, by path
    files : path and content of the file of each data set"""

    pushed: ClassVar[dict[str, str]] = {}
    files: ClassVar[dict[str, tuple[str, bytes]]] = {"birds": ("data/birds.csv", CSV.encode())}

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/moved.csv":
            self.send_response(302)
            self.send_header("Location", "/birds.csv")
            self.end_headers()
        elif path == "/packed.csv" and "gzip" in self.headers["accept-encoding"]:
            self._send(500, b"")
        elif path == "/endless.csv":
            self._send(200, b"x" * (1 << 20), 60)
        elif path == "/birds%20of%20prey.csv" or (path, query) == ("/birds.csv", "key=secret"):
            self._send(200, CSV.encode())
        elif found := re.match(r"/api/datasets/ann/(birds|labels)(/tree/main)?", path):
            about = {"id": f"ann/{found[1]}", "sha": "0" * 40, "tags": [], "siblings": []}
            self._send_json([self._file(found[1])] if found[2] else about)
        elif found := re.match(r"/datasets/ann/(birds|labels)/resolve/main/", path):
            self._send(200, self.files[found[1]][1])
        else:
            self._send(200 if path in ("/birds.csv", "/packed.csv") else 404, CSV.encode())

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["content-length"])).decode()
        self.pushed[self.path] = asked
        if found := re.fullmatch("/api/datasets/ann/(birds|labels)/paths-info/main", self.path):
            file = self._file(found[1])
            self._send_json([file] if str(file["path"]) in unquote(asked) else [])
        elif self.path == "/api/repos/create":
            self._send_json({"url": f"http://{self.headers['host']}/datasets/ann/labels"})
        elif self.path == "/api/datasets/ann/labels/preupload/main":
            files = [{**one, "uploadMode": "regular", "shouldIgnore": False} for one in json.loads(asked)["files"]]
            self._send_json({"files": files})
        elif self.path == "/api/datasets/ann/labels/commit/main":
            url = f"http://{self.headers['host']}/datasets/ann/labels/commit/1"
            self._send_json({"commitUrl": url, "commitOid": "1", "success": True})
        elif self.path == "/api/validate-yaml":
            self._send_json({"errors": [], "warnings": []})
        else:
            self._send(404, b"{}")

    def log_message(self, *_: object) -> None:
        pass

    def _file(self, data_set: str) -> dict[str, object]:
        path, content = self.files[data_set]
        return {"type": "file", "path": path, "size": len(content), "oid": "0" * 40}

    def _send_json(self, content: object) -> None:
        self._send(200, json.dumps(content).encode())

    def _send(self, status: int, piece: bytes, times: int = 1) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(piece) * times))
        self.end_headers()
        for _ in range(times):
            self.wfile.write(piece)


@pytest.fixture
def web() -> Iterator[str]:
    """The address of the server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Web)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


class TestWeb:
    def test_import_reads_file(self, shell: Shell, web: str) -> None:
        assert shell.done("import", f"{web}/birds.csv?key=secret") == "Project 1: 3 rows, 2 classes.\n"
        shell.done("import", f"{web}/birds%20of%20prey.csv")
        assert "3 rows" in shell.done("import", f"{web}/moved.csv", "--dry-run")
        assert "3 rows" in shell.done("import", f"{web}/packed.csv", "--dry-run"), "is sent as it is"
        names = {one["name"] for one in json.loads(shell.done("projects", "--json"))}
        assert names == {"birds", "birds of prey"}

    def test_missing_file_is_refused_without_query(self, shell: Shell, web: str) -> None:
        refused = shell.refused("import", f"{web}/none.csv?key=secret")
        assert refused == f"Error: {web}/none.csv cannot be read: the server answered 404. Fix: check the address."

    def test_unreachable_server_is_refused(self, shell: Shell) -> None:
        assert "http://127.0.0.1:9/a.csv cannot be read: " in shell.refused("import", "http://127.0.0.1:9/a.csv")
        assert "cannot be read: " in shell.refused("import", "http://[x/a.csv")

    def test_large_file_is_copied_in_little_memory(self, web: str, tmp_path: Path) -> None:
        tracemalloc.start()
        try:
            places._download(f"{web}/endless.csv", tmp_path / "endless.csv")
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (tmp_path / "endless.csv").stat().st_size == 60 << 20
        assert peak < 16 << 20


@pytest.fixture
def hub(web: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The server is the hub of `huggingface_hub`, which reads HF_ENDPOINT only when it is imported."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", web)
    template = f"{web}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setenv("HF_TOKEN", "hf_of_ann")
    Web.pushed.clear()
    HfFileSystem.clear_instance_cache()
    yield
    HfFileSystem.clear_instance_cache()


@pytest.mark.usefixtures("hub")
class TestHub:
    def test_import_reads_file_of_data_set(self, shell: Shell) -> None:
        status, out, err = shell("import", "hf://datasets/ann/birds/data/birds.csv")
        assert (status, out) == (0, "Project 1: 3 rows, 2 classes.\n"), err

    @pytest.mark.parametrize("options", [(), ("--public",)])
    def test_pushed_data_set_is_one_commit_and_is_pulled(
        self, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
    ) -> None:
        (tmp_path / "birds.csv").write_text(CSV)
        shell.done("import", tmp_path / "birds.csv")
        words = ("push", 1, "hf://datasets/ann/labels", "--card", "license=cc-by-4.0", *options)
        assert json.loads(shell.done(*words, "--json")) == {"address": "hf://datasets/ann/labels"}
        made = json.loads(Web.pushed["/api/repos/create"])
        assert (made["name"], made["organization"], made["type"]) == ("labels", "ann", "dataset")
        assert made["visibility"] == ("public" if options else "private")
        lines = map(json.loads, Web.pushed["/api/datasets/ann/labels/commit/main"].splitlines())
        _, *sent = [one["value"] for one in lines]
        files = {one["path"]: base64.b64decode(one["content"]) for one in sent}
        assert set(files) == {"README.md", "data.parquet", "log.jsonl", "metadata.json"}
        assert b'license: "cc-by-4.0"' in files["README.md"]
        monkeypatch.setitem(Web.files, "labels", ("data.parquet", files["data.parquet"]))
        assert shell.done("pull", "hf://datasets/ann/labels") == "Project 2: 3 rows, 2 classes.\n"
        first, second = json.loads(shell.done("projects", "--json"))
        assert {first["name"], second["name"]} == {"birds", "labels"}
        own = ["id", "candidates", "text"]
        tables = [pd.read_csv(io.StringIO(shell.done("export", number)))[own] for number in (1, 2)]
        assert tables[0].equals(tables[1]), "pulled as it was pushed"

    def test_refused_push_sends_nothing(self, shell: Shell, tmp_path: Path) -> None:
        assert "There is no project 7 here" in shell.refused("push", 7, "hf://datasets/ann/labels")
        for address in ("s3://ann/labels", "hf://ann/labels", "hf://datasets/ann", "hf://datasets/ann/labels/a.csv"):
            for words in (("push", 1, address), ("pull", address)):
                assert f"A data set is at hf://datasets/USER/NAME. Got '{address}'." in shell.refused(*words)
        assert Web.pushed == {}
        (tmp_path / "birds.csv").write_text(CSV)
        shell.done("import", tmp_path / "birds.csv")
        said = shell.refused("push", 1, "hf://datasets/bob/labels")
        assert said.startswith("Error: hf://datasets/bob/labels cannot be written: ")
        assert not [path for path in Web.pushed if "/commit/" in path]


def test_only_commands_open_addresses() -> None:
    """Pages and the HTTP API take files, never addresses: decision 79."""
    assert {path for path, text in sources().items() if "fsspec" in text} == {"winnow_labels/places.py"}
