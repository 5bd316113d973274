"""What SQLAlchemy is told of the columns of a result."""

from __future__ import annotations

import psycopg
import pytest

from db.postgres import ShortCursor

pytestmark = pytest.mark.postgres

QUERY = "SELECT 1 AS one, 'wren' AS \"grüne Vögel\", now() AS at, NULL::json AS nothing"


def test_a_column_is_described_by_name_and_type(postgres_url: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        whole = connection.execute(QUERY)
        short = ShortCursor(connection).execute(QUERY)
        assert whole.description is not None
        assert [one[:2] for one in short.description] == [
            (one.name, one.type_code) for one in whole.description
        ]
        assert {one[2:] for one in short.description} == {(None,) * 5}, "as many parts as PEP 249 names"
        assert short.fetchall() == whole.fetchall()


def test_what_has_no_columns_has_no_description(postgres_url: str) -> None:
    with psycopg.connect(postgres_url.replace("+psycopg", "")) as connection:
        cursor = ShortCursor(connection)
        assert cursor.description is None
        assert cursor.execute("CREATE TEMPORARY TABLE birds (name text)").description is None
