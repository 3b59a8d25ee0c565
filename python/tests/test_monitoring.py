"""The dashboard and the alert rules of `flink-conf/monitoring` against what a feeder's `/metrics` has."""

import json
import re
from pathlib import Path

import promql_parser
import pytest
import yaml

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "flink-conf" / "monitoring"
PAGE = ROOT / "feeder-job/server/src/main/java/dev/stoker/server/ui/PrometheusText.java"
WRITTEN = set(re.findall(r'"(stoker_[a-z_]+)"', PAGE.read_text()))
OF_FLINK = {
    f"flink_taskmanager_job_task_operator_{name}"
    for name in ("pendingRecords", "samples", "deadLetters", "successfulCommittables")
}
"""Metrics of an ingest in Flink's Prometheus reporter. ClusterITCase checks that a job has them."""
GROUPS = {group["name"]: group["rules"] for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]}
RULES = [rule for rules in GROUPS.values() for rule in rules]
CASES = yaml.safe_load((MONITORING / "alerts-test.yaml").read_text())["tests"]
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
EXPRESSIONS = {rule["alert"]: rule["expr"] for rule in RULES} | {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}


def metrics(expression):
    return set(re.findall(r"\b(?:stoker|flink)_[A-Za-z_]+", expression))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_promql_over_metrics_that_feeders_have(name):
    expression = EXPRESSIONS[name].replace("$__rate_interval", "1m").replace("$feed", "photos")
    promql_parser.parse(expression)
    assert metrics(expression) <= WRITTEN | OF_FLINK


def test_mistakes_are_found():
    with pytest.raises(ValueError, match=r"(?i)unexpected|expected|invalid|unclosed"):
        promql_parser.parse("sum by (feed (rate(stoker_feeder_nacks_total[5m]))")
    assert not metrics("rate(stoker_feeder_sample_total[5m])") <= WRITTEN


def test_counters_are_rated_and_gauges_are_not():
    for expression in EXPRESSIONS.values():
        for name in metrics(expression) - OF_FLINK:
            rated = re.search(rf"(rate|increase)\({name}(\{{[^}}]*\}})?\[", expression)
            assert bool(rated) == name.endswith("_total"), f"{name} in {expression}"


@pytest.mark.parametrize("rule", [rule["alert"] for rule in RULES])
def test_every_alert_has_a_case_in_which_it_fires_and_one_in_which_it_does_not(rule):
    asked = [case for test in CASES for case in test["alert_rule_test"] if case["alertname"] == rule]
    assert any(case.get("exp_alerts") for case in asked)
    assert any(not case.get("exp_alerts") for case in asked)


def test_cases_have_metrics_that_exist():
    for test in CASES:
        for series in test["input_series"]:
            assert metrics(series["series"].partition("{")[0]) <= WRITTEN | OF_FLINK, series


def test_the_loss_of_all_feeders_is_noticed_by_what_was_there_before():
    """Nothing can be counted if no series is left, and what was there a quarter of an hour ago is soon the same."""
    assert "last_over_time(stoker_feeder_sessions[" in EXPRESSIONS["StokerFeedLost"]
    assert "unless on (feed) stoker_feeder_sessions" in EXPRESSIONS["StokerFeedLost"]
    assert "offset" not in EXPRESSIONS["StokerFeederMissing"]


def test_page_command_dashboard_and_alert_have_one_threshold():
    """Up to `fair`, data is not the limit; above `limit`, it is."""
    top = (ROOT / "cli/src/main/java/dev/stoker/cli/feed/TopText.java").read_text()
    page = (ROOT / "feeder-job/server/src/main/resources/dev/stoker/server/ui/page.html").read_text()
    fair, limit = re.search(r"FAIR = (\.[0-9]+), LIMIT = (\.[0-9]+)", page).groups()
    assert float(re.search(r"FAIR = ([0-9.]+);", top)[1]) == float(fair)
    assert float(re.search(r"LIMIT = ([0-9.]+);", top)[1]) == float(limit)
    assert float(EXPRESSIONS["StokerTrainersWaitForData"].rpartition("> ")[2]) == float(limit)
    steps = [
        [step["value"] for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1:]]
        for panel in DASHBOARD["panels"]
        if any("wait_seconds" in target["expr"] for target in panel["targets"])
        and "thresholds" in panel["fieldConfig"]["defaults"]
    ]
    assert steps, "a panel of waits has colours"
    assert all(step == [float(fair), float(limit)] for step in steps)


def test_every_alert_has_a_severity_and_says_what_to_do():
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical"), rule
        assert set(rule["annotations"]) == {"summary", "description"}, rule


def test_panels_do_not_overlap_and_explain_themselves():
    taken = set()
    for panel in DASHBOARD["panels"]:
        assert panel["description"], panel["title"]
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not taken & cells, panel["title"]
        taken |= cells


def test_the_pod_monitor_and_the_annotations_scrape_the_page_of_the_manifests():
    manifests = ROOT / "flink-conf" / "kubernetes"
    documents = list(yaml.safe_load_all((manifests / "feed.yaml").read_text()))
    (deployment,) = [document for document in documents if document["kind"] == "FlinkDeployment"]
    template = deployment["spec"]["taskManager"]["podTemplate"]
    ports = {port["name"]: port["containerPort"] for port in template["spec"]["containers"][0]["ports"]}
    assert template["metadata"]["annotations"] == {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(ports["page"]),
        "prometheus.io/path": "/metrics",
    }
    assert f"--ui=0.0.0.0:{ports['page']}" in deployment["spec"]["job"]["args"]
    monitor = yaml.safe_load((MONITORING / "pod-monitor.yaml").read_text())
    assert monitor["spec"]["selector"]["matchLabels"]["app"] == deployment["metadata"]["name"]
    assert [endpoint["port"] for endpoint in monitor["spec"]["podMetricsEndpoints"]] == ["page"]
    policy = next(iter(yaml.safe_load_all((manifests / "network-policy.yaml").read_text())))
    assert {"protocol": "TCP", "port": ports["page"]} in [
        port for rule in policy["spec"]["ingress"] for port in rule.get("ports", [])
    ]
