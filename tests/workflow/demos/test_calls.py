"""The made-up clips: the same by seed, as loud as they say, and seen and heard for what they are."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
import soundfile

from workflow.demos import calls


@pytest.fixture(scope="module")
def content() -> bytes:
    return calls.make_file()


@pytest.fixture(scope="module")
def table(content: bytes) -> pd.DataFrame:
    with zipfile.ZipFile(io.BytesIO(content)) as file, file.open("calls.csv") as lines:
        return pd.read_csv(lines, keep_default_na=False)


def test_it_is_the_same_each_time_and_small(content: bytes) -> None:
    assert calls.make_file() == content
    assert len(content) < 9_000_000


def test_how_far_it_is_is_told() -> None:
    told: list[float] = []
    calls.make_file(told.append)
    assert told == sorted(told)
    assert (told[0], told[-1] > 0.9) == (0.0, True)


def test_every_row_names_a_recording_of_its_own(content: bytes, table: pd.DataFrame) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        assert set(table["recording"]) == {name for name in file.namelist() if name.endswith(".flac")}
        samples, rate = soundfile.read(io.BytesIO(file.read("clips/007.flac")), dtype="int16")
    assert (rate, len(samples)) == (calls.RATE, round(calls.SECONDS * calls.RATE))
    assert 1_000 < np.abs(samples).max() < 32_767, "to be heard, and not cut off"
    assert table["id"].is_unique


def test_the_shortlist_is_scored_and_often_wrong(table: pd.DataFrame) -> None:
    labels = table[[f"label{place}" for place in range(1, 5)]].to_numpy()
    scores = table[[f"score{place}" for place in range(1, 5)]].replace("", "0").astype(float).to_numpy()
    assert (np.diff(scores, axis=1) <= 0).all(), "best first"
    assert ((labels == "") == (scores == 0)).all()
    assert (scores.sum(axis=1) < 1.01).all()
    truth = table["true_label"].to_numpy()
    assert set(truth) == set(calls.NAMES)
    assert (labels == truth[:, None]).any(axis=1).all()
    assert 0.5 < (labels[:, 0] == truth).mean() < 0.8
    assert ((labels != "").sum(axis=1) > 1).mean() > 0.8


@pytest.mark.parametrize("number", range(len(calls.SPECIES)))
def test_each_species_sounds_where_its_words_say(number: int) -> None:
    """The loudest pitch of a phrase, at its begin and at its end."""
    phrase = calls.SPECIES[number].sing(np.random.default_rng(0))
    assert np.abs(phrase).max() <= 1
    half = len(phrase) // 2
    begin, end = (_pitch(part) for part in (phrase[:half], phrase[half:]))
    low, high = {
        "rising piper": (1_800, 4_600),
        "falling piper": (2_200, 5_400),
        "rattle wren": (4_000, 5_000),
        "slow ticker": (5_400, 6_600),
        "two-note tit": (2_700, 4_100),
        "warble thrush": (1_800, 3_200),
        "reed buzzer": (4_400, 6_600),
        "low hooter": (500, 720),
    }[calls.NAMES[number]]
    assert low < begin < high
    assert low < end < high
    if calls.NAMES[number] == "rising piper":
        assert begin < end
    if calls.NAMES[number] == "falling piper":
        assert begin > end


def _pitch(samples: np.ndarray) -> float:
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * calls.RATE / len(samples))


def test_the_true_label_is_the_loudest() -> None:
    """Of two singers alone, each in a band of its own, that of the true label has more power in most clips."""
    rng = np.random.default_rng(5)
    right = [_louder_band(calls.make_clip(rng)) for _ in range(60)]
    assert np.mean([one for one in right if one is not None]) > 0.9


def _louder_band(clip: calls.Clip) -> bool | None:
    """Whether the hooter, below 1 kHz, is louder than all above exactly where it is the truth; None without it."""
    power = np.abs(np.fft.rfft(clip.samples.astype(float))) ** 2
    edge = round(1_000 * len(clip.samples) / calls.RATE)
    hooter = calls.NAMES.index("low hooter")
    if hooter not in {one for one, _ in clip.shortlist}:
        return None
    return bool(power[:edge].sum() > power[edge:].sum()) == (clip.truth == hooter)
