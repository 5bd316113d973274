"""Monitoring: every metric that the page, the alerts and the dashboard name is one that a server reports."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT
from web.operating.metrics import METRICS

PAGE = (ROOT / "docs" / "monitoring.md").read_text()
FOLDER = ROOT / "docs" / "monitoring"
ALERTS: dict[str, Any] = yaml.safe_load((FOLDER / "alerts.yml").read_text())
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "dashboard.json").read_text())
OF_PROMQL = {"by", "histogram_quantile", "increase", "label_values", "max", "min_over_time", "rate", "sum"}
LABELS = {"folder", "instance", "le", "outcome", "status", "work"}
OF_PROMETHEUS = {"up"}
"""Metric that Prometheus itself makes of each server."""


def expressions() -> list[str]:
    """All PromQL of alerts and dashboard."""
    (group,) = ALERTS["groups"]
    found = [rule["expr"] for rule in group["rules"]]
    found += [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    return [*found, *(one["query"] for one in DASHBOARD["templating"]["list"] if one["type"] == "query")]


def names_in(expression: str) -> set[str]:
    """Names in PromQL outside of label matchers and ranges."""
    return set(re.findall(r"[a-z_]\w*", re.sub(r"\{[^}]*\}|\[[^]]*\]|\b\d\w*", "", expression)))


def lines_of(metric: str) -> set[str]:
    """Names of the lines of a metric."""
    if METRICS[metric][0] == "histogram":
        return {f"{metric}_{ending}" for ending in ("bucket", "sum", "count")}
    return {metric}


LINES = set().union(*map(lines_of, METRICS))


def test_expression_names_reported_metrics_only(subtests: pytest.Subtests) -> None:
    for expression in expressions():
        with subtests.test(expression):
            names = names_in(expression) - OF_PROMQL - LABELS
            assert names
            assert names <= LINES | OF_PROMETHEUS
            assert expression.count("(") == expression.count(")")


def test_metrics_of_other_programs_are_left_out(subtests: pytest.Subtests) -> None:
    """`process_...` and `up` are reported by many programs."""
    for expression in expressions():
        with subtests.test(expression):
            for name, matchers in re.findall(r"\b(process_\w+|up)\b(\{[^}]*\})?", expression):
                assert 'job="winnow"' in matchers, name


def test_dashboard_shows_every_metric() -> None:
    shown = set().union(*(names_in(target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]))
    assert [metric for metric in METRICS if not lines_of(metric) & shown] == []
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(ids) == len(set(ids))
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in DASHBOARD["panels"])


def test_page_explains_exactly_the_reported_metrics() -> None:
    table = PAGE.split("## Metrics")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \| (\w+) \|", table, flags=re.M)
    listed = {name: kind for cell, kind in rows for name in re.findall(r"`([a-z_]+)", cell)}
    assert listed == {name: kind for name, (kind, _) in METRICS.items()}


def test_every_alert_says_what_to_do() -> None:
    (group,) = ALERTS["groups"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(names) == len(set(names)) >= 8
    for rule in group["rules"]:
        assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"]))) <= LABELS


def test_prometheus_configuration_reads_winnow_and_the_rules() -> None:
    said = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    (job,) = said["scrape_configs"]
    assert job["job_name"] == "winnow"
    assert "metrics_path" not in job, "it is /metrics by default"
    assert [path.rpartition("/")[2] for path in said["rule_files"]] == ["alerts.yml"]
