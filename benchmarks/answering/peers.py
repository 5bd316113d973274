"""Winnow and other labelling tools from PyPI: the same texts, the same answers, by each one's own HTTP interface."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import requests

from benchmarks.files.features import write_texts
from benchmarks.harness import PARTS, ROOT, Table, benchmark, folder, kept, load_average, only, page, percentiles, sized
from benchmarks.processes import Watch, family, memory
from tests.browser.server import free_port

CLIENTS, ANSWERS = sized((1, 10), tiny=(1, 2)), sized(300, tiny=6)
"""Clients at once, and the answers that they give together."""
LABELS = ("relevant", "irrelevant")
SECRET = "for-this-benchmark"  # noqa: S105 - of servers that live for some minutes
TOKEN = "0123456789abcdef0123456789abcdef01234567"  # noqa: S105


class Peer:
    """A labelling tool, installed in an environment of its own and started on a home of its own.

    distribution : its name at PyPI      installs : arguments of pip install
    durable : where an answer is stored, with the settings it comes with
    """

    name: str
    distribution: str
    installs: tuple[str, ...]
    durable: str
    is_shared = True
    """Whether several people can label one project."""
    lacks: tuple[str, ...] = ()
    """The members of MEASURES that it lacks."""

    def __init__(self, home: Path) -> None:
        self.home, self.port, self.base = home, (port := free_port()), f"http://127.0.0.1:{port}"
        self.programs = PARTS / "peers" / self.name / "bin"

    def environment(self) -> dict[str, str]:
        """Return the environment variables for its start."""
        return {}

    def prepare(self, texts: Path) -> None:
        """Do what its guide asks for before the first start."""

    def command(self) -> str:
        """Return the line for the shell that starts it."""
        raise NotImplementedError

    def is_ready(self) -> bool:
        return requests.get(self.base, timeout=5).ok

    def enter(self, number: int) -> requests.Session:
        """Sign in; return the session of one client."""
        raise NotImplementedError

    def bring_in(self, session: requests.Session, texts: Path) -> None:
        """Make a project of the texts; return once its first question can be asked."""
        raise NotImplementedError

    def ask_and_answer(self, session: requests.Session, number: int) -> None:
        """Ask for the next question and answer it. number : of the client"""
        raise NotImplementedError

    def export(self, session: requests.Session) -> bytes:
        """Return all rows as a file."""
        raise NotImplementedError

    def run(self, *words: str) -> None:
        """Run one of its commands to the end."""
        subprocess.run(
            [self.programs / words[0], *words[1:]], env=self.surroundings(), cwd=self.home, check=True, timeout=600,
            capture_output=True,
        )  # fmt: skip

    def surroundings(self) -> dict[str, str]:
        ours = {name: value for name, value in os.environ.items() if name in ("LANG", "TMPDIR")}
        path = f"{self.programs}{os.pathsep}{os.environ['PATH']}"
        return {**ours, "PATH": path, "HOME": str(self.home), **self.environment()}


class Winnow(Peer):
    name = "Winnow"
    distribution = "winnow-labels"
    installs = (str(ROOT / "plcore"), str(ROOT))
    durable = "SQLite, synced before it is acknowledged"

    def environment(self) -> dict[str, str]:
        return {"WINNOW_HOME": str(self.home), "WINNOW_PORT": str(self.port)}

    def prepare(self, texts: Path) -> None:
        for one in self.programs.parent.rglob("*.nb[ci]"):
            one.unlink()  # the first start after an installation compiles its kernels

    def command(self) -> str:
        return "winnow serve"

    def is_ready(self) -> bool:
        return requests.get(f"{self.base}/healthz", timeout=5).ok

    def enter(self, number: int) -> requests.Session:
        made = subprocess.run(
            [self.programs / "winnow", "token", f"client {number}", "--json"],
            env=self.surroundings(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        session = requests.Session()
        found = re.search(r"winnow_[\w-]+", made.stdout)
        assert found is not None, made.stdout
        session.headers["Authorization"] = f"Bearer {found[0]}"
        return session

    def bring_in(self, session: requests.Session, texts: Path) -> None:
        path = f"{self.base}/api/v1"
        with texts.open("rb") as body:
            key = _asked(session.post, f"{path}/uploads", params={"name": "texts.csv"}, data=body)["key"]
        asked = {"upload": key, "project": texts.stem}
        self.project = f"{path}/projects/{_asked(session.post, f'{path}/projects', params=asked)['id']}"
        assert _asked(session.post, f"{self.project}/questions", params={"count": 1})["questions"]

    def ask_and_answer(self, session: requests.Session, number: int) -> None:
        [question] = _asked(session.post, f"{self.project}/questions", params={"count": 1})["questions"]
        answer = {"token": question["token"], "kind": "is", "labels": [label_of(question)]}
        _asked(session.post, f"{self.project}/answers", json=answer)

    def export(self, session: requests.Session) -> bytes:
        return _file(session.get, f"{self.project}/export", params={"file": "csv"})


class LabelStudio(Peer):
    name = "Label Studio"
    distribution = "label-studio"
    installs = ("label-studio==1.23.2",)
    durable = "SQLite, synced by its default"
    CONFIG = (
        '<View><Text name="text" value="$text"/><Choices name="label" toName="text">'
        + "".join(f'<Choice value="{one}"/>' for one in LABELS)
        + "</Choices></View>"
    )

    def environment(self) -> dict[str, str]:
        return {"COLLECT_ANALYTICS": "false", "LATEST_VERSION_CHECK": "false", "SENTRY_DSN": ""}

    def command(self) -> str:
        return (
            f"label-studio start --no-browser --enable-legacy-api-token --internal-host 127.0.0.1 --port {self.port} "
            f"--data-dir '{self.home}' --username ann@example.org --password {SECRET} --user-token {TOKEN}"
        )

    def is_ready(self) -> bool:
        return self.enter(0).get(f"{self.base}/api/projects/", timeout=60).ok

    def enter(self, number: int) -> requests.Session:
        session = requests.Session()
        session.headers["Authorization"] = f"Token {TOKEN}"
        return session

    def bring_in(self, session: requests.Session, texts: Path) -> None:
        made = {"title": texts.stem, "label_config": self.CONFIG}
        self.project = f"{self.base}/api/projects/{_asked(session.post, f'{self.base}/api/projects/', json=made)['id']}"
        tasks = [{"data": {"text": one}} for one in _texts(texts)]
        _asked(session.post, f"{self.project}/import", json=tasks)
        assert _asked(session.get, f"{self.project}/next")["id"]

    def ask_and_answer(self, session: requests.Session, number: int) -> None:
        task = _asked(session.get, f"{self.project}/next")
        chosen = {"choices": [label_of(task["data"]["text"])]}
        result = [{"from_name": "label", "to_name": "text", "type": "choices", "value": chosen}]
        _asked(session.post, f"{self.base}/api/tasks/{task['id']}/annotations/", json={"result": result})

    def export(self, session: requests.Session) -> bytes:
        return _file(session.get, f"{self.project}/export", params={"exportType": "JSON", "download_all_tasks": "true"})


class AsReview(Peer):
    name = "ASReview"
    distribution = "asreview"
    installs = ("asreview==3.0.8",)
    durable = "SQLite, synced by its default"
    is_shared = False

    def environment(self) -> dict[str, str]:
        return {"ASREVIEW_PATH": str(self.home)}

    def command(self) -> str:
        return f"asreview lab --no-browser --skip-update-check --host 127.0.0.1 --port {self.port}"

    def enter(self, number: int) -> requests.Session:
        return requests.Session()

    def bring_in(self, session: requests.Session, texts: Path) -> None:
        table = self.home / f"{texts.stem}.csv"
        with table.open("w", newline="", encoding="utf-8") as file:
            rows = ((f"text {k}", one) for k, one in enumerate(_texts(texts)))
            csv.writer(file).writerows([("title", "abstract"), *rows])
        with table.open("rb") as body:
            mode, files = {"mode": "oracle"}, {"file": (table.name, body)}
            made = _asked(session.post, f"{self.base}/api/projects/create", data=mode, files=files)
        self.project = f"{self.base}/api/projects/{made['id']}"
        _asked(session.put, f"{self.project}/review", data={"status": "review"})
        assert _asked(session.get, f"{self.project}/get_record")["result"]

    def ask_and_answer(self, session: requests.Session, number: int) -> None:
        record = _asked(session.get, f"{self.project}/get_record")["result"]
        data = {"record_id": record["record_id"], "label": int(label_of(record["abstract"]) == LABELS[0])}
        _asked(session.post, f"{self.project}/record/{record['record_id']}", data={**data, "retrain_model": 1})

    def export(self, session: requests.Session) -> bytes:
        asked = {"format": "csv", "collections": ["relevant", "not_seen", "irrelevant"]}
        return _file(session.get, f"{self.project}/export_dataset", params=asked)


class Doccano(Peer):
    name = "doccano"
    distribution = "doccano"
    installs = ("doccano==1.8.4", "marshmallow<4", "numpy<2", "setuptools<81")
    durable = "SQLite, synced by its default"

    def environment(self) -> dict[str, str]:
        return {"DOCCANO_HOME": str(self.home)}

    def prepare(self, texts: Path) -> None:
        self.run("doccano", "init")
        self.run("doccano", "createuser", "--username", "ann", "--password", SECRET)

    def command(self) -> str:
        return f"doccano webserver --port {self.port} & doccano task & wait"

    def is_ready(self) -> bool:
        return requests.get(f"{self.base}/v1/me", timeout=30).status_code in (401, 403)

    def enter(self, number: int) -> requests.Session:
        login = _asked(requests.post, f"{self.base}/v1/auth/login/", json={"username": "ann", "password": SECRET})
        session = requests.Session()  # without the cookies of the sign-in, which would require more than the token
        session.headers["Authorization"] = f"Token {login['key']}"
        return session

    def bring_in(self, session: requests.Session, texts: Path) -> None:
        made = {
            "name": texts.stem, "description": "benchmark", "project_type": "DocumentClassification",
            "resourcetype": "TextClassificationProject", "single_class_classification": True,
        }  # fmt: skip
        self.project = f"{self.base}/v1/projects/{_asked(session.post, f'{self.base}/v1/projects', json=made)['id']}"
        kinds = [_asked(session.post, f"{self.project}/category-types", json={"text": one}) for one in LABELS]
        self.kinds = {one["text"]: one["id"] for one in kinds}
        lines = "\n".join(json.dumps({"text": one}) for one in _texts(texts)).encode()
        key = _file(session.post, f"{self.base}/v1/fp/process/", files={"filepond": ("texts.jsonl", lines)}).decode()
        asked = {"format": "JSONL", "task": "DocumentClassification", "uploadIds": [key], "column_data": "text"}
        self._wait(session, _asked(session.post, f"{self.project}/upload", json=asked)["task_id"])
        assert _asked(session.get, f"{self.project}/examples", params={"limit": 1})["results"]

    def _wait(self, session: requests.Session, task: str) -> None:
        while not (found := _asked(session.get, f"{self.base}/v1/tasks/status/{task}"))["ready"]:
            time.sleep(0.2)
        assert not found["error"], found

    def ask_and_answer(self, session: requests.Session, number: int) -> None:
        asked = {"confirmed": "false", "limit": 1, "offset": 100 * number}  # each client has its own part of the list
        found = _asked(session.get, f"{self.project}/examples", params=asked)["results"]
        path = f"{self.project}/examples/{found[0]['id']}"
        _asked(session.post, f"{path}/categories", json={"label": self.kinds[label_of(found[0]["text"])]})
        _asked(session.post, f"{path}/states", json={})

    def export(self, session: requests.Session) -> bytes:
        asked = {"format": "JSONL", "exportApproved": False}
        task = _asked(session.post, f"{self.project}/download", json=asked)["task_id"]
        self._wait(session, task)
        return _file(session.get, f"{self.project}/download", params={"taskId": task})


class Potato(Peer):
    name = "Potato"
    distribution = "potato-annotation"
    installs = ("potato-annotation==2.12.1",)
    durable = "a file for each person, synced"
    lacks = ("import", "import_cpu", "export_cpu")

    def prepare(self, texts: Path) -> None:
        rows = [{"id": str(k), "text": one} for k, one in enumerate(_texts(texts))]
        (self.home / "texts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
        scheme = {"annotation_type": "radio", "name": "label", "description": "Which?", "labels": list(LABELS)}
        config = {
            "annotation_task_name": "benchmark", "task_dir": ".", "data_files": ["texts.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"}, "output_annotation_dir": "annotations",
            "output_annotation_format": "jsonl", "annotation_schemes": [scheme], "require_password": False,
            "user_config": {"allow_all_users": True, "users": []}, "max_annotations_per_user": -1,
        }  # fmt: skip
        (self.home / "config.yaml").write_text(json.dumps(config))

    def command(self) -> str:
        return f"potato start config.yaml --port {self.port} --host 127.0.0.1"

    def enter(self, number: int) -> requests.Session:
        session = requests.Session()
        _file(session.post, f"{self.base}/auth", data={"email": f"person{number}", "pass": ""})
        return session

    def bring_in(self, session: requests.Session, texts: Path) -> None:
        _file(session.get, f"{self.base}/annotate")

    def ask_and_answer(self, session: requests.Session, number: int) -> None:
        shown = _asked(session.get, f"{self.base}/api/current_instance")
        chosen = {"label:" + label_of(shown["data"]["text"]): "true"}
        answer = {"instance_id": shown["instance_id"], "annotations": chosen}
        _asked(session.post, f"{self.base}/updateinstance", json=answer)
        _file(session.post, f"{self.base}/annotate", json={"action": "next_instance"})

    def export(self, session: requests.Session) -> bytes:
        self.run("python", "-m", "potato.export", "--config", "config.yaml", "--format", "csv", "--output", "out")
        return b"".join(one.read_bytes() for one in sorted((self.home / "out").rglob("*")) if one.is_file())


PEERS: tuple[type[Peer], ...] = (Winnow, LabelStudio, AsReview, Doccano, Potato)


@benchmark("Compared with other labelling tools")
def peers() -> str:
    chosen = {one.name: one for one in PEERS if one.name in only([one.name for one in PEERS])}
    rows = sized(10_000, tiny=30, full=100_000)
    found = {name: kept("peers", f"{name} {rows}", partial(measure, kind, rows)) for name, kind in chosen.items()}
    table = Table(["what", *(f"{name} {one['version']}" for name, one in found.items()), "advantage of Winnow"])
    for key, (words, digits) in MEASURES.items():
        figures = {name: one[key] for name, one in found.items()}
        others = [one for name, one in figures.items() if name != Winnow.name and one is not None]
        mine, more = figures.get(Winnow.name), key.endswith("a second")
        best = max(others, default=0) if more else min(others, default=0)
        ratio = f"{mine / best if more else best / mine:.2f}" if mine and best else ""
        cells = ("" if one is None else f"{one:,.{digits}f}" for one in figures.values())
        table.add(words.format(rows=rows), *cells, ratio)
    table.add("an answer is stored in", *(chosen[name].durable for name in found), "")
    return page(
        table,
        f"""Each tool in an environment of its own, from PyPI as pip installs it, with the settings it comes with, one
