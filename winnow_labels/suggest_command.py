"""`winnow suggest`: weight the candidates of a project by a pretrained model or a language model, or make those of a
table by a language model."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from winnow_labels.options import counted, home, is_json, json_option, owner, say
from winnow_labels.places import path_of

if TYPE_CHECKING:
    import pandas as pd

    from workflow.importing import Roles
    from workflow.models.language.endpoint import ChatEndpoint
    from workflow.models.language.ledger import Ledger, TokenPrices
    from workflow.models.language.requests import LabelTask, Tokens
    from workflow.models.language.running import SuggestionRun

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_OF_PROJECT = ("url", "model", "guide", "key_from", "cap", "price", "yes")
"""Options of a language model that belong to a project, too."""


@click.command("suggest")
@click.argument("what", metavar="PROJECT_ID|FILE")
@click.option("--with", "name", help="PROJECT_ID only: the name of a model in WINNOW_HOME/encoders, instead of --url.")
@click.option("--non-commercial", is_flag=True, help="My use is non-commercial: accepts a non-commercial licence.")
@click.option("--url", help="An OpenAI-compatible server, such as http://localhost:11434/v1.")
@click.option("--model", help="The name of its language model.")
@click.option("--guide", type=_FILE, help="Instructions for the model, as plain text.  [default: the project's]")
@click.option("--key-from", metavar="NAME", help="The environment variable that holds the server's key.")
@click.option("--cap", metavar="TOKENS|MONEY", help="The maximum to spend, such as 2000000 or '5 USD'.")
@click.option("--price", metavar="IN/OUT", help="Price of a million tokens, such as '0.15/0.60 USD'.")
@click.option("--yes", is_flag=True, help="Send the texts without being asked.")
@click.option("--classes", type=_FILE, help="FILE only: the classes, one a line; after a tab, a description.")
@click.option("--text", help="FILE only: the column of the text.  [default: guessed; there may be several]")
@click.option("--at-once", type=click.IntRange(1, 64), help="FILE only: parallel requests.  [default: 4]")
@click.option("--reply-tokens", type=click.IntRange(min=20), help="FILE only: most tokens of a reply.  [default: 200]")
@click.option("--seed", type=click.IntRange(min=0), help="FILE only: seed of the order of classes.  [default: 0]")
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="FILE only: the CSV file to write.")
@json_option
def suggest(what: str, name: str | None, non_commercial: bool, **options: object) -> object:
    """Weight the candidates of PROJECT_ID by a classifier's scores or by the similarity of texts and class names
    (--with), or by the lists of a language model (--url, --model). No label changes, and nothing is downloaded.

    For FILE, a table without candidates, have a language model list up to five classes for each row. OUT gets
    the table with a column of candidates, for `winnow import`. Five rows are tried and shown; then the command
    prints the cost and asks. Replies are stored in OUT.journal: the same command continues after an interruption.
    """
    given = {key: value for key, value in options.items() if value}
    if re.fullmatch("[0-9]+", what):
        return _suggest_project(int(what), name, non_commercial, given)
    if name is not None or non_commercial:
        raise click.UsageError("--with and --non-commercial belong to a project, not to a FILE.")
    missing = [f"--{key}" for key in ("classes", "url", "model", "out") if key not in given]
    if missing:
        raise click.UsageError(f"A FILE also needs {', '.join(missing)}.")
    return _suggest_file(what, **given)  # type: ignore[arg-type]


def _suggest_project(project_id: int, name: str | None, non_commercial: bool, given: dict[str, object]) -> object:
    if name is not None and not given:
        return _weigh_project(project_id, name, non_commercial)
    if of_file := [f"--{one.replace('_', '-')}" for one in given if one not in _OF_PROJECT]:
        raise click.UsageError(f"{', '.join(of_file)} is for a FILE. A project takes --with, or --url and --model.")
    if name is not None or non_commercial or "url" not in given or "model" not in given:
        raise click.UsageError("A project takes either --with NAME, or --url and --model of a language model.")
    return _ask_about_project(project_id, **given)  # type: ignore[arg-type]


def _ask_about_project(
    project_id: int,
    *,
    url: str,
    model: str,
    guide: Path | None = None,
    key_from: str | None = None,
    cap: str = "",
    price: str = "",
    yes: bool = False,
) -> object:
    from workflow.models.language import suggestions

    with home() as here:
        seat = owner(here).at(project_id)
        rows = suggestions.rows_of(seat)
        _say_columns(rows.columns)
        said = rows.guidelines if guide is None else guide.read_text(encoding="utf-8")
        choice = suggestions.ModelChoice(url, model, said, cap, price)
        key = None if key_from is None else _key(key_from)
        with suggestions.opened(seat, rows, choice, key, lambda words: say(f"\n{words}", err=True)) as going:
            _try_and_ask(going.run, going.task, going.endpoint, going.ledger, choice.prices, yes=yes)
            going.run.run(_watched())
            report = suggestions.weigh(seat, rows, going)
            spent = _cost(going.ledger.spent, choice.prices)
    listed = report["outcomes"]["listed"]
    say(
        f"Project {project_id}: {model} listed classes for {listed:,} of {_rows(rows.n_asked)}. "
        f"Its shares now weigh the candidates of {report['weighed']:,}."
    )
    if report["outside"]:
        say(f"In {counted(report['outside'], 'row')}, the model's best class is not among the candidates.")
    if report["calibrated_by"]:
        say(f"The shares are calibrated by {counted(report['calibrated_by'], 'answer')}.")
    say(f"Used {spent}.")
    return {"id": project_id, "rows": rows.n_asked, **report}


def _watched() -> Callable[[int, int], None]:
    """Return what shows the progress of a run on a terminal."""
    is_watched = sys.stderr.isatty()

    def tell(done: int, total: int) -> None:
        if is_watched:
            click.echo(f"\r{done:,} of {_rows(total)}", nl=done == total, err=True)

    return tell


def _suggest_file(
    what: str,
    *,
    classes: Path,
    url: str,
    model: str,
    out: Path,
    text: str | None = None,
    guide: Path | None = None,
    key_from: str | None = None,
    cap: str | None = None,
    price: str | None = None,
    at_once: int = 4,
    reply_tokens: int = 200,
    seed: int = 0,
    yes: bool = False,
) -> object:
    from workflow.importing import read_paths
    from workflow.models.language.endpoint import ChatEndpoint
    from workflow.models.language.ledger import Ledger, TokenCap, TokenPrices
    from workflow.models.language.requests import LabelTask
    from workflow.models.language.running import SuggestionRun, write_shortlists
    from workflow.server.settings import Settings

    hosts = Settings.from_environment().suggestion_hosts
    endpoint = ChatEndpoint(url, model, None if key_from is None else _key(key_from), hosts=hosts)
    prices = None if price is None else TokenPrices.parse(price)
    limit = None if cap is None else TokenCap.parse(cap, prices)
    file = path_of(what)
    if not file.exists():
        raise click.UsageError(f"There is no {what}. Fix: name the id of a project, or a table.")
    journal = out.with_name(f"{out.name}.journal")
    if out.suffix.lower() != ".csv" or (out.exists() and not journal.exists()):
        raise click.UsageError(f"{out} is not a new CSV file. Fix: choose another name that ends in .csv.")
    upload = read_paths(file)
    roles = upload.suggest_roles()
    columns, texts = _texts(upload.cells, text, roles)
    _say_columns(columns)
    said = "" if guide is None else guide.read_text(encoding="utf-8")
    task = LabelTask(_classes(classes), said, seed, reply_tokens)
    hashed = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    about = {"model": model, "server": endpoint.url, "texts": hashed, "classes, guide or options": task.sha256}
    with closing(endpoint), Ledger(journal, about, limit) as ledger:
        run = SuggestionRun(
            task, texts, endpoint, ledger, at_once=at_once, tell=lambda words: say(f"\n{words}", err=True)
        )
        _try_and_ask(run, task, endpoint, ledger, prices, yes=yes)
        run.run(_watched())
        shortlists = run.shortlists()
        named = write_shortlists(upload.cells, task.names, shortlists, out)
    outcomes = [one.outcome for one in shortlists]
    counts = {name: outcomes.count(name) for name in ("listed", "none", "refused", "broken", "empty")}
    unlisted = [one for place, one in enumerate(task.names) if not any(place in row.shares for row in shortlists)]
    say(f"{out}: {model} listed classes for {counts['listed']:,} of {_rows(len(texts))}.")
    if counts["listed"] < len(texts):
        others = ", ".join(f"{name}: {count:,}" for name, count in counts.items() if count and name != "listed")
        say(f"The others keep every class ({others}; column winnow_suggestion).")
    if run.refused:
        row, why = next(iter(run.refused.items()))
        say(f"The same command asks about {_rows(len(run.refused))} again, such as row {row + 1}: {why}")
    if unlisted:
        say(f"No row lists {', '.join(unlisted[:5])}{' and others' if len(unlisted) > 5 else ''}.")
    say(f"Used {_cost(ledger.spent, prices)}.")
    if ledger.unknown:
        say(f"Replies without usage, which count up to their upper bound: {ledger.unknown:,}.")
    say(f"Next: winnow import {out} --candidates {named}")
    return {
        "file": out,
        "column": named,
        "rows": len(texts),
        "outcomes": counts,
        "refused_rows": sorted(run.refused),
        "unlisted": unlisted,
        "tokens": {"read": ledger.spent.read, "written": ledger.spent.written, "unknown_replies": ledger.unknown},
        "cost": None if prices is None else {"amount": prices.cost(ledger.spent), "currency": prices.currency},
    }


def _try_and_ask(
    run: SuggestionRun,
    task: LabelTask,
    endpoint: ChatEndpoint,
    ledger: Ledger,
    prices: TokenPrices | None,
    *,
    yes: bool,
) -> None:
    """Print the cost, try some rows and show them; ask before any text leaves, and before the rest is sent."""
    from workflow.models.language.replies import SCORES, read_reply

    missing = run.missing()
    if not missing:
        return
    if ledger.records:
        say(f"Replies so far: {len(ledger.records):,}; missing: {len(missing):,}.", err=True)
    say(f"At most {_cost(run.upper_bound(), prices)}.", err=True)
    ledger.require_room(run.upper_bound())
    if not endpoint.is_own:
        texts = "text" if len(missing) == 1 else "texts"
        say(f"The {texts} of {_rows(len(missing))} will be sent to {endpoint.host}.", err=True)
        _consent(yes, f"Send {min(5, len(missing))} now, to try?")
    tried = run.try_rows()
    orders = {request.row: request.order for request in missing}
    found = {row: read_reply(ledger.records[row].reply, orders[row]) for row in tried}
    for row, one in found.items():
        shares = ", ".join(f"{task.names[place]} {share:.2f}" for place, share in one.shares.items())
        say(f"Row {row + 1}: {shares or one.outcome}", err=True)
    if all(one.outcome == "broken" for one in found.values()):
        words = next((ledger.records[row].reply.content for row in tried), next(iter(run.refused.values()), ""))
        raise click.ClickException(
            f"No reply of the first {_rows(len(tried) + len(run.refused))} is a list of classes. The first is "
            f"{words[:200]!r}. Fix: delete {ledger.path}; then try another model, or --reply-tokens 2000 if it thinks "
            "first."
        )
    kinds = sorted({one.scores for one in found.values() if one.scores}, key=list(SCORES).index)
    if kinds:
        say(f"The weights come from {' or '.join(SCORES[kind] for kind in kinds)}.", err=True)
    if left := len(run.missing()):
        likely = run.likely()
        about = "" if likely is None else f", about {_cost(likely, prices)} at this rate"
        say(f"{_rows(left)} to go: at most {_cost(run.upper_bound(), prices)}{about}.", err=True)
        _consent(yes, "Send them?")


def _consent(yes: bool, question: str) -> None:
    if yes:
        return
    if is_json() or not sys.stdin.isatty():
        raise click.UsageError("The texts need your consent to be sent. Fix: add --yes to the command.")
    click.confirm(question, abort=True, err=True)


def _cost(tokens: Tokens, prices: TokenPrices | None) -> str:
    words = f"{tokens.total:,} tokens ({tokens.read:,} in, {tokens.written:,} out)"
    return words if prices is None else f"{words}, {prices.cost(tokens):,.2f} {prices.currency}"


def _rows(count: int) -> str:
    return f"{count:,} {'row' if count == 1 else 'rows'}"


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch("[!-~]+", key):
        raise click.UsageError(f"The environment variable {variable!r:.60} contains no key. Fix: set it.")
    return key


def _texts(cells: pd.DataFrame, chosen: str | None, roles: Roles) -> tuple[tuple[str, ...], list[str]]:
    from workflow.models.language.suggestions import whole_texts

    column = chosen or roles.text
    if column not in cells.columns:
        named = "No column looks like the text" if column is None else f"There is no column {column!r}"
        raise click.UsageError(f"{named}. Fix: --text with one of {', '.join(map(str, cells.columns[:20]))}.")
    caption, more_texts = ((), ()) if chosen else (roles.caption, roles.more_texts)
    return whole_texts(cells, str(column), caption, more_texts)


def _say_columns(columns: Sequence[str]) -> None:
    if len(columns) > 1:
        say(f"The text of a row is in the columns {', '.join(columns)}.", err=True)


def _classes(path: Path) -> dict[str, str]:
    """Return {class: description} of a file of lines."""
    lines = [line.partition("\t") for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    found = {name.strip(): about.strip() for name, _, about in lines}
    if len(found) < max(2, len(lines)) or "" in found:
        raise click.UsageError(f"{path} must name two classes or more, each once. Got {len(lines):,} names.")
    return found


def _weigh_project(project_id: int, name: str, non_commercial: bool) -> object:
    from workflow.models import suggesting

    def tell(done: int, total: int, kind: str) -> None:
        click.echo(f"\r{done:,} of {total:,} ({kind})", nl=done == total, err=True)

    progress = tell if sys.stderr.isatty() else None
    with home() as here:
        found = suggesting.suggest(owner(here).at(project_id), name, non_commercial=non_commercial, on_step=progress)
    for note in found.notes:
        say(note, err=True)
    if found.unknown:
        shown = ", ".join(found.unknown[:5])
        more = f" and {len(found.unknown) - 5:,} more" if len(found.unknown) > 5 else ""
        say(f"{name} does not know these classes: {shown}{more}.", err=True)
    rows = counted(found.rows, "row")
    say(f"Project {project_id}: {name} scored {rows}; its scores now weigh the candidates of {found.weighed:,}.")
    if found.outside:
        say(f"In {counted(found.outside, 'row')}, the model's best class is not among the candidates.")
    return {
        "id": project_id,
        "rows": found.rows,
        "weighed": found.weighed,
        "outside": found.outside,
        "classes": list(found.classes),
        "unknown": list(found.unknown),
        "notes": list(found.notes),
    }
