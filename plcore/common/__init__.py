"""What several families of learners borrow: types, checks of parameters, words for messages, limits, threads,
characters that names and texts may not hold, arrays in files, arrays that grow with the rows, disks
that are full."""

from __future__ import annotations

from plcore.common.array_files import array_at, map_arrays, read_head, write_arrays
from plcore.common.characters import escaped, forbidden_in_name, forbidden_in_text, unstorable_in
from plcore.common.checks import check_choice, check_int, check_names, check_share, is_real, is_whole
from plcore.common.disk_room import no_room
from plcore.common.large_arrays import IN_MEMORY, large_array, let_go, note_map
from plcore.common.limits import LARGEST_FEATURE, check_feature_size
from plcore.common.threads import one_thread, one_thread_for_good
from plcore.common.types import AnyArray, BoolArray, Features, FloatArray, IntArray, StepProgress, Table
from plcore.common.words import listed, quoted, shortened

__all__ = [
    "IN_MEMORY",
    "LARGEST_FEATURE",
    "AnyArray",
    "BoolArray",
    "Features",
    "FloatArray",
    "IntArray",
    "StepProgress",
    "Table",
    "array_at",
    "check_choice",
    "check_feature_size",
    "check_int",
    "check_names",
    "check_share",
    "escaped",
    "forbidden_in_name",
    "forbidden_in_text",
    "is_real",
    "is_whole",
    "large_array",
    "let_go",
    "listed",
    "map_arrays",
    "no_room",
    "note_map",
    "one_thread",
    "one_thread_for_good",
    "quoted",
    "read_head",
    "shortened",
    "unstorable_in",
    "write_arrays",
]
