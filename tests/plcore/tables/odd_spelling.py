"""Labels that look the same, labels that mean nothing, repeated rows."""

from __future__ import annotations

import unicodedata

from tests.plcore.tables.odd_entry import Odd, refused, right

_E = "caf\u00e9"


def _rows(*cells: str, head: str = "candidates,w") -> str:
    return f"{head}\n" + "".join(f"{cell},{k}.5\n" for k, cell in enumerate(cells))


_SAME = [
    right("1 beside 1.0", _rows("1|2", "1.0|2.0", "2"), [{"1", "2"}, {"1", "2"}]),
    right(
        "1 next to 1.0 among words",
        _rows("1|2", "1.0|2", "robin"),
        [{"1", "2"}, {"1.0", "2"}],
        "a.csv",
        "names-alike",
    ),
    right("True next to true", _rows("True|False", "true|FALSE"), [{"true", "false"}] * 2),
    right(
        "accents composed and not",
        _rows(f"{_E}|tea", unicodedata.normalize("NFD", _E) + "|tea"),
        [{_E, "tea"}] * 2,
    ),
    right("spaces without width", _rows("wren|robin", "wr\u200ben|\ufeffrobin"), [{"wren", "robin"}] * 2),
    right("spaces that do not break", _rows("wren|robin", "\u00a0wren\u00a0|robin"), [{"wren", "robin"}] * 2),
    right(
        "capitals",
        _rows("Wren|robin", "wren|robin"),
        [{"Wren", "robin"}, {"wren", "robin"}],
        "a.csv",
        "names-alike",
    ),
    right("accents left out", _rows(f"{_E}|tea", "cafe|tea"), [{_E, "tea"}, {"cafe", "tea"}], "a.csv", "names-alike"),
    right(
        "spaces inside",
        _rows("tea time|b", "teatime|b"),
        [{"tea time", "b"}, {"teatime", "b"}],
        "a.csv",
        "names-alike",
    ),
    right("full-width letters", _rows("\uff21|b", "A|b"), [{"\uff21", "b"}, {"A", "b"}], "a.csv", "names-alike"),
    right(
        "truth as a float",
        _rows("1|2,1.0", "2|3,3.0", head="candidates,truth,w"),
        [{"1", "2"}, {"2", "3"}],
        truth=("1", "3"),
    ),
    refused(
        "one stray truth",
        _rows("1|2,1.0", "2|3,robin", head="candidates,truth,w"),
        "Row 2 (line 3), column 'truth'",
        "'robin'",
    ),
    refused(
        "truth in capitals",
        _rows("wren|robin,WREN", "robin|wren,robin", head="candidates,truth,w"),
        "capitals count",
    ),
]  # fmt: skip

_NOTHING = [
    *(
        right(
            f"{name} as a vote",
            f"annotator_1,annotator_2,w\nwren,{name},1\nrobin,wren,2\n{name},robin,3\n",
            [{"wren"}, {"robin", "wren"}, {"robin"}],
            "a.csv",
            "read-as-empty",
        )
        for name in ("nan", "NA", "None", "<NA>", "null", "#N/A")
    ),
    right(
        "nan in a list",
        _rows("wren|nan", "robin|wren"),
        [{"wren"}, {"robin", "wren"}],
        "a.csv",
        "nothing-next-to-labels",
        "read-as-empty",
    ),
    right(
        "nan in long votes",
        "task,worker,label,w\nt1,a,wren,1\nt1,b,nan,1\nt1,c,robin,1\nt2,a,wren,2\n",
        [{"wren", "robin"}, {"wren"}],
        notes=("Votes left out, as they say nan",),
    ),
    refused(
        "a row without any label",
        _rows("wren|robin", "", "wren"),
        "Row 2 (line 3), column 'candidates'",
        "no candidate",
    ),
    refused("a row of nan alone", _rows("wren|robin", "nan", "wren"), "Row 2 (line 3)", "no candidate"),
    refused("one class alone", _rows("wren", "wren", "wren"), "only one label occurs, 'wren'"),
    right(
        "an unknown truth",
        _rows("wren|robin,", "robin|wren,robin", head="candidates,truth,w"),
        [{"wren", "robin"}] * 2,
        truth=(None, "robin"),
    ),
    right(
        "one candidate in each row", _rows("wren", "robin", "wren"), [{"wren"}, {"robin"}], "a.csv", "nothing-to-ask"
    ),
]


def _repeated() -> list[Odd]:
    votes = "task,worker,label,w\n" + "".join(
        f"t{k},{who},{label},{k}.5\n"
        for k in range(3)
        for who, label in (("ann", "wren"), ("bob", "wren"), ("cem", "robin"))
    )
    twice = "task,worker,label,w\nt1,ann,wren,1\nt1,ann,robin,1\nt1,bob,wren,1\nt2,bob,robin,2\n"
    scores = "id,label,score,w\na,wren,0.6,1\na,robin,0.4,1\nb,robin,1,2\n"
    many = "candidates,w\n" + "".join(f"n{k}|m{k},{k}.5\n" for k in range(30))
    leak = "candidates,truth,code,w\n" + "".join(
        f"wren|robin,{t},{t[0]}x,{k}.5\n" for k, t in enumerate(["wren", "robin"] * 4)
    )
    return [
        right("crowd votes, one a row", votes, [{"wren": 2, "robin": 1}] * 3),
        right("a worker who votes twice", twice, [{"robin", "wren"}, {"robin"}], notes=("more than once",)),
        right("scores, one label a row", scores, [{"wren": 0.6, "robin": 0.4}, {"robin": 1}]),
        refused("scores with a label twice", scores.replace("robin,0.4", "wren,0.4"), "Row 2 (line 3)", "'wren' twice"),
        refused(
            "scores with nan for a label",
            scores.replace("robin,0.4", "nan,0.4"),
            "Row 2 (line 3)",
            "'nan' is not a label",
        ),
        refused("scores in words", scores.replace("0.4", "high"), "Row 2 (line 3), column 'score'", "'high'"),
        refused(
            "an id that repeats", "id,candidates,w\na,wren|robin,1\na,robin,2\n", "Row 2 (line 3), column 'id'", "row 1"
        ),
        refused("an empty id", "id,candidates,w\na,wren|robin,1\n,robin,2\n", "Row 2 (line 3), column 'id'", "empty"),
        right(
            "a key that repeats",
            "item_key,candidates,w\na,wren|robin,1\nb,robin,2\nc,robin,2\nd,robin,2\na,robin,2\n",
            [{"wren", "robin"}],
            "a.csv",
            "repeated-ids",
        ),
        right("a class for each row", many, [{"n0", "m0"}], "a.csv", "many-classes"),
        right("a column that reveals the label", leak, [{"wren", "robin"}] * 8, "a.csv", "leak"),
        refused(
            "label columns with another number",
            "label_wren,label_robin,w\n1,0,1.5\n" + "1,1,2.5\n" * 20 + "2,0,3\n",
            "Row 22 (line 23), column 'label_wren'",
            "got '2'",
        ),
    ]


FILES: list[Odd] = [*_SAME, *_NOTHING, *_repeated()]
