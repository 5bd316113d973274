"""Encodings: certain ones are certain, small tables in many languages are read right, other bytes are refused."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plcore.tables.problems import TableError
from plcore.tables.text.csv import read_cells
from plcore.tables.text.encoding import NoTextError, Text, decode

TABLES = [
    ("cp1252", "id,label,text\n1,café,déjà vu\n2,naïve,über\n"),
    ("cp1252", "name,species\n1,Mésange bleue\n2,Pinson des arbres\n3,Étourneau\n"),
    ("cp1252", "candidates,w\na|b,1\nüb|a,2\n"),
    ("cp1252", "a,b\nx,5 €\ny,“hi”\n"),
    ("cp1252", "city,n\nMünchen,1\nKöln,2\nMálaga,3\n"),
    ("cp1252", "a\nSjöfågel\nSmørbrød\n"),
    ("cp1252", "n;v\nGröße;1,5 °C\n"),
    ("cp1252", "x\nPajaro año ¿qué?\n"),
    ("mac_roman", "id,label,text\n1,café,déjà vu\n2,naïve,über\n"),
    ("mac_roman", "name,species\n1,Mésange bleue\n2,Pinson des arbres\n3,Étourneau\n"),
    ("mac_roman", "city,n\nMünchen,1\nKöln,2\nMálaga,3\n"),
    ("mac_roman", "n\nGröße\nWörter\n"),
    ("cp1250", "id,słowo\n1,łąka zielona\n2,żółty ptak\n3,świerk\n"),
    ("cp1250", "id,slovo\n1,příliš žluťoučký kůň\n2,úpěl ďábelské ódy\n"),
    ("cp932", "id,ラベル,文\n1,スズメ,これは鳥です\n2,カラス,黒い鳥が飛んでいる\n"),
    ("cp932", "名前,種類\n田中,鳥\n"),
    ("euc_jp", "id,ラベル,文\n1,スズメ,これは鳥です\n2,カラス,黒い鳥が飛んでいる\n"),
    ("gb18030", "编号,标签\n1,麻雀\n2,这是一只黑色的鸟\n3,知更鸟\n"),
    ("big5", "編號,標籤\n1,麻雀\n2,這是一隻黑色的鳥\n3,知更鳥\n"),
    ("cp949", "번호,라벨\n1,참새\n2,이것은 검은 새입니다\n3,까마귀\n"),
    ("cp949", "이름,종류\n참새,새\n"),
    ("cp874", "ข้อความ,ป้าย\nนกตัวเล็กเกาะบนรั้ว,แมว|หมา\nพัสดุมาช้าสองวัน,หมา\n"),
    ("cp874", "name,ชื่อ\n1,นก\n2,แมว\n"),
    ("koi8_r", "номер,метка\n1,воробей\n2,это чёрная птица\n3,синица\n"),
    ("koi8_r", "Имя,Класс\nСокол,Хищник\n"),
    ("cp1251", "номер,метка\n1,воробей\n2,это чёрная птица\n3,синица\n"),
    ("cp1251", "Имя,Класс\nСокол,Хищник\n"),
    ("cp1251", "id,метка\n1,ВОРОБЕЙ\n"),
    ("cp866", "номер,метка\n1,воробей\n2,это чёрная птица\n3,синица\n"),
    ("cp1253", "αριθμός,ετικέτα\n1,σπουργίτι\n2,μαύρο πουλί\n"),
    ("cp850", "city,n\nMünchen,1\nKöln,2\nMálaga,3\n"),
]


@pytest.mark.parametrize(("codec", "table"), TABLES)
def test_small_tables_of_any_language_are_decoded_correctly(codec: str, table: str) -> None:
    text = decode(table.encode(codec))
    assert text.data.decode() == table
    assert text.doubt.startswith(f"Read as {text.encoding}, which the file does not say itself.")


@pytest.mark.parametrize(
    ("codec", "mark", "name"),
    [
        ("utf-8", codecs.BOM_UTF8, "UTF-8"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "UTF-16"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "UTF-16"),
        ("utf-32-le", codecs.BOM_UTF32_LE, "UTF-32"),
        ("utf-32-be", codecs.BOM_UTF32_BE, "UTF-32"),
    ],
)
@given(table=st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20))
def test_byte_order_mark_settles_the_encoding(codec: str, mark: bytes, name: str, table: str) -> None:
    assert decode(mark + table.encode(codec)) == Text(table.encode(), name)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("table", ["id,w\n1,café\n", "编号,标签\n1,麻雀\n2,黑\n", "a,b\n一,二\n😀,birds\nwren,一\n"])
def test_utf_16_and_32_are_detected_without_a_mark(codec: str, table: str) -> None:
    text = decode(table.encode(codec))
    assert text.data.decode() == table
    assert text.encoding == codec[:6].upper()
    assert "without a byte order mark" in text.doubt


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_utf8_stays_byte_for_byte(table: str) -> None:
    data = table.encode()
    if not data.startswith(codecs.BOM_UTF8):
        assert decode(data) == Text(data)


@given(st.binary(max_size=60))
def test_bytes_are_text_or_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except NoTextError as error:
        text = Text(error.good, str(error))
    text.data.decode()
    assert text.encoding


@pytest.mark.parametrize(
    ("data", "good", "words"),
    [
        ("éèàüö".encode()[:-1], "éèàü".encode(), "not UTF-8 text: byte 0xC3, number 9"),
        (b"a\x90b\x02", b"a", "byte 0x90, number 2"),
        (codecs.BOM_UTF8 + b"ab\xff", b"ab", "byte 0xFF, number 6"),
        ("ab".encode("utf-16")[:-1], b"a", "not UTF-16 text"),
    ],
)
def test_decoding_error_has_its_place(data: bytes, good: bytes, words: str) -> None:
    with pytest.raises(NoTextError, match=words) as caught:
        decode(data)
    assert caught.value.good == good


def test_single_invalid_byte_is_reported() -> None:
    """Reading the file as Windows-1252 instead would make all the other letters wrong."""
    good = "name,n\n" + "Mésange à tête noire,1\n" * 20
    with pytest.raises(TableError, match=r"Row 21 \(line 22\), column 'name'"):
        read_cells(good.encode() + b"Caf\xe9,2\n")


def test_other_encodings_are_read() -> None:
    cells = read_cells("candidates,größe\nSpötter|Zaunkönig,1\n".encode("cp1252"))
    assert cells.to_dict("list") == {"candidates": ["Spötter|Zaunkönig"], "größe": ["1"]}
