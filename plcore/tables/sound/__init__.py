"""Recordings: decoded in pieces."""

from __future__ import annotations

from plcore.tables.sound.decoding import (
    MAX_FRAMES,
    Sound,
    SoundError,
    SoundFacts,
    read_segment,
    sound_facts,
)

__all__ = ["MAX_FRAMES", "Sound", "SoundError", "SoundFacts", "read_segment", "sound_facts"]
