"""`/metrics`: figures of this server in Prometheus's text format, for a program with the token of the settings; without
such a token, only for programs on this machine."""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_address
from itertools import accumulate
from pathlib import Path

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from web import bearer
from web.operating.connections import open_pages
from web.operating.health import why_unhealthy
from web.operating.traffic import BOUNDS, OUTCOMES, traffic
from workflow.backups import keeping
from workflow.exporting.for_programs import VERSION
from workflow.saving import STORE_FAULTS
from workflow.server import figures
from workflow.server.home import Home, home
from workflow.server.running import most_files

ADDRESS = "/metrics"
TYPE = "text/plain; version=0.0.4; charset=utf-8"
QUANTILES = (0.5, 0.95)
METRICS = {
    "winnow_build_info": ("gauge", "Version of Winnow, as a label."),
    "winnow_can_store": ("gauge", "1 if /healthz answers 200: the database answers and can be written."),
    "winnow_presses_total": ("counter", "Answers sent by the question card: stored, refused, or failed."),
    "winnow_press_duration_seconds": ("histogram", "Time from such an answer to its reply."),
    "winnow_press_recent_seconds": ("gauge", "Median and 95th percentile of the latest 1,000 of them."),
    "winnow_requests_total": ("counter", "Requests answered, by HTTP status; 101 is a page's websocket."),
    "winnow_open_pages": ("gauge", "Websockets of pages that are open."),
    "winnow_worker_queue": ("gauge", "Work that waits for a training process or is under way, by kind."),
    "winnow_backup_age_seconds": ("gauge", "Time since the latest backup; missing if there is none."),
    "winnow_backup_problem": ("gauge", "1 if backups failed, are damaged or overdue."),
    "winnow_database_bytes": ("gauge", "Size of the database, on SQLite with its log."),
    "winnow_disk_free_bytes": ("gauge", "Room on the disk of a folder."),
    "winnow_disk_size_bytes": ("gauge", "Size of the disk of a folder."),
    "process_open_fds": ("gauge", "Open file descriptors."),
    "process_max_fds": ("gauge", "Maximum of open file descriptors."),
    "process_resident_memory_bytes": ("gauge", "Memory of the server, without its training processes."),
    "process_cpu_seconds_total": ("counter", "CPU time of the server, without its training processes."),
}
"""{name: (type, help)} of every metric. `process_...` are the names that Prometheus's own clients use."""

_OF_PROXIES = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
_OWN_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
_ONE_READING = CapacityLimiter(1)

Labels = tuple[tuple[str, object], ...]
Sample = tuple[str, Labels, float]
"""Name, labels and value of a line."""


async def show(request: Request) -> Response:
    """Return the metrics; 401 without the right token, 403 if there is none and the request is not of this machine."""
    here = home()
    if here.settings.metrics_token:
        if not _has_token(request, here.settings.metrics_token):
            return PlainTextResponse(
                "Refused. Fix: send the token of WINNOW_METRICS_TOKEN as Authorization: Bearer.",
                401,
                {"www-authenticate": "Bearer"},
            )
    elif not _is_of_this_machine(request):
        return PlainTextResponse(
            "Refused: without WINNOW_METRICS_TOKEN only programs on the machine of the server may read this.", 403
        )
    samples = list(_samples_of_traffic())  # by the event loop, which alone changes them
    samples += await to_thread.run_sync(_measure, here, limiter=_ONE_READING)
    return PlainTextResponse(text_of(samples), headers={"content-type": TYPE, "cache-control": "no-store"})


def _has_token(request: Request, token: str) -> bool:
    sent = bearer.secret_of(request.headers) or ""
    return hmac.compare_digest(sent.encode(), token.encode())


def _is_of_this_machine(request: Request) -> bool:
    """Return whether a program on this machine asks for itself: a proxy on this machine asks for strangers."""
    if any(name in request.headers for name in _OF_PROXIES):
        return False
    try:
        peer = ip_address("" if request.client is None else request.client.host)
    except ValueError:
        return False
    host = request.headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return peer.is_loopback and name in _OWN_NAMES


def _samples_of_traffic() -> Iterator[Sample]:
    for outcome in OUTCOMES:
        yield "winnow_presses_total", (("outcome", outcome),), traffic.presses[outcome]
    name = "winnow_press_duration_seconds"
    for bound, count in zip((*map(str, BOUNDS), "+Inf"), accumulate(traffic.in_bound), strict=True):
        yield f"{name}_bucket", (("le", bound),), count
    yield f"{name}_sum", (), traffic.seconds
    yield f"{name}_count", (), sum(traffic.in_bound)
    for share in QUANTILES:
        if (seconds := traffic.quantile(share)) is not None:
            yield "winnow_press_recent_seconds", (("quantile", share),), seconds
    for status, count in sorted(traffic.requests.items()):
        yield "winnow_requests_total", (("status", status),), count
    yield "winnow_open_pages", (), open_pages.total


def _measure(here: Home) -> list[Sample]:
    """Return the samples that take files or the database. If the database fails, its own are missing, and
    `winnow_can_store` is 0."""
    samples: list[Sample] = [("winnow_build_info", (("version", VERSION),), 1), *_samples_of_process()]
    samples.append(("winnow_can_store", (), why_unhealthy(here) is None))
    try:
        queue = figures.read_queue(here)
        samples += [("winnow_worker_queue", (("work", kind),), count) for kind, count in queue.items()]
        samples.append(("winnow_database_bytes", (), figures.read_size(here)))
    except STORE_FAULTS:
        pass  # `why_unhealthy` has logged it
    age = figures.read_backup_age(here.settings)
    samples += [] if age is None else [("winnow_backup_age_seconds", (), age)]
    samples.append(("winnow_backup_problem", (), keeping.why_worried(here.settings, datetime.now(UTC)) is not None))
    for folder, disk in figures.read_disks(here).items():
        samples.append(("winnow_disk_free_bytes", (("folder", folder),), disk.free))
        samples.append(("winnow_disk_size_bytes", (("folder", folder),), disk.size))
    return samples


def _samples_of_process() -> Iterator[Sample]:
    yield ("process_open_fds", (), sum(1 for _ in Path("/dev/fd").iterdir()) - 1)  # without the one that lists them
    yield "process_max_fds", (), most_files()
    yield "process_cpu_seconds_total", (), time.process_time()
    statm = Path("/proc/self/statm")
    if statm.exists():  # on Linux
        pages = int(statm.read_text().split()[1])
        yield "process_resident_memory_bytes", (), pages * os.sysconf("SC_PAGE_SIZE")


def text_of(samples: Iterable[Sample]) -> str:
    """Return the samples in Prometheus's text format, version 0.0.4, grouped by metric under its help."""
    of: dict[str, list[Sample]] = {name: [] for name in METRICS}
    for sample in samples:
        of[metric_of(sample[0])].append(sample)
    lines: list[str] = []
    for name, found in of.items():
        kind, words = METRICS[name]
        if found:
            lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
            lines += [_line(*sample) for sample in found]
    return "\n".join(lines) + "\n"


def metric_of(name: str) -> str:
    """Return the metric to which a line of this name belongs: a histogram has lines of three names."""
    for ending in ("_bucket", "_sum", "_count"):
        if METRICS.get(name.removesuffix(ending), ("",))[0] == "histogram":
            return name.removesuffix(ending)
    return name


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{key}="{said}"' for key, said in labels)
    return f"{name}{f'{{{inside}}}' if inside else ''} {float(value):.12g}"
