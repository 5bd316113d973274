"""Projects with many similar rows: foxes and deer, distinguished by two numbers, as pictures, recordings, texts or only
numbers. The truth of a third is held out, to measure accuracy."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
from PIL import Image, ImageDraw

from plcore import LearnerSettings
from tests.plcore.tables.zips import make_zip
from tests.workflow.sounds import tone
from workflow import importing
from workflow.seat import Seat
from workflow.server.home import Home

ROWS = 130
NAMES = ("Red fox", "Roe deer")
TOLD = 0.3
"""Share of the rows with one candidate; the others have both."""


def alike_project(home: Home, owner: int, name: str = "alike", shown: str = "image", **settings: object) -> Seat:
    """The owner's seat at it. shown : "image", "sound", "text" or "numbers" """
    rng = np.random.default_rng(5)
    kinds = rng.integers(2, size=ROWS)
    places = (rng.normal(size=(ROWS, 2)) + np.where(kinds == 0, -4.0, 4.0)[:, None]).round(3)
    told = rng.random(ROWS) < TOLD
    files: dict[str, bytes] = {}
    lines = []
    for row in range(ROWS):
        kind = NAMES[kinds[row]]
        cell = kind if told[row] else "|".join(NAMES)
        what = ""
        if shown == "image":
            what = f"{row}.png"
            files[what] = _picture(int(kinds[row]), row)
        elif shown == "sound":
            what = f"{kinds[row]}.wav"
            files[what] = tone(seconds=2.0, hertz=1_000.0 + 2_000.0 * kinds[row])
        elif shown == "text":
            what = f"{kind} seen near the gate at dusk; time {row}: it stood still and then went into the wood."
        lines.append(f"r{row},{cell},{kind},{what},{places[row, 0]},{places[row, 1]}\n")
    data = "id,candidates,truth,what,x,y\n" + "".join(lines)
    upload = importing.read_upload(make_zip({"t.csv": data.encode(), **files}) if files else data.encode())
    roles = replace(
        upload.suggest_roles(),
        candidates="candidates",
        truth="truth",
        id="id",
        numbers=("x", "y"),
        categories=(),
        image="what" if shown == "image" else None,
        audio="what" if shown == "sound" else None,
        text="what" if shown == "text" else None,
    )
    checked = importing.check(upload, roles)
    assert checked.table is not None, checked.problems
    chosen = {"n_neighbors": 8, "test_share": 0.35, "control_share": 0.1, "truth_role": "hidden", **settings}
    return Seat(home, owner, importing.create(Seat(home, owner), name, checked.table, LearnerSettings(**chosen)))  # type: ignore[arg-type]


def _picture(kind: int, row: int) -> bytes:
    """Another shape for each kind, a little different every time."""
    rng = np.random.default_rng(row)
    image = Image.new("RGB", (240, 180), (30 + row % 20, 45, 40))
    draw = ImageDraw.Draw(image)
    x, y = rng.integers(40, 120, size=2).tolist()
    if kind == 0:
        draw.polygon([(x, y + 50), (x + 40, y), (x + 80, y + 50)], fill=(210, 120, 60))
    else:
        draw.ellipse([x, y, x + 80, y + 50], fill=(150, 130, 110))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