after the other on one machine. Each stores its data in files or SQLite. {rows:,} texts of 20 words, two classes, all
rows open. *First start*: from the preparations in its guide (databases, an account) to its first page; CPU seconds are
counted until the tool is idle (Winnow still compiles after its first page). CPU seconds are of all processes. *Memory*:
of all its processes; what they share counts once. *Import*: from the request until the first question is given; Potato
reads texts at its start. *Answers*: one client, then ten; each asks for the next question by HTTP and answers it,
{ANSWERS} in all; ASReview's projects have one person here. Winnow and ASReview train models during this time, which is
counted. *Export*: all rows; Potato's command writes the answered ones. *Advantage of Winnow*: how many times less it
needs than the best other tool, or how many times as many answers it stores; below 1 another tool is ahead.""",
        load_average(),
    )


MEASURES = {
    "installed": ("installed, MB", 0),
    "packages": ("packages", 0),
    "install": ("installation, s", 0),
    "first": ("first start, s", 1),
    "first_cpu": ("first start, CPU s", 1),
    "start": ("later start, s", 1),
    "start_cpu": ("later start, CPU s", 1),
    "rest": ("memory after the start, MB", 0),
    "import": ("import of {rows:,} texts, s", 1),
    "import_cpu": ("import, CPU s", 1),
    **{
        f"{clients} {key}": (f"{words}, {clients} client{'s' * (clients > 1)}{unit}", digits)
        for clients in CLIENTS
        for key, words, unit, digits in (
            ("cpu", "next question and answer", ", CPU ms", 1),
            ("ms", "the same", ", median ms", 0),
            ("late", "the same", ", 95th percentile ms", 0),
            ("a second", "answers a second", "", 1),
            ("refused", "answers refused", "", 0),
        )
    },
    "end": ("memory after that, MB", 0),
    "export": ("export, s", 2),
    "export_cpu": ("export, CPU s", 2),
    "disk": ("its folder, MB", 1),
}


def measure(kind: type[Peer], rows: int) -> dict[str, Any]:
    """Return the cost of a tool; None if it has no such step."""
    with folder() as place:
        write_texts(drawn := place / "drawn.csv", rows)
        with (texts := place / "texts.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("text", "candidates"), *((one, "|".join(LABELS)) for one in _texts(drawn))])
        (home := place / "home").mkdir()
        peer = kind(home)
        found: dict[str, Any] = dict.fromkeys(MEASURES) | install(peer)
        with Watch() as watch:
            begun = time.perf_counter()
            peer.prepare(texts)
            with running(peer) as root:
                found["first"] = time.perf_counter() - begun
                until_idle(root)
        found["first_cpu"] = watch.cpu
        with ExitStack() as stack:
            with Watch() as watch:
                root = stack.enter_context(running(peer))
            found |= {"start": watch.wall, "start_cpu": watch.cpu, "rest": memory_of(root)}
            found |= use(peer, root, texts)
        found["disk"] = sum(one.stat().st_size for one in home.rglob("*") if one.is_file()) / 1e6
    return found | dict.fromkeys(peer.lacks)


def install(peer: Peer) -> dict[str, Any]:
    """Install a tool, or return the cost of its earlier installation."""
    made = peer.programs.parent

    def install_now() -> dict[str, Any]:
        shutil.rmtree(made, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", made], check=True)
        with Watch() as watch:
            run = [str(peer.programs / "pip"), "install", "--quiet", *peer.installs]
            subprocess.run(run, check=True, capture_output=True)
        listed = subprocess.run([peer.programs / "pip", "list", "--format=json"], check=True, capture_output=True)
        versions = {one["name"].lower(): one["version"] for one in json.loads(listed.stdout)}
        size = sum(one.stat().st_size for one in made.rglob("*") if one.is_file() and not one.is_symlink())
        version = versions[peer.distribution]
        return {"installed": size / 1e6, "packages": len(versions), "install": watch.wall, "version": version}

    return dict(kept("peers", "installed", install_now, made))


@contextmanager
def running(peer: Peer) -> Iterator[int]:
    """Start a tool; yield the id of its first process once its first page is there."""
    with (peer.home.parent / "log").open("ab") as log:
        process = subprocess.Popen(
            ["sh", "-c", peer.command()], env=peer.surroundings(), cwd=peer.home, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
    try:
        while True:
            with suppress(requests.RequestException):
                if peer.is_ready():
                    break
            assert process.poll() is None, (peer.home.parent / "log").read_text()[-2000:]
            time.sleep(0.05)
        yield process.pid
    finally:
        end(process)


def until_idle(root: int) -> None:
    """Wait until a tool has finished its own work after its start, at most two minutes."""
    for _ in range(40):
        with Watch(root) as watch:
            time.sleep(3)
        if watch.cpu < 0.1 * watch.wall:
            return


def end(process: subprocess.Popen[bytes]) -> None:
    """End a tool with all its processes and wait, because the next start needs its port."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        for _ in range(300):
            process.poll()  # the shell leaves the group only after its end was noticed
            os.killpg(process.pid, 0)
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGKILL)


