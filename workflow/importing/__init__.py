"""Imports: an upload is read (`reading`) and becomes a project (`uploads`), or adds rows to one (`more_rows`)."""

from __future__ import annotations

from plcore import LabelTable, Problem, Roles, TableError
from plcore.tables import (
    MAX_FILES,
    MAX_PROBLEMS,
    MISSING,
    WAYS,
    Doubt,
    ReadingSummary,
    Way,
    causes,
    find_doubts,
    serving_columns,
)
from workflow.files.limited import LongLine
from workflow.importing.named_columns import CUT_AT, adjusted, freed, further_roles, newly_named, without_further
from workflow.importing.reading import Upload, read_paths, read_upload
from workflow.importing.uploads import (
    LIMITS,
    MAX_UPLOAD_MB,
    Checked,
    FurtherQuestion,
    MadeBefore,
    bring_in,
    check,
    check_new,
    create,
    described,
    doubts_about,
    doubts_of,
    dry_run,
    further_notes,
    further_question,
    kind_of_table,
    made_before,
    read_as_named,
    read_further,
    settings_for,
    with_further,
)
from workflow.projects.managing import NAME_LENGTH, CannotLearn
