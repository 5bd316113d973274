"""A file of faces in photos, where each row has the names of its photo as candidates, in shuffled order."""

from __future__ import annotations

import numpy as np

PHOTOS, FACES = 8, 3


def photos_csv() -> bytes:
    """Columns id, shot, names, truth, x, y. Only the role *source* explains `shot`, since rows are shuffled."""
    rng = np.random.default_rng(4)
    lines = []
    for photo in range(PHOTOS):
        names = rng.permutation(["Ada", "Bob", "Cleo", "Dan", "Eve"])[:FACES]
        for name in names:
            x, y = rng.normal(size=2) + 3 * ("ABCDE".index(name[0]) - 2)
            lines.append(f"shot{photo},{'|'.join(names)},{name},{x:.3f},{y:.3f}")
    order = rng.permutation(len(lines))
    return "\n".join(["id,shot,names,truth,x,y", *(f"r{n},{lines[one]}" for n, one in enumerate(order)), ""]).encode()
