"""Labels with numbers, lists in cells, and text that only looks like either."""

from __future__ import annotations

import json

from tests.plcore.tables.odd_entry import Odd, refused, right

_SURE: list[set[str] | dict[str, float]] = [{"wren": 0.6, "robin": 0.4}, {"robin": 1.0}]
_SETS: list[set[str] | dict[str, float]] = [{"wren", "robin"}, {"robin"}]


def _cells(first: str, second: str, name: str = "birds") -> str:
    """A table with these cells, each several times, quoted as CSV asks."""
    one, other = ('"' + cell.replace('"', '""') + '"' for cell in (first, second))
    return f"{name},w\n" + "".join(f"{one},{k}.5\n{other},{k}.25\n" for k in range(3))


def _listed() -> list[Odd]:
    forms = {
        "JSON list": ('["wren", "robin"]', '["robin"]'),
        "Python list": ("['wren', 'robin']", "['robin']"),
        "Python tuple": ("('wren', 'robin')", "('robin',)"),
        "Python set": ("{'wren', 'robin'}", "{'robin'}"),
        "NumPy array": ("['wren' 'robin']", "['robin']"),
    }
    marks = {"slash": "/", "ampersand": " & ", "or": " or ", "plus": "+", "line ends": "\n", "semicolon": ";"}
    return [
        *(right(name, _cells(*cells), _SETS) for name, cells in forms.items()),
        *(right(f"lists with {k}", _cells(f"wren{v}robin", "robin"), _SETS) for k, v in marks.items()),
        refused("JSON list with null", _cells('["wren", null]', '["robin"]'), "holds null among the labels"),
        right("comma lists in quotes", _cells("wren, robin", "robin"), _SETS),
        right("spaces around labels", _cells("  wren |  robin ", "robin\u00a0"), _SETS),
        right("empty places in a list", _cells("wren||robin|", "|robin"), _SETS),
        right("a label twice in a list", _cells("wren|robin|wren", "robin|robin"), _SETS),
    ]


def _weighted() -> list[Odd]:
    forms = {
        "name:number": ("wren:0.6|robin:0.4", "robin:1.0"),
        "name=number": ("wren=0.6;robin=0.4", "robin=1.0"),
        "name (number)": ("wren (0.6), robin (0.4)", "robin (1.0)"),
        "percentages": ("wren:60%|robin:40%", "robin:100%"),
        "percentages in brackets": ("wren (60 %), robin (40 %)", "robin (100 %)"),
        "decimal commas": ("wren:0,6|robin:0,4", "robin:1,0"),
        "JSON object": ('{"wren": 0.6, "robin": 0.4}', '{"robin": 1}'),
        "Python dict": ("{'wren': 0.6, 'robin': 0.4}", "{'robin': 1}"),
        "JSON pairs": ('[["wren", 0.6], ["robin", 0.4]]', '[["robin", 1]]'),
        "JSON list of objects": (
            '[{"label": "wren", "score": 0.6}, {"label": "robin", "score": 0.4}]',
            '[{"label": "robin", "score": 1}]',
        ),
        "labels and scores in an object": (
            '{"labels": ["wren", "robin"], "scores": [0.6, 0.4]}',
            '{"labels": ["robin"], "scores": [1]}',
        ),
    }
    topics = "topics,w\n" + "".join(f"film:0.46|education:0.31,{k}.5\n" for k in range(4))
    pairs = "text,label1,score1,label2,score2\na long song,wren,0.6,robin,0.4\nan old owl song,robin,1,,\n"
    columns = "p_wren,p_robin,truth,w\n0.6,0.4,wren,1\n0,1,robin,2\n"
    jsonl = "\n".join(
        json.dumps({"labels": one, "w": k}) for k, one in enumerate([{"wren": 0.6, "robin": 0.4}, {"robin": 1}])
    )
    return [
        *(right(f"weights as {name}", _cells(*cells), _SURE) for name, cells in forms.items()),
        right("label1, score1", pairs, _SURE),
        right("topics with scores", topics, [{"film": 0.46, "education": 0.31}]),
        right("a probability column for each class", columns, _SURE, truth=("wren", "robin")),
        right(
            "counts of votes", "votes_wren,votes_robin,w\n3,2,1.5\n0,5,2.5\n", [{"wren": 3, "robin": 2}, {"robin": 5}]
        ),
        right("JSONL labels with numbers", jsonl, _SURE, "table.jsonl"),
        right(
            "whole weights",
            _cells("wren:3|robin:2", "robin:5"),
            [{"wren": 3, "robin": 2}],
            "a.csv",
            "numbers-as-weights",
        ),
        refused(
            "label1 without its score", pairs.replace(",,", ",wren,"), "Row 2 (line 3)", "'score2'", "has no score"
        ),
        refused("a score without its label", pairs.replace("wren,0.6", ",0.6"), "Row 1", "a score but no label"),
        refused("a weight below 0", _cells("wren:-0.6|robin:0.4", "robin:1.0"), "Row 1 (line 2)", "below 0"),
        refused(
            "a label without a number among many",
            _cells("wren:0.6|robin:0.4", "robin:1.0").replace("robin:0.4", "robin", 1),
            "Row 1 (line 2)",
            "expected labels with numbers, got 'robin'",
        ),
        refused(
            "a weight that may be in thousands", _cells("wren:1,234|robin:2,345", "robin:1,000"), "whichever it is"
        ),
        refused(
            "an object with a key twice",
            _cells('{"wren": 0.6, "wren": 0.4}', '{"robin": 1}'),
            "names 'wren' twice",
            "Row 1",
        ),
        refused("a dict with a key twice", _cells("{'wren': 0.6, 'wren': 0.4}", "{'robin': 1}"), "names 'wren' twice"),
        refused(
            "a list that is cut off",
            _cells('["wren", "robin"]', '["robin"]').replace('""]', "", 1),
            "Row 1",
            "expected a list",
        ),
        refused(
            "a weight of 400 digits",
            _cells('{"wren": 1' + "0" * 400 + "}", '{"robin": 1}'),
            "expected a list or an object",
        ),
        refused("infinite weights", _cells('{"wren": Infinity, "robin": 1}', '{"robin": 1}'), "Row 1"),
        refused(
            "scores as logarithms", "p_wren,p_robin,w\n-0.6,-1.2,1\n-0.1,-2,2\n", "No column holds the candidate labels"
        ),
    ]