def memory_of(root: int) -> float:
    """Return MB of a process and its descendants; what they share counts once."""
    return sum(memory(one).get("Pss", 0.0) for one in family(root))


def use(peer: Peer, root: int, texts: Path) -> dict[str, Any]:
    """Import the texts, answer by one client and by several, export."""
    first = peer.enter(0)
    with Watch(root) as watch:
        peer.bring_in(first, texts)
    found = {"import": watch.wall, "import_cpu": watch.cpu}
    for clients in CLIENTS:
        if clients > 1 and not peer.is_shared:
            continue
        sessions = [first, *(peer.enter(k) for k in range(1, clients))]
        with Watch(root) as watch:
            times, refused = answer(peer, sessions)
        mid, late = (float(one) for one in percentiles(times, 50, 95, digits=3))
        found |= {
            f"{clients} cpu": 1e3 * watch.cpu / len(times), f"{clients} a second": len(times) / watch.wall,
            f"{clients} ms": mid, f"{clients} late": late, f"{clients} refused": refused,
        }  # fmt: skip
    found["end"] = memory_of(root)
    with Watch(root) as watch:
        assert peer.export(first)
    return found | {"export": watch.wall, "export_cpu": watch.cpu}


def answer(peer: Peer, sessions: Sequence[requests.Session]) -> tuple[list[float], int]:
    """Give ANSWERS answers by these clients at once; return the ms of each, and how many others were refused."""
    times: list[float] = []
    refused: list[RefusedError] = []

    def go_on(number: int) -> None:
        for _ in range(ANSWERS // len(sessions)):
            begun = time.perf_counter()
            try:
                peer.ask_and_answer(sessions[number], number)
                times.append(1e3 * (time.perf_counter() - begun))
            except RefusedError as error:
                refused.append(error)

    with ThreadPoolExecutor(len(sessions)) as pool:
        list(pool.map(go_on, range(len(sessions))))
    if refused:
        print(peer.name, len(refused), refused[0])
    return times, len(refused)


def label_of(shown: object) -> str:
    """Return the label that the benchmark gives to the shown item."""
    return LABELS[zlib.crc32(str(shown).encode()) % len(LABELS)]


class RefusedError(Exception):
    """A tool failed to do a requested step."""


def _file(send: Callable[..., requests.Response], address: str, **how: Any) -> bytes:
    """Return the body of a reply; raise an error with its content if it failed."""
    reply = send(address, **how)
    if not reply.ok:
        raise RefusedError(f"{reply.request.method} {address}: {reply.status_code} {reply.text[:500]}")
    return reply.content


def _asked(send: Callable[..., requests.Response], address: str, **how: Any) -> Any:
    return json.loads(_file(send, address, **how) or b"null")


def _texts(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["text"] for row in csv.DictReader(file)]
