"""Recordings that tests make: tones, clicks and noise, in every format that is decoded."""

from __future__ import annotations

import io
import struct

import numpy as np
import soundfile

FORMATS = (
    ("WAV", "PCM_U8", 8000),
    ("WAV", "PCM_16", 8000),
    ("WAV", "PCM_24", 96_000),
    ("WAV", "PCM_32", 8000),
    ("WAV", "FLOAT", 44_100),
    ("WAV", "DOUBLE", 8000),
    ("WAV", "ULAW", 8000),
    ("WAV", "IMA_ADPCM", 8000),
    ("WAV", "MS_ADPCM", 8000),
    ("WAVEX", "PCM_16", 8000),
    ("FLAC", "PCM_16", 44_100),
    ("FLAC", "PCM_24", 96_000),
    ("OGG", "VORBIS", 44_100),
    ("OGG", "OPUS", 48_000),
    ("MP3", "MPEG_LAYER_III", 44_100),
    ("MP3", "MPEG_LAYER_III", 16_000),
)


def written(samples: np.ndarray, rate: int = 8000, container: str = "WAV", subtype: str | None = None) -> io.BytesIO:
    """A file of these samples, (frames,) or (frames, channels); in pieces, which the writer of Ogg files needs."""
    wide = samples[:, None] if samples.ndim == 1 else samples
    file = io.BytesIO()
    with soundfile.SoundFile(file, "w", rate, wide.shape[1], subtype, format=container) as out:
        for start in range(0, len(wide), rate):
            out.write(wide[start : start + rate])
    return file


def tone(hertz: float, seconds: float, rate: int = 8000, loud: float = 0.5) -> np.ndarray:
    return loud * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def noise(seconds: float, rate: int = 8000, loud: float = 0.1, seed: int = 0) -> np.ndarray:
    return loud * np.random.default_rng(seed).standard_normal(round(seconds * rate))


def calls(seconds: float, rate: int) -> np.ndarray:
    """Sweeps with pauses over noise: no two places sound the same."""
    t = np.arange(round(seconds * rate)) / rate
    sweep = 0.4 * np.sin(2 * np.pi * (300 + 60 * t) * t) * (np.sin(2 * np.pi * 1.3 * t) > 0)
    return sweep + noise(seconds, rate, 0.02)


def raw_wav(
    rate: int = 8000,
    channels: int = 1,
    bits: int = 16,
    data: bytes = bytes(200),
    declared: int | None = None,
    extra: bytes = b"",
) -> io.BytesIO:
    """A WAV file byte by byte, whose header may be wrong; `extra` are chunks before the samples."""
    each = channels * bits // 8
    head = struct.pack("<IHHIIHH", 16, 1, channels, rate, rate * each % 2**32, each % 2**16, bits)
    size = len(data) if declared is None else declared
    body = b"WAVEfmt " + head + extra + b"data" + struct.pack("<I", size) + data
    return io.BytesIO(b"RIFF" + struct.pack("<I", len(body)) + body)


def flac_saying(file: io.BytesIO, frames: int | None = None, rate: int | None = None) -> io.BytesIO:
    """The FLAC file with another number of frames, or another rate, in its header."""
    data = bytearray(file.getvalue())
    fields = int.from_bytes(data[18:26], "big")  # STREAMINFO: 20 bits of rate, 8 of shape, 36 of frames
    if frames is not None:
        fields = fields >> 36 << 36 | frames
    if rate is not None:
        fields = rate << 44 | fields & (1 << 44) - 1
    data[18:26] = fields.to_bytes(8, "big")
    return io.BytesIO(bytes(data))
