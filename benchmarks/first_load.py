"""What a browser that was never here loads for a page: bytes and requests on the wire, long tasks of its one thread."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from playwright.sync_api import Browser, StorageState

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
    longest : of these, ms      blocked : ms of all of them beyond their first 50      heaviest : {address: bytes}
    """

    requests: float = 0
    wire: float = 0
    socket: float = 0
    painted: float = 0
    drawn: float = 0
    tasks: float = 0
    longest: float = 0
    blocked: float = 0
    heaviest: dict[str, float] = field(default_factory=dict)


def load(browser: Browser, state: StorageState, address: str, last: str, watch: str) -> FirstLoad:
    """One load of a page by a browser that has nothing but its sign-in. last : JavaScript that tells that it is drawn,
    with what `watch` defines"""
    found = FirstLoad()
    context = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=state)
    page = context.new_page()
    page.add_init_script(LONG)
    page.add_init_script(watch)
    session = context.new_cdp_session(page)
    names: dict[str, str] = {}

    def answered(one: dict[str, Any]) -> None:
        names[one["requestId"]] = one["response"]["url"]

    def ended(one: dict[str, Any]) -> None:
        found.requests += 1
        found.wire += one["encodedDataLength"]
        if (name := names.get(one["requestId"])) is not None:
            found.heaviest[name.partition("?")[0]] = one["encodedDataLength"]

    def framed(one: dict[str, Any]) -> None:
        found.socket += len(one["response"]["payloadData"]) * 3 // 4  # it comes in base64

    session.on("Network.responseReceived", answered)
    session.on("Network.loadingFinished", ended)
    session.on("Network.webSocketFrameReceived", framed)
    session.send("Network.enable")
    page.goto(address, wait_until="commit")
    found.drawn = page.evaluate("last => drawn(last)", last)
    page.wait_for_timeout(500)  # what is still on its way, and the last long task, which is told afterwards
    found.painted = page.evaluate(PAINTED)
    tasks = page.evaluate("window.long")
    found.tasks, found.longest = len(tasks), max(tasks, default=0.0)
    found.blocked = sum(one - 50 for one in tasks)
    context.close()
    return found


def median(loads: list[FirstLoad]) -> FirstLoad:
    """Of each figure its median; of the files those of the last load."""
    numbers = [one.name for one in fields(FirstLoad) if one.name != "heaviest"]
    found = {name: float(np.median([getattr(one, name) for one in loads])) for name in numbers}
    return FirstLoad(**found, heaviest=loads[-1].heaviest)


HEAD = (
    "| page | requests | kB on the wire | kB of the page | first seen, ms | drawn, ms | long tasks | longest, ms | "
    "blocked, ms |\n|---|---|---|---|---|---|---|---|---|\n"
)


def line(name: str, one: FirstLoad) -> str:
    return (
        f"| {name} | {one.requests:.0f} | {one.wire / 1e3:,.0f} | {one.socket / 1e3:,.0f} | {one.painted:.0f} | "
        f"{one.drawn:.0f} | {one.tasks:.0f} | {one.longest:.0f} | {one.blocked:.0f} |"
    )


def heaviest(one: FirstLoad, most: int = 4) -> str:
    """The files that weigh most, in words."""
    files = sorted(one.heaviest.items(), key=lambda pair: -pair[1])[:most]
    return ", ".join(
        f"{address.rpartition('/')[2] or 'the page'} {size / 1e3:,.0f} kB" for address, size in files
    )
