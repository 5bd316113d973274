"""Search by meaning: by typed words, by a row, and the reason if it is not possible."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pytest

from plcore import LabelTable, LearnerSettings, Roles
from plcore.tables import encoders
from tests.workflow.encoder_world import KNOWN, words_encoder
from tests.workflow.meaning_world import WORDS, give_vectors, meaning_project, topic_encoder, topic_table
from tests.workflow.text_world import text_frame, text_project, text_table
from tests.workflow.world import annotator, opened, small_project
from workflow.access import NotAllowed, NotFound
from workflow.answering import loop
from workflow.files import limited
from workflow.importing import encoding
from workflow.projects import managing
from workflow.rows import meaning, queue
from workflow.rows.queue import NoMeaningError, list_nearest, search_ways
from workflow.seat import Seat
from workflow.server.home import Home

TRUTH = text_frame()["truth"]


def topics_of(view: Any) -> list[str]:
    return [TRUTH[one.row] for one in view.rows]


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def test_search_by_meaning_finds_rows_without_the_words(home: Home, owner: int) -> None:
    seat = meaning_project(home, owner)
    assert search_ways(seat) == meaning.Meaning(readable=True, by_row=True, why_no_words="")
    for word, topic in (("animals", "birds"), ("voyage", "ships"), ("symphony", "music")):
        assert queue.list_queue(seat, word).matching == 0
        view = list_nearest(seat, word)
        assert view.by_meaning
        wanted = [one.row for one in queue.list_queue(seat).rows if TRUTH[one.row] == topic]
        assert {one.row for one in view.rows[: len(wanted)]} == set(wanted)
    assert topics_of(list_nearest(seat, " animals  animals "))[0] == "birds"


def test_rows_are_ranked_by_cosine_similarity(home: Home, owner: int) -> None:
    seat = meaning_project(home, owner)
    view = list_nearest(seat, "voyage sail")
    with opened(home, owner, seat.project_id) as learner:
        vectors = learner.table.encoded[0].values.astype(np.float64)
    wanted = topic_table()[[WORDS.index("voyage"), WORDS.index("sail")]].mean(axis=0)
    found = [one.near for one in view.rows]
    assert found == sorted(found, reverse=True)
    assert found == pytest.approx([cosine(vectors[one.row], wanted) for one in view.rows], abs=1e-6)
    by_place = queue.list_queue(seat).rows
    assert all(by_place[one.place - 1].row == one.row for one in view.rows), "places are those of asking"


def test_search_by_row_needs_no_encoder(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner))
    vectors = np.random.default_rng(3).normal(size=(60, 5))
    vectors[[7, 9]] = np.nan
    vectors = give_vectors(seat, vectors)
    view = list_nearest(seat, like=4)
    listed = [one.row for one in queue.list_queue(seat).rows if one.row not in (7, 9)]
    wanted = sorted(listed, key=lambda row: -cosine(vectors[row], vectors[4]))
    assert [one.row for one in view.rows] == wanted
    assert view.matching == len(wanted)
    assert view.listed > view.matching
    with pytest.raises(NoMeaningError, match="Row t7 has no vector"):
        list_nearest(seat, like=7)
    with pytest.raises(NotFound, match="no row 61"):
        list_nearest(seat, like=60)


def test_search_uses_encoder_that_made_the_vectors(home: Home, owner: int) -> None:
    seat = meaning_project(home, owner)
    topic_encoder(home, "a-turned", turned=True)
    (home.encoders_dir / "b-broken").mkdir()
    assert topics_of(list_nearest(seat, "animals"))[0] == "birds"


def test_search_by_words_explains_why_it_is_unavailable(home: Home, owner: int) -> None:
    numbers = Seat(home, owner, small_project(home, owner))
    assert "Rows of numbers" in search_ways(numbers).why_no_words
    assert not search_ways(numbers).readable
    seat = Seat(home, owner, text_project(home, owner))
    assert search_ways(seat).by_row is False
    for call in (lambda: list_nearest(seat, "animals"), lambda: list_nearest(seat, like=3)):
        with pytest.raises(NoMeaningError, match=r"have no vectors.* Fix: under Project settings, Model"):
            call()
    give_vectors(numbers, np.ones((numbers_rows(numbers), 2)), "x")
    assert search_ways(numbers).by_row
    with pytest.raises(NoMeaningError, match="were not made from texts"):
        list_nearest(numbers, "animals")
    give_vectors(seat, np.random.default_rng(0).normal(size=(60, 4)))
    with pytest.raises(NoMeaningError, match=r"The encoder theirs \(000000\) is not on this server"):
        list_nearest(seat, "animals")
    topic_encoder(home)
    assert search_ways(seat).why_no_words == "", "nothing is encoded to tell"
    with pytest.raises(NoMeaningError, match=r"encoder theirs .*; 'topics' gives other vectors. Fix: have the op"):
        list_nearest(seat, "animals")


def numbers_rows(seat: Seat) -> int:
    with seat.reading() as reading:
        return reading.project.n_rows


def test_blank_or_too_long_query_is_refused(home: Home, owner: int) -> None:
    seat = meaning_project(home, owner)
    with pytest.raises(NoMeaningError, match=r"up to 1,000 characters. Got 1,001"):
        list_nearest(seat, "a" * 1_001)
    with pytest.raises(NoMeaningError, match="There are no words"):
        list_nearest(seat, "  ")


def test_query_without_vector_is_refused(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner))
    encoding.encode_project(seat, encoding.Encoder(encoding.folder_of(home, words_encoder(home))))
    assert list_nearest(seat, KNOWN[0]).matching <= 3, "the others have no direction"
    with pytest.raises(NoMeaningError, match="words finds nothing in these words"):
        list_nearest(seat, "never seen")


def test_broken_encoder_is_reported_with_its_name(home: Home, owner: int) -> None:
    seat = meaning_project(home, owner)
    (home.encoders_dir / "topics" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(NoMeaningError, match=r"topics: model.onnx cannot be opened.* Fix:"):
        list_nearest(seat, "animals")


def test_query_is_encoded_once_in_limited_process(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = meaning_project(home, owner)
    asked: list[Any] = []
    ask = limited.ask

    def counted(job: str, given: Any, *others: Any) -> Any:
        asked.append((job, given["texts"][-1]))
        return ask(job, given, *others)

    def fails(*_: Any) -> None:
        raise AssertionError("no model is opened in this process")

    monkeypatch.setattr(limited, "ask", counted)
    monkeypatch.setattr(encoders.Encoder, "__init__", fails)
    for words in ("animals", "animals", " animals ", "voyage", "animals"):
        list_nearest(seat, words)
    assert asked == [("text_vectors", "animals"), ("text_vectors", "voyage")]
    topic_encoder(home)  # put there again
    list_nearest(seat, "animals")
    assert len(asked) == 3


def test_waiting_search_times_out(home: Home, owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = meaning_project(home, owner)
    monkeypatch.setattr(meaning, "PATIENCE", 0.0)
    lock = threading.Lock()
    monkeypatch.setattr(meaning, "_lock", lock)
    with lock, pytest.raises(NoMeaningError, match="Others are searching"):
        list_nearest(seat, "animals")
    assert list_nearest(seat, "animals").rows


def test_search_by_meaning_is_owner_only_with_blind_checks(home: Home, owner: int) -> None:
    seat = meaning_project(home, owner, control_share=0.3)
    ada = Seat(home, annotator(home, owner, "Ada"), seat.project_id)
    for call in (lambda: list_nearest(ada, "animals"), lambda: list_nearest(ada, like=1), lambda: search_ways(ada)):
        with pytest.raises(NotAllowed, match="blind checks"):
            call()
    with opened(home, owner, seat.project_id) as learner:
        blind = set(np.flatnonzero(learner.pool.control_rows).tolist())
    assert not blind & {one.row for one in list_nearest(seat, "animals").rows}


def test_similar_rows_are_ranked_by_their_vectors(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner, test_share=0.0))
    vectors = np.random.default_rng(3).normal(size=(60, 5)) * np.arange(1, 61)[:, None]
    vectors[::7] = np.nan
    given = set()
    for _ in range(30):
        question = loop.next_question(seat)
        loop.submit_answer(seat, question.token, "is", [TRUTH[question.view.row]])
        given.add(question.view.row)
    vectors = give_vectors(seat, vectors)
    question = loop.ask_next(seat, next(one.row for one in queue.list_queue(seat).rows if one.row % 7))
    asked = question.view.row
    wanted = sorted((row for row in given if row % 7), key=lambda row: -cosine(vectors[row], vectors[asked]))
    found = [one.view.row for one in loop.similar_rows(seat, question.token)]
    assert found == wanted[:5]
    bare = next(one.row for one in queue.list_queue(seat).rows if one.row % 7 == 0)
    assert len(loop.similar_rows(seat, loop.ask_next(seat, bare).token)) == 5, "by its words"


def encoding_of(encoder: encoding.Encoder, table: LabelTable) -> np.ndarray:
    def none(name: str) -> NoReturn:
        raise AssertionError(name)

    return np.asarray(encoder.encode(table, none).values)


def test_imported_vectors_are_searched_with_their_encoder(home: Home, owner: int) -> None:
    frame = text_frame()
    made = encoding.Encoder(topic_encoder(home, "renamed"))
    texts = LabelTable.from_frame(frame, Roles(candidates="candidates", id="id", text="text"))
    vectors = encoding_of(made, texts)
    roles = replace(texts.roles, embedding="v")
    table = LabelTable.from_cells(frame[["id", "candidates", "text"]].astype("str"), roles, arrays={"v": vectors})
    number = managing.create_project(Seat(home, owner), "own", table, LearnerSettings(n_neighbors=4))
    seat = Seat(home, owner, number)
    assert topics_of(list_nearest(seat, "voyage"))[0] == "ships"
    assert list_nearest(seat, like=3).rows[0].near == pytest.approx(1.0)


def two_texts(home: Home, owner: int) -> Seat:
    """The owner's seat at a project of texts with titles, each the text of another row."""
    frame = text_frame().assign(title=text_frame()["text"].iloc[::-1].to_list())
    roles = Roles(candidates="candidates", id="id", text="text", more_texts=("title",))
    made = managing.create_project(
        Seat(home, owner), "two", LabelTable.from_frame(frame, roles), LearnerSettings(n_neighbors=4)
    )
    return Seat(home, owner, made)


