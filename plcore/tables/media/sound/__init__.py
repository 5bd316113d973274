"""Recordings: decoding in pieces (`decoding`), spectrograms (`drawing`), sound features (`descriptor`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plcore.arrays.lazy import lazy_names

if TYPE_CHECKING:
    from plcore.tables.media.sound.decoding import MAX_FRAMES, Sound, SoundError, SoundFacts
    from plcore.tables.media.sound.descriptor import NAMES as SOUND_NAMES
    from plcore.tables.media.sound.descriptor import describe_sound
    from plcore.tables.media.sound.drawing import SCALES, Picture, Scale, spectrogram, to_png
else:
    __getattr__, __dir__ = lazy_names(__name__)
