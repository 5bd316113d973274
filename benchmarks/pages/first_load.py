"""What a browser that was never here loads for a page: bytes and requests on the wire, long tasks of its one thread."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from benchmarks import homes
from benchmarks.harness import Table, folder, load_average, page
from benchmarks.pages.pages import TARGET, TIMES, WATCH

TITLE = "What a browser that was never here loads"
PACKAGES = ("streamlit", "playwright")
LONG = """
window.long = [];
new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)))
  .observe({ type: "longtask", buffered: true });
"""
"""Tasks of 50 ms and more, in which the page answers nobody."""
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
FIGURES = {
    "requests": "requests", "wire": "kB on the wire", "socket": "kB of the page", "busy": "CPU of its thread, ms",
    "painted": "first seen, ms", "drawn": "drawn, ms", "tasks": "long tasks", "longest": "longest, ms",
    "blocked": "blocked, ms",
}  # fmt: skip


def load(chromium: Any, state: Any, address: str, name: str) -> tuple[Counter[str], dict[str, float]]:
    """Load a page, one of LAST, in a browser that has nothing but its sign-in: FIGURES, and kB by address."""
    found: Counter[str] = Counter()
    urls: dict[str, str] = {}
    weights: dict[str, float] = {}
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, storage_state=state)
    view = context.new_page()
    view.add_init_script(LONG)
    view.add_init_script(WATCH)
    session = context.new_cdp_session(view)

    def ended(one: dict[str, Any]) -> None:
        found["requests"] += 1
        found["wire"] += one["encodedDataLength"] / 1e3
        if (url := urls.get(one["requestId"])) is not None:
            weights[url.partition("?")[0]] = one["encodedDataLength"] / 1e3

    def framed(one: dict[str, Any]) -> None:
        found["socket"] += len(one["response"]["payloadData"]) * 0.75e-3  # it comes in base64

    session.on(
        "Network.responseReceived", lambda one: urls.update({one["requestId"]: one["response"]["url"]})
    )
    session.on("Network.loadingFinished", ended)
    session.on("Network.webSocketFrameReceived", framed)
    session.send("Network.enable")
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    view.goto(address, wait_until="commit")
    found["drawn"] = view.evaluate("name => drawn(name)", name)
    view.wait_for_timeout(500)  # what is still on its way, and the last long task, which is told afterwards
    found["painted"] = view.evaluate(PAINTED)
    tasks = view.evaluate("window.long")
    found["tasks"], found["longest"] = len(tasks), max(tasks, default=0)
    found["blocked"] = sum(one - 50 for one in tasks)
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    found["busy"] = 1000 * metrics["TaskDuration"]
    context.close()
    return found, weights


def measure() -> str:
    table, weighs = Table(["page", *FIGURES.values()]), ""
    with folder() as place, homes.serving(place / "home") as server, homes.browser() as chromium:
        view = chromium.new_page()
        view.add_init_script(WATCH)
        view.goto(server.link)
        view.evaluate("drawn('home')")
        state = view.context.storage_state()
        view.context.close()
        for name, address in (("home", server.base), ("annotate", f"{server.base}/annotate?project=1")):
            # The first packs what is then kept packed, and builds the learner.
            loads = [load(chromium, state, address, name) for _ in range(TIMES + 1)][1:]
            table.add(
                name.capitalize(), *(f"{np.median([one[key] for one, _ in loads]):,.0f}" for key in FIGURES)
            )
            files = sorted(loads[-1][1].items(), key=lambda pair: -pair[1])[:4]
            weighs = ", ".join(
                f"{url.rpartition('/')[2] or 'the page'} {size:,.0f} kB" for url, size in files
            )
    return page(
        f"""Chromium headless on the same machine as the server, with nothing but its sign-in, {TIMES} times each,
medians; the demo of digits. *On the wire*: of all answers over HTTP, packed as they come; *of the page*: what Streamlit
tells of it by its WebSocket. A *long task* keeps the page from answering for 50 ms or more; *blocked* is all of them
beyond their first 50. The files of Annotate that weigh most: {weighs}. {load_average()}
Target: drawn in {TARGET:,} ms.""",
        table,
    )
