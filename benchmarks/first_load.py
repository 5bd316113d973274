"""What a browser that was never here loads for a page: bytes and requests on the wire, long tasks of its one thread."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, StorageState, sync_playwright

from benchmarks import report
from benchmarks.pages import TARGET, TIMES, WATCH, load_average
from tests.browser.conftest import ARGUMENTS
from tests.browser.obtain import obtain
from tests.browser.server import Server

LONG = """
window.long = [];
new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)))
  .observe({ type: "longtask", buffered: true });
"""
"""Tasks of 50 ms and more, in which the page answers nobody."""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


@dataclass
class FirstLoad:
    """requests : over HTTP      wire : bytes of their answers as they came, packed      socket : bytes of the page
    itself, by its WebSocket      painted, drawn : ms until anything is seen, and until all is      tasks : long ones
    longest : of these, ms      blocked : ms of all of them beyond their first 50      busy : ms of a processor that the
    page's thread took, whoever else wanted it      heaviest : {address: bytes}
    """

    requests: float = 0
    wire: float = 0
    socket: float = 0
    painted: float = 0
    drawn: float = 0
    tasks: float = 0
    longest: float = 0
    blocked: float = 0
    busy: float = 0
    heaviest: dict[str, float] = field(default_factory=dict)


def load(browser: Browser, state: StorageState, address: str, name: str) -> FirstLoad:
    """One load of a page by a browser that has nothing but its sign-in. name : of LAST"""
    found = FirstLoad()
    context = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=state)
    page = context.new_page()
    page.add_init_script(LONG)
    page.add_init_script(WATCH)
    session = context.new_cdp_session(page)
    urls: dict[str, str] = {}

    def answered(one: dict[str, Any]) -> None:
        urls[one["requestId"]] = one["response"]["url"]

    def ended(one: dict[str, Any]) -> None:
        found.requests += 1
        found.wire += one["encodedDataLength"]
        if (url := urls.get(one["requestId"])) is not None:
            found.heaviest[url.partition("?")[0]] = one["encodedDataLength"]

    def framed(one: dict[str, Any]) -> None:
        found.socket += len(one["response"]["payloadData"]) * 3 // 4  # it comes in base64

    session.on("Network.responseReceived", answered)
    session.on("Network.loadingFinished", ended)
    session.on("Network.webSocketFrameReceived", framed)
    session.send("Network.enable")
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(address, wait_until="commit")
    found.drawn = page.evaluate("name => drawn(name)", name)
    page.wait_for_timeout(500)  # what is still on its way, and the last long task, which is told afterwards
    found.painted = page.evaluate(PAINTED)
    tasks = page.evaluate("window.long")
    found.tasks, found.longest = len(tasks), max(tasks, default=0.0)
    found.blocked = sum(one - 50 for one in tasks)
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    found.busy = 1000 * metrics["TaskDuration"]
    context.close()
    return found


def median(loads: list[FirstLoad]) -> FirstLoad:
    """Of each figure its median; of the files those of the last load."""
    numbers = [one.name for one in fields(FirstLoad) if one.name != "heaviest"]
    found = {name: float(np.median([getattr(one, name) for one in loads])) for name in numbers}
    return FirstLoad(**found, heaviest=loads[-1].heaviest)


HEAD = (
    "| page | requests | kB on the wire | kB of the page | CPU of its thread, ms | first seen, ms | drawn, ms | "
    "long tasks | longest, ms | blocked, ms |\n|---|---|---|---|---|---|---|---|---|---|\n"
)


def line(name: str, one: FirstLoad) -> str:
    return (
        f"| {name} | {one.requests:.0f} | {one.wire / 1e3:,.0f} | {one.socket / 1e3:,.0f} | {one.busy:.0f} | "
        f"{one.painted:.0f} | {one.drawn:.0f} | {one.tasks:.0f} | {one.longest:.0f} | {one.blocked:.0f} |"
    )


def heaviest(one: FirstLoad, most: int = 4) -> str:
    """The files that weigh most, in words."""
    files = sorted(one.heaviest.items(), key=lambda pair: -pair[1])[:most]
    return ", ".join(
        f"{address.rpartition('/')[2] or 'the page'} {size / 1e3:,.0f} kB" for address, size in files
    )


def main() -> None:
    lines, weighs = [], ""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder) / "home").start()
        try:
            browser = playwright.chromium.launch(executable_path=obtain(), args=ARGUMENTS)
            page = browser.new_page()
            page.add_init_script(WATCH)
            page.goto(server.link)
            page.evaluate("drawn('home')")
            state = page.context.storage_state()
            page.context.close()
            for name, address in (("home", server.base), ("annotate", f"{server.base}/annotate?project=1")):
                # The first packs what is then kept packed, and builds the learner.
                loads = [load(browser, state, address, name) for _ in range(TIMES + 1)][1:]
                lines.append(line(name.capitalize(), median(loads)))
                weighs = heaviest(median(loads))
            browser.close()
        finally:
            server.stop()
    report.write(
        "first_load",
        "What a browser that was never here loads",
        f"""
Chromium headless on the same machine as the server, with nothing but its sign-in, {TIMES} times each, medians; the demo
of digits. *On the wire*: of all answers over HTTP, packed as they come; *of the page*: what Streamlit tells of it by
its WebSocket. A *long task* keeps the page from answering for 50 ms or more; *blocked* is all of them beyond their
first 50. The files of Annotate that weigh most: {weighs}. {load_average()}
Target: drawn in {TARGET:,} ms.

{HEAD}{chr(10).join(lines)}
""",
        ("streamlit", "playwright"),
    )


if __name__ == "__main__":
    main()