def test_words_are_searched_in_every_text(home: Home, owner: int) -> None:
    seat = two_texts(home, owner)
    encoding.encode_project(seat, encoding.Encoder(topic_encoder(home)))
    first = list_nearest(seat, "voyage").rows[0].row
    assert TRUTH[first] == TRUTH[len(TRUTH) - 1 - first] == "ships", "both of its texts"


def test_vectors_of_first_text_alone_are_made_again_with_new_rows(home: Home, owner: int) -> None:
    """As those of projects from before encoders read every text."""
    seat, made = two_texts(home, owner), encoding.Encoder(topic_encoder(home))
    alone = encoding_of(made, text_table())
    alone[5] = np.nan  # a row that waits for its vector
    give_vectors(seat, alone, digest=made.sha256)
    assert list_nearest(seat, "voyage").by_meaning, "searched as they are"
    assert encoding.encode_new_rows(seat) == (60, (), ())
    with opened(home, owner, seat.project_id) as learner:
        (found,) = learner.table.encoded
    assert found.values.shape == (60, 2 * alone.shape[1])
    assert not found.missing.any()


def test_similarity_of_several_columns_is_mean_cosine(home: Home, owner: int) -> None:
    seat = Seat(home, owner, text_project(home, owner))
    rng = np.random.default_rng(2)
    first, second = rng.normal(size=(60, 3)), rng.normal(size=(60, 6))
    second[::3] = np.nan
    first, second = give_vectors(seat, first), give_vectors(seat, second, "id")
    view = list_nearest(seat, like=4)
    for one in view.rows:
        cosines = [cosine(first[one.row], first[4])]
        if one.row % 3:
            cosines.append(cosine(second[one.row], second[4]))
        assert one.near == pytest.approx(np.mean(cosines), abs=1e-6)
