"""The command's help; time from the command to the first question; the first start on a fresh machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.harness import ROOT, Rows, Table, benchmark, cpu_of_children, folder, in_turns, mode, page, sized
from plcore import compile_kernels
from tests.browser import room
from tests.browser.server import free_port
from workflow.server.running import noted

TIMES = sized(5, tiny=1)
COMMANDS = {
    "`python -c pass`": ("-c", "pass"),
    "`python -c 'import click'`": ("-c", "import click"),
    "`winnow --help`": ("-m", "winnow_labels", "--help"),
    "`winnow simulate --help`": ("-m", "winnow_labels", "simulate", "--help"),
    "`winnow exprot`, an unknown command": ("-m", "winnow_labels", "exprot"),
}


def processor_seconds(*words: str) -> float:
    """Return the CPU seconds, user and system, of Python with these arguments."""
    before = cpu_of_children()
    subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, check=False)
    return cpu_of_children() - before


SHORT = {
    "`import plcore`": ("-c", "import plcore"),
    "`from plcore import PLKernelRidge`": ("-c", "from plcore import PLKernelRidge"),
    "`winnow projects`": ("-m", "winnow_labels", "projects"),
    "`winnow token`": ("-m", "winnow_labels", "token"),
    "`winnow link`": ("-m", "winnow_labels", "link"),
}


LAUNCHER = """
import os, subprocess, sys
running = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(running.pid, 0)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
"""Starts a process from a small one: a child's peak memory begins at its parent's."""


def cost(words: Sequence[str], home: Path, tree: Path) -> tuple[float, float]:
    """Return CPU seconds, user and system, and peak memory in MB, of Python with these arguments in a checkout."""
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHER, *words], cwd=tree, capture_output=True, text=True, check=True,
        env={**os.environ, "WINNOW_HOME": str(home), "PYTHONPATH": str(tree)},
    )  # fmt: skip
    status, seconds, memory = map(float, done.stdout.split())
    assert not status, (words, done.stderr)
    return seconds, memory


@benchmark("Short commands", head="what | checkout | CPU s | most memory, MB", form=".2f")
def commands() -> Rows:
    """From process start to end, in a home with one project; the least of {TIMES}, since the first compiles modules
    and counts the project. Checkouts take turns. Target: 0.5 s and 80 MB a command, 0.6 s for `import plcore`."""
    with folder() as place:
        with homes.owner_of(place) as seat:
            homes.project(seat, "vectors")
        with noted(place / "servers", "http://127.0.0.1:8501"):
            for what, words in SHORT.items():
                found = in_turns(TIMES, partial(cost, words, place))
                for name, (seconds, memory) in found.items():
                    yield what, name, float(seconds), f"{memory:.0f}"


def seconds_to_question(chromium: Any, home: Path) -> tuple[float, float]:
    """Return seconds until the link is printed, and until the first question of the demo is on screen."""
    begun = time.perf_counter()
    with homes.serving(home) as server:
        printed = time.perf_counter() - begun
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        view = context.new_page()
        view.goto(server.link)
        view.get_by_role("heading", name="Projects").wait_for()
        view.goto(f"{server.base}/annotate")
        view.locator(room.CARD).locator(".choice").first.wait_for()
        shown = time.perf_counter() - begun
        context.close()
        return printed, shown


@benchmark("Start", packages=("playwright",))
def start() -> str:
    helped, base = Table("what | CPU s | ratio to Python alone"), 0.0
    for name, words in COMMANDS.items():
        spent = min(processor_seconds(*words) for _ in range(TIMES))
        base = base or spent
        helped.add(name, spent, f"{spent / base:.1f}")
    compile_kernels()
    starts = Table("home | link printed, median | largest | first question on screen, median | largest", ".1f")
    with folder() as place, homes.browser() as chromium:
        for name in ("empty", "there"):
            found = np.array([seconds_to_question(chromium, place / str(number)) for number in range(TIMES)])
            starts.add(name, *(figure(times) for times in found.T for figure in (np.median, np.max)))
    return page(
        "## Help of the command",
        f"CPU time in s of a process from its start to its end, the least of {TIMES}. Target: 0.3 s.",
        helped,
        "## From the command to the first question",
        f"""Wall time in s over {TIMES} starts; in an empty home the demo is made, too. The kernels are
compiled. Target: 15 s.""",
        starts,
    )


@benchmark("The first start on a fresh machine")
def first_start() -> str:
    # A trial run uses the environment of this checkout, to save time.
    table, before, linked = Table("s | said"), cpu_of_children(), False
    with folder() as place:
        clone = place / "winnow"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        if mode() == "try":
            (clone / ".venv").symlink_to(ROOT / ".venv")
        paths = [one for one in os.environ["PATH"].split(os.pathsep) if not one.startswith(str(ROOT))]
        environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | {
            "WINNOW_HOME": str(place / "home"), "WINNOW_PORT": str(free_port()), "PIP_NO_CACHE_DIR": "1",
            "PATH": os.pathsep.join(paths),
        }  # fmt: skip
        begun = time.perf_counter()
        with subprocess.Popen(
            [str(shutil.which("make")), "run", *(["--assume-old=.venv/.ready"] if mode() == "try" else [])],
            cwd=clone, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True,
        ) as running:  # fmt: skip
            assert running.stdout is not None
            for words in filter(None, map(str.strip, running.stdout)):
                linked = "/signin?link=" in words
                table.add(f"{time.perf_counter() - begun:.0f}", "*the link*" if linked else words)
                if linked:
                    break
            os.killpg(running.pid, signal.SIGTERM)
        if not linked:
            raise RuntimeError(f"`make run` printed no link. It said: {table}")
    return page(
        """Once, in a fresh clone: nothing is there but Python, make and git. Packages are downloaded, kernels
compiled, the demo is made. The messages of `make run`, with the wall time in seconds after which each appears.
Target, with two cores at leisure: the link after 90 s, download included (it depends on the network).""",
        table,
        f"CPU seconds of all its processes until then: {cpu_of_children() - before:.0f}.",
    )
