"""Decode recordings: header, samples of a segment, and the spectra of short windows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import soundfile

from plcore.tables.media.file_tree import MediaError

Samples = npt.NDArray[np.float32]
"""Samples (frames,) of one channel; 1 is full scale."""
Source = str | Path | BinaryIO
"""A recording: a path, or a seekable binary file (such as `io.BytesIO`)."""

LOWEST_RATE, HIGHEST_RATE = 100, 1_000_000  # Hz: from recorders for whales to recorders for bats
MAX_CHANNELS = 32
MAX_FRAMES = 2**24  # frames of a segment read at once, 64 MB: nearly six minutes at 48 kHz

_PIECE = 2**16  # samples decoded at a time, over all channels
_LEAD = 2304  # frames decoded before a position in an MP3, which depends on the two frames of 1152 before it
_LOUDEST = 1e6  # squares of larger samples over a long window overflow single precision
_FORMATS = {"WAV": "WAV", "WAVEX": "WAV", "FLAC": "FLAC", "OGG": "Ogg", "MP3": "MP3"}
_BROKEN = (soundfile.SoundFileError, RuntimeError, OSError, ValueError, TypeError)
_FIX = "Save it again as WAV, FLAC, Ogg or MP3."
_UNKNOWN_LENGTH = 2**62  # libsndfile's largest number, which means an unknown length


class SoundError(MediaError):
    """A recording, or a segment of it, cannot be decoded. `args` are the message and the fix."""


@dataclass(frozen=True)
class SoundFacts:
    """The header of a recording.

    Attributes
    ----------
    rate : frames per second, Hz
    frames : number of frames, with one sample of each channel
    channels : 1 is mono
    format : `WAV`, `FLAC`, `Ogg` or `MP3`
    subtype : sample format as libsndfile names it: `PCM_16`, `FLOAT`, `VORBIS`, ...
    """

    rate: int
    frames: int
    channels: int
    format: str
    subtype: str

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        return self.frames / self.rate


class Sound:
    """An open recording, from which many segments can be read.

    Close it, or use it in a `with`; a binary file passed as the source stays open. Not thread-safe.
    Raises SoundError if the file is not a recording that can be decoded, OSError if it cannot be read at all.

    Attributes
    ----------
    facts : its header
    """

    facts: SoundFacts
    _file: soundfile.SoundFile
    _place: int | None  # next frame to decode; None if the decoder must be restarted

    def __init__(self, source: Source) -> None:
        self._source = source
        _check_first_bytes(_first_bytes(source))
        self._open()
        try:
            self.facts = _checked(self._file)
        except SoundError:
            self.close()
            raise

    def __enter__(self) -> Sound:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def span(self, start: float | None, end: float | None) -> tuple[int, int]:
        """Return the frames [first, last) of a segment in seconds; None is the recording's own start or end.

        A segment may end after the recording, as the last window of many detectors does, and is then cut. Raises
        SoundError: not two finite numbers in order, or no part of it is in the recording.
        """
        begin, close = 0.0 if start is None else float(start), math.inf if end is None else float(end)
        if not (0 <= begin < math.inf) or not close > begin:
            said = f"the segment from {_shown(start)} to {_shown(end)} seconds is none"
            raise SoundError(f"{said}.", "A segment starts at 0 seconds or later and ends after it starts.")
        facts = self.facts
        if begin >= facts.seconds:
            said = f"the segment starts at {begin:g} s, but the recording ends at {facts.seconds:g} s"
            raise SoundError(f"{said}.", "Give the seconds from the start of this recording.")
        first = min(round(begin * facts.rate), facts.frames - 1)
        last = min(round(min(close, facts.seconds) * facts.rate), facts.frames)
        return first, max(first + 1, last)

    def read(self, start: float | None = None, end: float | None = None) -> Samples:
        """Return the samples of a segment in seconds, averaged over channels; fewer if the file is cut off inside it.

        Samples that are not finite become 0. Raises SoundError as `span` does, and if more than `MAX_FRAMES` are
        requested or no frame of the segment can be decoded.
        """
        first, last = self.span(start, end)
        if last - first > MAX_FRAMES:
            said = f"the segment has {last - first:,} points of sound; at most {MAX_FRAMES:,} are read at once"
            raise SoundError(f"{said}.", "Take a shorter segment.")
        return np.concatenate(list(self.pieces(first, last)))

    def pieces(self, first: int, last: int) -> Iterator[Samples]:
        """Yield the frames [first, last) in short arrays, processed as in `read`."""
        most = max(1, _PIECE // self.facts.channels)
        place = first
        while place < last:
            piece = self._decoded(place, min(most, last - place))
            if not len(piece):
                break
            yield piece
            place += len(piece)
        if place == first:
            raise self._broken_at(first)

    def _decoded(self, place: int, count: int) -> Samples:
        try:
            self._go_to(place)
            read: Samples = self._file.read(count, dtype="float32", always_2d=True)
        except _BROKEN as error:
            self._place = None  # a decoder does not recover from an error
            raise self._broken_at(place) from error
        self._place = place + len(read)
        known = np.nan_to_num(read, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
        clipped: Samples = np.clip(known, -_LOUDEST, _LOUDEST, out=known)
        return clipped[:, 0] if clipped.shape[1] == 1 else clipped.mean(axis=1)

    def _go_to(self, place: int) -> None:
        if self._place == place:
            return
        if self._place is None or self.facts.format == "Ogg":
            self.close()
            self._open()
        lead = min(place, _LEAD) if self.facts.format == "MP3" else 0
        self._file.seek(place - lead)
        if lead:
            self._file.read(lead, dtype="float32", always_2d=True)

    def _open(self) -> None:
        self._place = 0
        source = str(self._source) if isinstance(self._source, Path) else self._source
        if not isinstance(source, str):
            source.seek(0)
        try:
            self._file = soundfile.SoundFile(source)
        except _BROKEN as error:
            raise SoundError("this recording cannot be decoded; it may be damaged.", _FIX) from error

    def _broken_at(self, place: int) -> SoundError:
        second = place / self.facts.rate
        message = f"nothing of this recording can be decoded at {second:g} s; it may be damaged or cut off."
        return SoundError(message, _FIX)


@contextmanager
def opened(source: Source | Sound) -> Iterator[Sound]:
    """Open the recording, and close it at the end if it was opened here."""
    if isinstance(source, Sound):
        yield source
    else:
        with Sound(source) as sound:
            yield sound


def _first_bytes(source: Source) -> bytes:
    if isinstance(source, str | Path):
        with Path(source).open("rb") as file:
            return file.read(12)
    source.seek(0)
    return source.read(12)


def _check_first_bytes(head: bytes) -> None:
    if not head:
        raise SoundError("the recording is empty: the file has no bytes.", "Put the recording itself there.")
    wav = head[:4] == b"RIFF" and head[8:12] == b"WAVE"
    mp3 = head[:3] == b"ID3" or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2)
    if wav or mp3 or head[:4] in (b"fLaC", b"OggS"):
        return
    if head[4:8] == b"ftyp":
        raise SoundError("M4A is played, but neither drawn nor learnt from.", _FIX)
    raise SoundError("this is not a recording that can be decoded.", _FIX)


def _checked(file: soundfile.SoundFile) -> SoundFacts:
    """Return the header of an open file. Raises SoundError if its values are not supported."""
    if file.format not in _FORMATS or not file.seekable():
        raise SoundError(f"recordings written as {file.format} {file.subtype} are not decoded.", _FIX)
    if not LOWEST_RATE <= file.samplerate <= HIGHEST_RATE:
        allowed = f"{LOWEST_RATE} to {HIGHEST_RATE:,} are decoded"
        raise SoundError(f"the recording has {file.samplerate:,} points of sound a second; {allowed}.", _FIX)
    if not 1 <= file.channels <= MAX_CHANNELS:
        raise SoundError(f"the recording has {file.channels} channels; at most {MAX_CHANNELS} are read.", _FIX)
    if file.frames >= _UNKNOWN_LENGTH:
        raise SoundError("the recording does not say how long it is.", _FIX)
    if file.frames < 1:
        raise SoundError("the recording is empty: no sound is in the file.", "Put the recording itself there.")
    return SoundFacts(file.samplerate, file.frames, file.channels, _FORMATS[file.format], file.subtype)


def _shown(second: float | None) -> str:
    return "its own" if second is None else f"{float(second):g}"


def power_spectra(sound: Sound, first: int, last: int, length: int, hop: int) -> Iterator[Samples]:
    """Yield |STFT|^2 of the frames [first, last) in batches (windows, length // 2 + 1).

    Window `i` is centred at `i * hop`; there is silence beyond the ends. `length` is even, and `hop` at most `length`.
    Each window is weighted by a Hann window of sum 1, so a tone of amplitude 1 has 1/4 at its frequency. Only one piece
    of the sound is in memory at a time.
    """
    from scipy import fft

    weights = np.hanning(length + 1)[:-1]
    weights = (weights / weights.sum()).astype(np.float32)
    held = np.zeros(length // 2, dtype=np.float32)
    for piece in chain(sound.pieces(first, last), [np.zeros(length // 2, dtype=np.float32)]):
        held = np.concatenate([held, piece])
        count = max(0, (len(held) - length) // hop + 1)
        if count:
            windows = np.lib.stride_tricks.sliding_window_view(held, length)[: count * hop : hop]
            spectra = fft.rfft(windows * weights, axis=1)
            yield spectra.real**2 + spectra.imag**2
            held = held[count * hop :]
