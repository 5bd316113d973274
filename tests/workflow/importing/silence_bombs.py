"""Hours of silence in a few kilobytes, or in a small zip: the same frame repeated, with valid checksums."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Iterator

import numpy as np
import soundfile

from tests.workflow.importing.picture_bombs import MediaBomb

RATE = 8_000
HOURS = 10


def _table(polynomial: int, bits: int) -> list[int]:
    found, top, mask = [], 1 << (bits - 1), (1 << bits) - 1
    for byte in range(256):
        value = byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value & top else value << 1) & mask
        found.append(value)
    return found


_SUMS = {(polynomial, bits): _table(polynomial, bits) for polynomial, bits in ((7, 8), (0x8005, 16), (0x04C11DB7, 32))}


def check_sum(data: bytes, polynomial: int, bits: int) -> int:
    """The cyclic redundancy check of FLAC's frames and Ogg's pages, which begins with 0, high bits first."""
    value, table, mask = 0, _SUMS[polynomial, bits], (1 << bits) - 1
    for byte in data:
        value = (value << 8 ^ table[value >> (bits - 8) ^ byte]) & mask
    return value


def silence(kind: str, subtype: str | None = None, seconds: float = 20) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, np.zeros(round(seconds * RATE), np.int16), RATE, format=kind, subtype=subtype)
    return out.getvalue()


def flac(hours: float, rate: int = RATE) -> bytes:
    """Each frame has 65,535 zeros in 15 bytes."""
    block = 65_535
    n = round(hours * 3600 * rate) // block
    facts = struct.pack(">HH", block, block) + bytes(6)
    facts += struct.pack(">Q", rate << 44 | 15 << 36 | n * block) + bytes(16)
    frames = []
    for k in range(n):
        head = b"\xff\xf8\x70\x08" + _coded(k) + struct.pack(">H", block - 1)
        frame = head + bytes([check_sum(head, 7, 8)]) + bytes(3)
        frames.append(frame + struct.pack(">H", check_sum(frame, 0x8005, 16)))
    return b"fLaC" + struct.pack(">I", 0x80 << 24 | len(facts)) + facts + b"".join(frames)


def _coded(number: int) -> bytes:
    """Encode as UTF-8 would, even if there is no such character."""
    if number < 0x80:
        return bytes([number])
    more = 1
    while number >= 1 << (5 * more + 6):
        more += 1
    rest = [0x80 | number >> 6 * k & 0x3F for k in reversed(range(more))]
    return bytes([0xFF00 >> (more + 1) & 0xFF | number >> 6 * more, *rest])


def mp3(hours: float) -> bytes:
    """The fourth frame repeated: the first describes the file, the next borrow bits."""
    whole, size, seconds = silence("MP3"), 72, 0.072
    at = whole.index(whole[:1] + b"\xe3", 300)
    frame = whole[at : at + size]
    assert whole[at + size : at + size + 2] == frame[:2]
    return frame * round(hours * 3600 / seconds)


def ogg(hours: float, packet: bytes, frames: int, rate: int, subtype: str | None = None) -> bytes:
    """The headers of a recording, then pages of 255 times this packet, of this many frames."""
    whole = silence("OGG", subtype)
    second = whole.index(b"OggS", 1)
    end = whole.index(b"OggS", second + 1)
    serial = whole[14:18]
    segments = bytes([len(packet)]) * 255
    pages, n = [whole[:end]], round(hours * 3600 * rate) // (frames * 255)
    for k in range(n):
        place = struct.pack("<q", (k + 1) * frames * 255)
        flags = bytes([4 if k == n - 1 else 0])
        begin = b"OggS\0" + flags + place + serial + struct.pack("<I", k + 2)
        body = b"\xff" + segments + packet * 255
        value = check_sum(begin + bytes(4) + body, 0x04C11DB7, 32)
        pages.append(begin + struct.pack("<I", value) + body)
    return b"".join(pages)


def wav(data: int) -> bytes:
    form = struct.pack("<HHIIHH", 1, 1, RATE, RATE, 1, 8)
    head = b"WAVEfmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", data)
    return b"RIFF" + struct.pack("<I", data + len(head)) + head + b"\x80" * data


def _silences() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    yield "FLAC of ten hours", "flac", lambda: flac(HOURS)
    yield "FLAC of two weeks", "flac", lambda: flac(14 * 24, 500)
    yield "MP3 of ten hours", "mp3", lambda: mp3(HOURS)
    yield "Vorbis of ten hours", "ogg", lambda: ogg(HOURS, b"\0", 256, RATE)
    yield "Opus of three hours", "ogg", lambda: ogg(3, b"\x98\xff\xfe", 960, 48_000, "OPUS")
    yield "WAV of five hours", "wav", lambda: wav(5 * 3600 * RATE)


SILENCES = [MediaBomb(f"silence: {name}", make, ending) for name, ending, make in _silences()]
