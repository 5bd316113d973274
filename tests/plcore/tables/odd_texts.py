"""CSV and JSON as programs and people write them: encodings, delimiters, quotes, line ends, headers, numbers."""

from __future__ import annotations

import codecs

from tests.plcore.tables.odd_entry import Odd, Wanted, refused, right

CSV = "id,candidates,w\na,wren|robin,1.5\nb,robin,2.5\n"
SETS: Wanted = [{"wren", "robin"}, {"robin"}]
_WESTERN = 'id,candidates,w\na,"Müller|Größe",1.5\nb,Größe,2.5\nc,"Café für|Größe",3.5\n'
_CHINESE = "编号,candidates,w\n一,麻雀|知更鸟,1.5\n二,知更鸟,2.5\n三,我们的麻雀,3.5\n"
_JAPANESE = "番号,candidates,w\nあ,すずめ|コマドリ,1.5\nい,コマドリ,2.5\nう,すずめ,3.5\n"
_RUSSIAN = "номер,candidates,w\nа,воробей|зяблик,1.5\nб,зяблик,2.5\nв,воробей,3.5\n"
_GUESSED = ("which the file does not say itself",)


def _encoded() -> list[Odd]:
    west: Wanted = [{"Müller", "Größe"}, {"Größe"}, {"Café für", "Größe"}]
    china: Wanted = [{"麻雀", "知更鸟"}, {"知更鸟"}]
    japan: Wanted = [{"すずめ", "コマドリ"}, {"コマドリ"}]
    russia: Wanted = [{"воробей", "зяблик"}, {"зяблик"}]
    guessed = {
        "cp1252": (_WESTERN, west),
        "mac_roman": (_WESTERN, west),
        "gbk": (_CHINESE, china),
        "shift_jis": (_JAPANESE, japan),
        "euc_jp": (_JAPANESE, japan),
        "cp1251": (_RUSSIAN, russia),
        "koi8_r": (_RUSSIAN, russia),
    }
    return [
        *(right(f"bytes of {k}", text.encode(k), rows, notes=_GUESSED) for k, (text, rows) in guessed.items()),
        right("UTF-8 with a mark", codecs.BOM_UTF8 + _WESTERN.encode(), west),
        right("UTF-16 with a mark", _WESTERN.encode("utf-16"), west),
        right("UTF-16 the other way", codecs.BOM_UTF16_BE + _WESTERN.encode("utf-16-be"), west),
        right("UTF-16 without a mark", CSV.encode("utf-16-le"), SETS),
        right("UTF-32 with a mark", _WESTERN.encode("utf-32"), west),
        refused("UTF-16 that is cut off", CSV.encode("utf-16")[:-1], "is not a character"),
        refused("UTF-8 that is damaged", _WESTERN.encode() * 3 + b"d,\xc3\x28|\xff,1\n", "byte 0x"),
        refused("NUL in the text", CSV.replace("wren", "wr\0en"), "NUL character", "line 2"),
        right("a mark in the middle", CSV.replace("wren", "\ufeffwren"), SETS),
    ]


def _marked() -> list[Odd]:
    semicolons = "id;candidates;w\na;wren|robin;1,5\nb;robin;2,5\n"
    return [
        right("line ends of old Macs", CSV.replace("\n", "\r"), SETS),
        right("line ends of Windows", CSV.replace("\n", "\r\n"), SETS),
        right("line ends mixed", CSV.replace("\n", "\r\n", 1), SETS),
        right("no line end at the end", CSV.rstrip("\n"), SETS),
        right("blank lines", CSV.replace("\n", "\n\n"), SETS),
        right("tabs in a file called CSV", CSV.replace(",", "\t"), SETS),
        right("semicolons and decimal commas", semicolons, SETS),
        right("Excel's sep=;", "sep=;\n" + semicolons, SETS),
        right("pipes between columns", CSV.replace("|", ";").replace(",", "|"), SETS),
        right("a line end in a cell", CSV.replace("wren|robin", '"wren|\nrobin"'), SETS),
        right("a comma in a header", CSV.replace("id,", '"the id, say",', 1), SETS),
        right("spaces around headers", CSV.replace("id,candidates,w", "id , candidates ,w"), SETS),
        right("quotes around everything", '"id","candidates","w"\n"a","wren|robin","1.5"\n"b","robin","2.5"\n', SETS),
        refused("a row too short", CSV + "c,robin\n", "Row 3 (line 4)", "'w'", "2 cells"),
        refused("a row too long", CSV + "c,robin,1,2\n", "Row 3 (line 4)", "4 cells"),
        refused("a thousands comma without quotes", CSV + "c,robin,1,234\n", "Row 3 (line 4)", "4 cells"),
        refused("a quote left open", CSV + 'c,"robin,1\n', "Row 3 (line 4)", "quote"),
        refused("a quote closed too early", CSV + 'c,"ro"bin,1\n', "Row 3 (line 4)", "quote"),
        refused("the header alone", "id,candidates,w\n", "header but no data rows"),
        refused("nothing", b"", "empty"),
        refused("blank lines alone", "\n\n\n", "empty"),
        refused("one word", "wren", "header but no data rows"),
        refused("a header twice", CSV.replace("id,", "w,", 1), "columns 1 and 3", "same name"),
        refused("a header without a name", CSV.replace("candidates", "", 1), "column 2 of the header has no name"),
        right("row names without a name, as pandas writes them", CSV.replace("id,", ",", 1), SETS),
        refused("no column of candidates", "id,w\na,1\nb,2\n", "No column holds the candidate labels", "'id', 'w'"),
        refused("no header", "a,wren|robin,1.5\nb,robin,2.5\n", "No column holds the candidate labels", "'wren|robin'"),
        right(
            "no header, many rows",
            "".join(f"wren|robin,{k}.5\nrobin,{k}.7\n" for k in range(9)),
            [{"robin"}],
            "a.csv",
            "no-header",
        ),
        refused("a web page", "<!doctype html>\n<html><body>Sign in</body></html>", "web page", "sign in"),
        refused("a page of XML", "<?xml version='1.0'?><html><head></head></html>", "web page"),
        refused(
            "an essay",
            "Birds are nice. They sing, and fly.\nI like them, too.\n",
            "No column holds the candidate labels",
        ),
    ]


