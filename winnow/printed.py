"""What commands print: comparisons as lines, projects for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workflow.models.choosing import ModelComparison
    from workflow.projects import ProjectSummary


def compared_lines(found: ModelComparison) -> Iterator[str]:
    """The lines of a comparison, the columns parted by tabs."""
    yield "model\tconsistency\taccuracy\tseconds\tnote"
    for one in sorted(
        found.figures, key=lambda one: -math.inf if one.kappa is None else one.kappa, reverse=True
    ):
        shares = ["" if share is None else f"{share:.3f}" for share in (one.kappa, one.accuracy)]
        note = "; ".join(part for part in ("best" if one.model == found.best else "", one.note) if part)
        yield "\t".join([one.model, *shares, f"{one.seconds:.1f}", " ".join(note.split())])
    by = f"; accuracy on {found.checks} of known truth" if found.checks else ""
    yield f"Each of {found.rows} rows was held out once{by}."


def described(project: ProjectSummary) -> dict[str, object]:
    """A `ProjectSummary` for programs, in the words that the commands use."""
    return {
        "id": project.id,
        "name": project.name,
        "description": project.description,
        "kind": project.kind,
        "rows": project.n_rows,
        "classes": project.n_classes,
        "answered": project.answered,
        "open": project.left,
        "created_at": project.created_at.isoformat(),
        "last_answer": project.last_answer and project.last_answer.isoformat(),
    }
