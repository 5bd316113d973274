"""A limited process reads files within its bounds."""

from __future__ import annotations

import base64
import io
import json
import os
import resource
import select
import socket
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from plcore.tables import MediaError, thumbnail
from plcore.tables.encoders import Description, taken
from tests.conftest import ROOT
from tests.plcore.tables.zips import picture
from tests.workflow.sounds import tone
from workflow.files.limited import Bounds, asking, helper, jobs, look, looking

# A viewer of a file gets its result or a message


def test_result_of_limited_process_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture(1))
    assert base64.b64decode(look("small_picture", {"path": str(path)}, 1)) == thumbnail(picture(1))


def test_undecodable_image_is_reported_with_fix(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture(1)[:50])
    with pytest.raises(MediaError) as caught:
        look("small_picture", {"path": str(path)}, 50)
    assert "damaged" in caught.value.args[0]
    assert "Save it as PNG" in caught.value.args[1]
    with pytest.raises(FileNotFoundError):
        look("small_picture", {"path": str(tmp_path / "none.png")}, 50)


def test_limit_is_reported_for_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.png"
    path.write_bytes(picture(1, "PNG", (3_500, 3_500)))
    monkeypatch.setattr(looking, "LEAST_MB", 20)
    with pytest.raises(MediaError) as caught:
        look("small_picture", {"path": str(path)}, 50)
    assert caught.value.args[0].startswith("Reading it takes more than 20 MB of memory")
    assert "Save it again" in caught.value.args[1]
    assert "column" not in caught.value.args[1]
    assert look("small_picture", {"path": str(path)}, 50, mb=300)


