"""Code shared by several families of learners: types, parameter checks, words for messages, limits, threads,
forbidden characters in names and texts, arrays in files, large arrays, full disks and synced folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.arrays.array_files import (
        IN_MEMORY,
        array_at,
        large_array,
        let_go,
        map_arrays,
        note_map,
        read_head,
        write_arrays,
    )
    from plcore.arrays.candidate_sets import rows_with_any
    from plcore.arrays.checks import check_choice
    from plcore.arrays.disk import no_room, sync_folder
    from plcore.arrays.lazy import lazy_names
    from plcore.arrays.plugins import PREFIX, Plugin, PluginError, parts_barred
    from plcore.arrays.threads import one_thread, one_thread_for_good
    from plcore.arrays.types import (
        BOTH,
        FEATURE_SETS,
        MEANING,
        WORDS,
        AnyArray,
        BoolArray,
        FloatArray,
        IntArray,
        ShareProgress,
        StepProgress,
        untold,
    )
    from plcore.arrays.words import (
        counted,
        either,
        escaped,
        forbidden_in_name,
        forbidden_in_text,
        in_a_row,
        listed,
        quoted,
        unstorable_in,
    )
else:
    __getattr__, __dir__ = lazy_names(__name__)