def _names() -> list[Odd]:
    whole = {
        "R&B": ["R&B", "rock", "jazz"],
        "AC/DC": ["AC/DC", "Queen", "Abba"],
        "C++": ["C++", "C", "Java"],
        "and/or": ["and/or", "not", "but"],
        "black or white": ["black or white", "red", "blue"],
    }
    parts = {
        "ICD codes": ["ICD10:250|ICD10:401", "ICD10:250"],
        "times": ["12:30|13:45", "13:45"],
        "Bible verses": ["Genesis 1:1|Genesis 1:2", "Genesis 1:2"],
        "numbers with zeros in front": ["X:007|Y:012", "Y:012"],
        "addresses": ["http://a.b|http://c.d", "http://c.d"],
        "formulas": ["=1+1|=2+2", "=2+2"],
        "at signs and minus": ["@SUM(A1)|-2+3", "-2+3"],
        "emoji": ["🐦|🦉", "🦉"],
        "emoji of several parts": ["👩‍🔬|👨‍👩‍👧", "👨‍👩‍👧"],
        "text from right to left": ["שלום|مرحبا", "مرحبا"],
        "300 characters": ["a" * 300 + "|" + "b" * 300, "b" * 300],
        "quotes inside": ['5" nail|a "b" c', 'a "b" c'],
        "commas inside": ["Smith, John|Doe, Jane", "Doe, Jane"],
        "HTML in labels": ["<b>x</b>|<script>1</script>", "<b>x</b>"],
        "percent alone": ["100%|50%", "50%"],
        "plus and minus": ["+|-", "-"],
        "years": ["1999|2001", "2001"],
    }
    told = {
        "quotes inside": ("code-in-names",),
        "ICD codes": ("numbers-in-names",),
        "times": ("numbers-in-names",),
        "Bible verses": ("numbers-in-names",),
    }
    return [
        *(
            right(
                name,
                _cells(*cells[:2], name="candidates") + f"{cells[2]},9.5\n",
                [{cells[0]}, {cells[1]}],
                "a.csv",
                "nothing-to-ask",
            )
            for name, cells in whole.items()
        ),
        *(
            right(
                name,
                _cells(*cells, name="candidates"),
                [set(cells[0].split("|")), {cells[1]}],
                "a.csv",
                *told.get(name, ()),
            )
            for name, cells in parts.items()
        ),
    ]


FILES = [*_listed(), *_weighted(), *_names()]