def test_limits_follow_file_size(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def ask(_job: str, _given: object, _folder: Path, bounds: Bounds) -> None:
        asked.append(bounds)
        raise MediaError

    monkeypatch.setattr(looking, "ask", ask)
    for size in (1_000, 10_000_000):
        with pytest.raises(MediaError):
            look("small_picture", {}, size)
    assert asked == [Bounds.of_file(1_000, looking.LEAST_MB), Bounds.of_file(10_000_000, looking.LEAST_MB)]


# Jobs on images and recordings equal their libraries


SPECTROGRAM = {
    "start": None,
    "end": None,
    "longest": 2.0,
    "heard": [3_000.0, 48_000],
    "drawn": {"width": 50, "height": 20, "around": 0.0},
    "dark": False,
}


def told(_share: float) -> None:
    raise AssertionError


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_thumbnail_is_made_from_path_or_bytes(tmp_path: Path, kind: str) -> None:
    data = picture(1, kind, (300, 200))
    (tmp_path / "x").write_bytes(data)
    by_path = jobs.small_picture({"path": str(tmp_path / "x")}, tmp_path, told)
    inline = jobs.small_picture({"inline": base64.b64encode(data).decode()}, tmp_path, told)
    assert base64.b64decode(by_path) == base64.b64decode(inline) == thumbnail(data)


def test_spectrogram_draws_requested_segment(tmp_path: Path) -> None:
    (tmp_path / "x.wav").write_bytes(tone(5))
    given = {**SPECTROGRAM, "path": str(tmp_path / "x.wav")}
    found = jobs.spectrogram(given, tmp_path, told)
    assert found["edges"] == {"t0": 0.0, "t1": 2.0, "f0": 0.0, "f1": 3_000.0, "seconds": 5.0}
    light = np.asarray(Image.open(io.BytesIO(base64.b64decode(found["png"]))))
    assert light.shape == (20, 50)
    whole = jobs.spectrogram({**given, "longest": None, "heard": None, "dark": True}, tmp_path, told)
    assert (whole["edges"]["t1"], whole["edges"]["f1"]) == (5.0, 8_000.0)
    part = jobs.spectrogram({**given, "start": 3.0, "end": 4.0, "dark": True}, tmp_path, told)
    assert (part["edges"]["t0"], part["edges"]["t1"]) == (3.0, 4.0)
    dark = np.asarray(Image.open(io.BytesIO(base64.b64decode(part["png"]))))
    assert dark.mean() > 128 > light.mean()


def test_model_gets_features_or_reason(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(picture(1))
    (tmp_path / "bad").write_bytes(picture(1)[:40])
    about = Description("image", size=(4, 3), mean=(0.5, 0.5, 0.5))
    inline = "data:image/png;base64," + base64.b64encode(picture(2)).decode()
    given = {
        "about": asdict(about),
        "keys": ["good", "bad", inline],
        "paths": {name: str(tmp_path / name) for name in ("good", "bad")},
    }
    said = jobs.model_inputs(given, tmp_path, told)
    assert (said[0], said[2]) == ((1, True), (1, True))
    assert "damaged" in str(said[1][0])
    made = np.load(tmp_path / jobs.POINTS)
    wanted = [taken(key, about, lambda name: (tmp_path / name).open("rb")).inputs[0] for key in ("good", inline)]
    np.testing.assert_array_equal(made, wanted)


def test_model_inputs_of_no_keys_are_empty(tmp_path: Path) -> None:
    given = {"about": asdict(Description("sound", rate=100, seconds=1)), "keys": [], "paths": {}}
    assert jobs.model_inputs(given, tmp_path, told) == []


def test_undecodable_file_is_reported_by_every_job(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"junk")
    for job, given in ((jobs.small_picture, {}), (jobs.spectrogram, SPECTROGRAM)):
        with pytest.raises(MediaError):
            job({**given, "path": str(tmp_path / "x")}, tmp_path, told)


def test_helper_loads_image_formats_before_fork() -> None:
    jobs.warm()
    assert set(jobs._READ) <= set(Image.OPEN)


# A file may use resources by its size, and no process exceeds its limit


def in_a_process(program: str, *given: Any) -> str:
    """Output of a program that has `Bounds`, without loading the package."""
    file = str(ROOT / "workflow" / "files" / "limited" / "bounds.py")
    code = f"import runpy, sys; Bounds = runpy.run_path({file!r}, run_name='bounds')['Bounds']\n{program}"
    done = subprocess.run([sys.executable, "-c", code, *map(str, given)], capture_output=True, text=True, check=False)
    return done.stdout or f"ended by {-done.returncode}"


def test_limits_grow_with_file_size() -> None:
    small, large, huge = (Bounds.of_file(size) for size in (1_000, 10_000_000, 10**12))
    assert (small.memory_mb, small.cpu) == (200, 18)
    assert small.memory_mb < large.memory_mb < huge.memory_mb <= 6_000
    assert small.cpu < large.cpu < huge.cpu <= 7_200
    assert all(one.wall >= 10 * one.cpu for one in (small, large, huge))
    assert Bounds.of_file(1_000, 500) == Bounds(500, 18, 180, 4_000)


def test_unpacking_limit_grows_with_file_size() -> None:
    assert [Bounds.of_file(mb * 10**6).file_mb for mb in (1, 600, 5_000)] == [4_000, 4_000, 30_000]


@pytest.mark.parametrize(("mb", "said"), [(2, "left"), (3, "File too large")])
def test_oversized_output_file_is_removed(tmp_path: Path, mb: int, said: str) -> None:
    program = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "Bounds(200, 60, 3600, 2).set()\ntry:\n    with open(sys.argv[1], 'wb', 0) as file:\n"
        "        for _ in range(int(sys.argv[2])): file.write(b'x' * 10**6)\n    print('left')\n"
        "except OSError as error:\n    print(error.strerror)"
    )
    assert in_a_process(program, tmp_path / "out", mb).strip() == said


def test_limits_are_set_in_operating_system() -> None:
    said = in_a_process(
        "import resource, json, time; time.process_time = lambda: 1.5; Bounds(50, 7, 3600).set()\n"
        "print(json.dumps([resource.getrlimit(one) for one in "
        "(resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_CORE)]))"
    )
    most = min(128, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    assert json.loads(said) == [[2 + 7, 2 + 8], [most, most], [0, 0]]


@pytest.mark.parametrize(("mb", "said"), [(100, "had it"), (300, "none left")])
def test_memory_beyond_limit_is_refused(mb: int, said: str) -> None:
    program = (
        "Bounds(200, 60, 3600).set()\ntry:\n    b'x' * (int(sys.argv[1]) * 10**6); print('had it')\n"
        "except MemoryError:\n    print('none left')"
    )
    assert in_a_process(program, mb).strip() == said


def test_process_over_time_limit_is_ended() -> None:
    assert in_a_process("Bounds(200, 1, 3600).set()\nwhile True: pass") == "ended by 24"
    assert in_a_process("import os\nBounds(200, 20, 1).set()\nos.read(os.pipe()[0], 1)") == "ended by 14"


# The helper forks for anyone who holds its socket, several at once, and ends with them


LONG = 3600
"""Seconds that nothing here takes, even on a busy machine."""


@pytest.fixture(scope="module")
def control() -> socket.socket:
    mine, theirs = socket.socketpair()
    with theirs:
        assert helper.main.__name__ in asking._PROGRAM
        process = subprocess.Popen([sys.executable, "-c", asking._PROGRAM], stdin=theirs.fileno())
    with mine:
        yield mine
    assert process.wait(LONG) == 0


def begin(control: socket.socket, path: Path, folder: Path) -> socket.socket:
    mine, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(control, [b"j"], [theirs.fileno()])
    given = {"file": [str(path), None], "rows": None, "vectors": None, "as_it_is": False, "ways": {}}
    request = {"job": "read", "given": given, "folder": str(folder), "bounds": Bounds(200, 60, LONG).to_json()}
    mine.sendall(json.dumps(request).encode() + b"\n")
    return mine


def answer(job: socket.socket) -> dict[str, object]:
    with job, job.makefile("r") as lines:
        found: dict[str, object] = {}
        for line in filter(str.strip, lines):
            found |= json.loads(line)
    return found


@pytest.mark.slow
def test_jobs_do_not_wait_for_each_other(control: socket.socket, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.csv")
    (tmp_path / "quick.csv").write_text("id,labels\n1,a|b\n")
    slow = begin(control, tmp_path / "slow.csv", tmp_path)
    assert "result" in answer(begin(control, tmp_path / "quick.csv", tmp_path))
    (tmp_path / "slow.csv").write_text("id,labels\n1,c|d\n")  # the result that it waited for
    said = answer(slow)
    assert "result" in said
    assert isinstance(said["ended"], dict)
    assert said["ended"]["code"] == 0


@pytest.mark.slow
def test_finished_job_does_not_wait_for_later_one(control: socket.socket, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "first.csv")
    os.mkfifo(tmp_path / "later.csv")
    first = begin(control, tmp_path / "first.csv", tmp_path)
    later = begin(control, tmp_path / "later.csv", tmp_path)
    (tmp_path / "first.csv").write_text("id,labels\n1,a|b\n")
    assert "result" in answer(first)  # which reads to the end of the socket
    (tmp_path / "later.csv").write_text("id,labels\n1,c|d\n")
    assert "result" in answer(later)


@pytest.mark.slow
def test_disconnected_client_does_no_harm(control: socket.socket, tmp_path: Path) -> None:
    (tmp_path / "quick.csv").write_text("id,labels\n1,a|b\n")
    begin(control, tmp_path / "quick.csv", tmp_path).close()
    assert "result" in answer(begin(control, tmp_path / "quick.csv", tmp_path))


@pytest.mark.slow
def test_send_without_reader_fails_silently() -> None:
    mine, theirs = socket.socketpair()
    assert helper._send(mine, {"step": 0.5}, before=b"\n")
    assert theirs.recv(100) == b'\n{"step": 0.5}\n'
    theirs.close()
    assert not helper._send(mine, {"step": 0.6})
    mine.close()


@pytest.mark.slow
def test_child_of_disconnected_client_is_ended(control: socket.socket, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.csv")
    job = begin(control, tmp_path / "slow.csv", tmp_path)
    held = os.open(tmp_path / "slow.csv", os.O_WRONLY)  # waits until the child has it open
    (tmp_path / "quick.csv").write_text("id,labels\n1,a|b\n")
    kept = begin(control, tmp_path / "quick.csv", tmp_path)
    job.close()
    gone = select.poll()
    gone.register(held, 0)  # reported after it has become unreadable
    assert gone.poll(LONG * 1000)
    os.close(held)
    assert "result" in answer(kept), "and no one else's"
