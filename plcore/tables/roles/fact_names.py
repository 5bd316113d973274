"""Names of columns that tell of the run, the file or the worker, and not of the item."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WHO = (
    "annotator|annotation|worker|participant|rater|coder|labell?er|user|turker|respondent|subject|assignment"
    "|hit|task|session|submission|prolific"
)
_WHEN = "created|updated|modified|completed|submitted|started|finished|accepted|answered|labelled|labeled"
_UNIT = "(?:_?(?:ms|s|sec|secs|seconds|minutes|ns|us))?"
_ALWAYS = re.compile(
    "|".join(
        (
            rf"(?:{_WHO}|prediction|completion|run|job|batch|request|response|result|project|model)_?(?:ids?|pid)",
            rf"(?:{_WHO}|prolific_p?id)",
            rf"(?:\w+_)?(?:timestamp|datetime)|(?:{_WHEN})(?:_?(?:at|on|time|date))?|\w+_at|\w+_ts",
            r"(?:submit|accept|creation|completion|upload|request|response|reaction|work|lead|approval)"
            rf"_?time{_UNIT}|(?:work)?_?time_?(?:spent|taken|in|on_task){_UNIT}",
            rf"(?:\w+_)?(?:latency|elapsed|runtime){_UNIT}|rt{_UNIT}|seconds_spent|work_?time_?in_?seconds|(?:task|answer|response)_duration{_UNIT}",
            r"(?:\w+_)?(?:reward|cost|costs|payment|pay|wage|bonus)(?:_(?:usd|eur|cents|total))?",
            r"(?:\w+_)?tokens?(?:_(?:count|in|out|used|total))?|(?:n|num)_tokens",
            r"finish_reason|system_fingerprint|prompt_(?:version|hash|name)|attempts?|retries|status_code|http_status",
            rf"(?:{_WHO})_?(?:age|country|gender|sex|name|skill|score|status|approval|rate|reward|language|browser|device)",
            r"approval_?rate|lifetime\w*rate\w*|_?trust|delete_?flag|file_?size|md5|sha1|sha256|checksum|root_?folder",
        )
    )
)
_SOMETIMES = re.compile(
    rf"(?:start_?|end_?)?time{_UNIT}|ts|duration{_UNIT}|(?:\w+_)duration{_UNIT}|channel|offset|folder|files|relative_?path|hash|run|batch"
    r"|model(?:_(?:name|version|used))?|provider|seed|top_p|temperature_setting|cached|status|confidence|certainty|agreement|(?:pred|prediction|predicted|model|label|annotation|top)_?(?:score|conf|confidence|prob|probability)|\w+_status|index"
)
_NEVER_LABELS = re.compile(
    rf"(?:{_WHO}|user|reviewer|file|channel|image|photo|url|link)s|(?:\w+_)?(?:ids|files|urls|paths)"
)
_ABOUT_WORKER = {
    "age", "gender", "sex", "country", "nationality", "language", "status", "education", "native",
    "confidence", "certainty",
}  # fmt: skip
_WORKER = re.compile(rf"(?:{_WHO})(?:_?p?id)?|p?id_(?:{_WHO})")
_AROUND = re.compile(r"^(?:answer|assignment|input|meta|metadata|usage|info)_+")


def is_fact(key: str) -> bool:
    """Whether a column of this key tells of the run, the file or the worker, whatever the table is about.

    key : as `ColumnSample.key`, words joined by underscores
    """
    return any(_ALWAYS.fullmatch(one) is not None for one in (key, _AROUND.sub("", key)))


def may_be_fact(key: str) -> bool:
    """Whether it is likely to: such a name (a duration, a model) describes the item only of tables of measurements."""
    return is_fact(key) or _SOMETIMES.fullmatch(_AROUND.sub("", key)) is not None


def never_labels(key: str) -> bool:
    """Whether cells of a column of this key, whatever they look like, hold no labels: lists of files, ids or people."""
    return may_be_fact(key) or _NEVER_LABELS.fullmatch(key) is not None


def facts_of_workers(keys: Iterable[str]) -> frozenset[str]:
    """Those of the keys that describe a person, if another of them names the person who did the work."""
    known = frozenset(keys)
    if not any(_WORKER.fullmatch(key) for key in known):
        return frozenset()
    return known & _ABOUT_WORKER
