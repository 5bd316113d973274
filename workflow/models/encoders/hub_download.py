"""A program of its own: fetches files from the hub into a folder. `workflow.models.encoders.fetching` runs it.

In its own process, `huggingface_hub` reads only the settings meant for it, can be ended at any moment, and is never
loaded by a server. This program imports nothing of Winnow. Standard input: one object, `repository`, `revision`,
`folder` and `files`, each with `name` and `bytes`. Standard output: one object, empty, or with `failed` and details.
"""

from __future__ import annotations

import errno
import json
import sys
from typing import Any

TIMEOUT = 20.0
"""Seconds until the hub answers whether it has a file."""


PIECE = 1 << 16
"""Bytes between two writes of what has arrived, so that the watcher sees progress: the library's default is 10 MB."""


def fetch(given: dict[str, Any]) -> dict[str, object]:
    """Fetch the files; returns the failure, or an empty object."""
    try:
        from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
    except ImportError:
        return {"failed": "package"}
    constants.DOWNLOAD_CHUNK_SIZE = PIECE
    name = ""
    try:
        # Ask for all files before fetching any, so that a failure shows at once and not after minutes of attempts.
        for one in given["files"]:
            name = one["name"]
            url = hf_hub_url(given["repository"], name, revision=given["revision"])
            found = get_hf_file_metadata(url, token=False, timeout=TIMEOUT)
            if found.commit_hash is None:  # a captive portal, or some other server
                return {"failed": "no hub"}
            if found.size is not None and found.size != one["bytes"]:
                return {"failed": "differs", "name": name}
        for one in given["files"]:
            name = one["name"]
            hf_hub_download(
                given["repository"],
                name,
                revision=given["revision"],
                local_dir=given["folder"],
                token=False,
                etag_timeout=TIMEOUT,
            )
    except Exception as error:  # errors of several libraries; the process reports why it ends
        return {"name": name, **_failure(error)}
    return {}


def _failure(error: BaseException) -> dict[str, object]:
    """Describe the error, from its chain of causes."""
    chain: list[BaseException] = []
    at: BaseException | None = error
    while at is not None and at not in chain:
        chain.append(at)
        at = at.__cause__ or at.__context__
    said = f"{type(chain[-1]).__name__}: {str(chain[-1]).strip()[:200]}"
    kinds = {kind.__name__ for one in chain for kind in type(one).__mro__}
    status = next((one.response.status_code for one in chain if hasattr(one, "response")), None)
    after = next((one.response.headers.get("retry-after") for one in chain if hasattr(one, "response")), None)
    if "OfflineModeIsEnabled" in kinds:
        return {"failed": "offline"}
    if status is not None:
        return {"failed": "status", "status": status, "after": after}
    if any(isinstance(one, OSError) and one.errno == errno.ENOSPC for one in chain):
        return {"failed": "disk"}
    if "FileMetadataError" in kinds:
        return {"failed": "no hub"}
    if any("Timeout" in kind for kind in kinds):
        return {"failed": "slow", "said": said}
    if any("Connect" in kind or "Network" in kind or "Proxy" in kind for kind in kinds):
        return {"failed": "unreachable", "said": said}
    return {"failed": "cut off", "said": said}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(fetch(json.load(sys.stdin))))
