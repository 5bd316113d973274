"""Spectrograms: sounds are at their time and pitch, whatever the rate, scale and loudness."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from plcore.tables.media.sound import drawing
from plcore.tables.media.sound.decoding import Sound, SoundError, power_spectra
from plcore.tables.media.sound.drawing import MAX_POINTS, Picture, Scale, spectrogram, to_png
from tests.plcore.tables.media.sound.recordings import flac_saying, noise, tone, written


def pitch_of(picture: Picture, row: float) -> float:
    """Hz at the middle of a row."""
    share = 1 - (row + 0.5) / len(picture.grey)
    if picture.scale == "log":
        return float(picture.f0 * (picture.f1 / picture.f0) ** share)
    return picture.f0 + share * (picture.f1 - picture.f0)


def second_of(picture: Picture, column: float) -> float:
    return picture.t0 + (column + 0.5) / picture.grey.shape[1] * (picture.t1 - picture.t0)


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("rate", [8000, 22_050, 44_100, 96_000, 384_000])
@pytest.mark.parametrize("hertz", [440, 3000])
def test_tone_is_at_its_pitch(scale: Scale, rate: int, hertz: float) -> None:
    samples = tone(hertz, 3, rate) + noise(3, rate, 0.001)
    picture = spectrogram(written(samples, rate), 1, 2, scale=scale, around=0.5)
    brightest = picture.grey.astype(int).sum(axis=1).argmax()
    assert pitch_of(picture, brightest) == pytest.approx(hertz, abs=rate / 2 ** round(np.log2(rate * 0.0213)))


@pytest.mark.parametrize("around", [0, 0.7, 2, 1000])
def test_click_is_at_its_second(around: float) -> None:
    samples = noise(12, 16_000, 1e-4)
    samples[round(5.25 * 16_000)] = 0.9
    picture = spectrogram(written(samples, 16_000), 5, 6, around=around)
    brightest = picture.grey.astype(int).sum(axis=0).argmax()
    assert second_of(picture, brightest) == pytest.approx(5.25, abs=0.016)
    assert (picture.t0, picture.t1) == (max(0, 5 - around), min(12, 6 + around))
    assert (picture.start, picture.end) == (5, 6)
    assert picture.grey.shape == (256, 800)


def test_call_has_a_visible_beginning_and_end() -> None:
    samples = noise(4, 8000, 0.001)
    samples[12_000:16_000] += tone(2000, 0.5)
    picture = spectrogram(written(samples, 8000), 1, 3, around=1)
    row = np.argmin([abs(pitch_of(picture, row) - 2000) for row in range(256)])
    seconds = second_of(picture, np.flatnonzero(picture.grey[row] > 200))
    assert seconds.min() == pytest.approx(1.5, abs=0.03)
    assert seconds.max() == pytest.approx(2, abs=0.03)


def test_highest_pitch_can_be_set() -> None:
    file = written(noise(1, 48_000), 48_000)
    assert spectrogram(file).f1 == 12_000
    assert spectrogram(file, highest=None).f1 == 24_000
    assert spectrogram(file, highest=5000).f1 == 5000
    assert spectrogram(written(noise(1, 8000), 8000)).f1 == 4000
    assert spectrogram(file).f0 == 0
    assert spectrogram(file, scale="log").f0 == 50
    assert spectrogram(written(noise(9, 200), 200), scale="log").f0 == 12.5


def test_spectrogram_without_a_segment_shows_the_whole_recording() -> None:
    picture = spectrogram(written(noise(3), 8000, "FLAC"))
    assert (picture.t0, picture.t1, picture.start, picture.end) == (0, 3, 0, 3)


def test_loudness_does_not_change_the_image() -> None:
    samples = tone(1000, 2) * np.linspace(0, 1, 16_000) + noise(2, 8000, 0.01)
    loud = spectrogram(written(samples, 8000, "WAV", "DOUBLE")).grey.astype(int)
    for factor in (1e-4, 30.0):
        other = spectrogram(written(samples * factor, 8000, "WAV", "DOUBLE")).grey.astype(int)
        assert np.abs(other - loud).max() <= 1
    assert loud.max() == 255
    assert loud.min() == 0


def test_silence_is_dark_and_noise_is_not_stretched() -> None:
    assert not spectrogram(written(np.zeros(8000))).grey.any()
    noisy = spectrogram(written(noise(3))).grey
    assert np.median(noisy) > 120


def test_long_recording_shows_a_click_between_columns() -> None:
    samples = noise(180, 8000, 1e-4)
    samples[round(100.05 * 8000)] = 0.9
    picture = spectrogram(written(samples, 8000))
    brightest = picture.grey.astype(int).sum(axis=0).argmax()
    assert second_of(picture, brightest) == pytest.approx(100.05, abs=180 / 800)


def test_very_long_recording_is_decoded_only_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = np.concatenate([tone(500, 900, 1000), tone(200, 900, 1000)])  # half an hour
    file = flac_saying(written(samples, 1000, "FLAC", "PCM_16"), rate=1000)
    monkeypatch.setattr(drawing, "_MOST_WINDOWS", 2)
    asked = []
    pieces = Sound.pieces
    monkeypatch.setattr(Sound, "pieces", lambda self, a, b: asked.append(b - a) or pieces(self, a, b))
    picture = spectrogram(file, width=100, height=50)
    assert sum(asked) == 100 * 2 * 16
    rows = picture.grey.argmax(axis=0)
    assert pitch_of(picture, rows[20]) == pytest.approx(490, abs=40)
    assert pitch_of(picture, rows[80]) == pytest.approx(200, abs=40)


def test_recording_of_a_few_frames_has_an_image() -> None:
    for frames in (1, 2, 100):
        assert spectrogram(written(np.ones(frames) * 0.5)).grey.shape == (256, frames)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"scale": "mel"}, "scale must be one of"),
        ({"width": 0}, "width must be an int of at least 1"),
        ({"height": 2.5}, "height must be an int"),
        ({"width": MAX_POINTS, "height": 2}, "at most 2,097,152 points"),
        ({"around": -1}, "around must be at least 0"),
        ({"around": float("nan")}, "around must be at least 0"),
        ({"highest": 0}, "highest must be more than 0 Hz"),
        ({"highest": float("nan")}, "highest must be more than 0 Hz"),
    ],
)
def test_undrawable_input_is_reported(wrong: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        spectrogram(written(noise(1)), **wrong)


def test_undecodable_input_has_no_image() -> None:
    with pytest.raises(SoundError):
        spectrogram(io.BytesIO(b"no sound"))
    with pytest.raises(SoundError, match="the recording ends at 1 s"):
        spectrogram(written(noise(1)), 1, 2)


def test_png_is_grey_with_the_pixels_of_the_image() -> None:
    picture = spectrogram(written(noise(2)), width=300, height=100)
    image = Image.open(io.BytesIO(to_png(picture)))
    assert (image.format, image.mode) == ("PNG", "L")
    np.testing.assert_array_equal(np.asarray(image), picture.grey)
    assert to_png(spectrogram(written(noise(2)), width=300, height=100)) == to_png(picture)


@pytest.mark.parametrize(("length", "hop"), [(64, 64), (64, 10), (256, 1), (1000, 333)])
@pytest.mark.parametrize("count", [1, 50, 9000])
def test_power_spectra_match_window_by_window_computation(length: int, hop: int, count: int) -> None:
    samples = noise(1.2)
    with Sound(written(samples, 8000, "WAV", "DOUBLE")) as sound:
        found = np.concatenate(list(power_spectra(sound, 100, 100 + count, length, hop)))
    padded = np.concatenate([np.zeros(length // 2), samples[100 : 100 + count], np.zeros(length // 2)])
    weights = np.hanning(length + 1)[:-1]
    starts = range(0, len(padded) - length + 1, hop)
    one_by_one = [
        np.abs(np.fft.rfft(padded[start : start + length] * weights / weights.sum())) ** 2 for start in starts
    ]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-3, atol=1e-9)


def test_power_spectra_do_not_depend_on_the_pieces_read() -> None:
    samples = noise(30)
    with Sound(written(samples, 8000, "WAV", "DOUBLE")) as sound:
        batches = list(power_spectra(sound, 0, 240_000, 512, 100))
    assert len(batches) > 3
    assert sum(map(len, batches)) == 240_000 // 100 + 1
    middle = np.concatenate(batches)[1200]
    alone = samples[120_000 - 256 : 120_000 + 256] * np.hanning(513)[:-1] / np.hanning(513)[:-1].sum()
    np.testing.assert_allclose(middle, np.abs(np.fft.rfft(alone)) ** 2, rtol=1e-3, atol=1e-9)


def test_tone_of_amplitude_one_has_power_one_quarter() -> None:
    with Sound(written(tone(1000, 1, 8000, 1.0), 8000, "WAV", "FLOAT")) as sound:
        found = np.concatenate(list(power_spectra(sound, 0, 8000, 256, 256)))
    assert found[15, 32] == pytest.approx(0.25, abs=1e-4)