def _numbers() -> list[Odd]:
    def with_number(number: str) -> str:
        return CSV.replace("2.5", number)

    return [
        refused(
            "a thousands comma in quotes", with_number('"1,234"'), "Row 2 (line 3), column 'w'", "Write 1234 or 1.234"
        ),
        refused("a number too large", with_number("1e300"), "Row 2 (line 3), column 'w'", "too large"),
        refused("an infinite number", with_number("inf"), "Row 2 (line 3), column 'w'", "Infinity"),
        refused("a word among numbers", CSV + "c,wren,many\n", "Row 3 (line 4), column 'w'", "'many'"),
        refused("a unit after a number", CSV + "c,wren,3.5 kg\n", "Row 3 (line 4), column 'w'", "'3.5 kg'"),
        refused("nan among numbers", CSV + "c,wren,nan\n", "Row 3 (line 4), column 'w'", "'nan'"),
        right("an empty number", CSV + "c,wren,\n", SETS),
        right("numbers of 40 digits", CSV + f"c,wren,{'9' * 40}\n", SETS),
        right(
            "a formula in a cell",
            'id,candidates,note,w\na,wren|robin,"=HYPERLINK(""http://x"")",1\nb,robin,=1+1,2\n',
            SETS,
            cells={"note": ['=HYPERLINK("http://x")', "=1+1"]},
        ),
    ]


def _json() -> list[Odd]:
    lines = '{"id": "a", "candidates": ["wren", "robin"], "w": 1.5}\n{"id": "b", "candidates": ["robin"], "w": 2.5}\n'
    array = "[" + ",".join(lines.strip().split("\n")) + "]"
    return [
        right("JSON Lines", lines, SETS, "a.jsonl"),
        right("JSON Lines called CSV", lines, SETS),
        right("a list of objects", array, SETS, "a.json"),
        right("objects under data", '{"data": ' + array + ', "version": 1}', SETS, "a.json", notes=("'version'",)),
        right("NaN in JSON", lines.replace("2.5", "NaN"), SETS, "a.jsonl", notes=("NaN stands 1 time ",)),
        right("JSON of UTF-16", array.encode("utf-16"), SETS, "a.json"),
        right("a field that is missing", lines.replace(', "w": 2.5', ""), SETS, "a.jsonl"),
        refused("JSON that is cut off", array[:-9], "not JSON at line 1", file="a.json"),
        refused("JSON Lines with a broken line", lines + "{broken}\n", "Row 3 (line 3)", "not JSON", file="a.jsonl"),
        refused(
            "a key twice in a record",
            lines.replace('"w": 2.5', '"id": "c"'),
            "Row 2 (line 2)",
            "'id' twice",
            file="a.jsonl",
        ),
        refused("lists in place of objects", '[["a", "b"], ["c", "d"]]', "row", file="a.json"),
        refused("JSON too deep", "[" * 100_000 + '{"a": 1}' + "]" * 100_000, "deep", file="a.json"),
        refused("an empty list", "[]", "empty list", file="a.json"),
        refused("half a character", lines.replace('"a"', '"\\ud800"'), "Row 1", "half of a character", file="a.jsonl"),
        refused(
            "a number of 5,000 digits", lines.replace("2.5", "9" * 5000), "a number cannot be read", file="a.jsonl"
        ),
    ]


FILES: list[Odd] = [*_encoded(), *_marked(), *_numbers(), *_json()]
