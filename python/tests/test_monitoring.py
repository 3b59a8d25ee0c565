"""The dashboard and the alert rules of `flink-conf/monitoring` against what a feeder's `/metrics` has."""

import json
import re
from pathlib import Path

import promql_parser
import pytest
import yaml

ROOT = Path(__file__).parents[2]
MONITORING = ROOT / "flink-conf" / "monitoring"
PAGE = ROOT / "feeder-server/src/main/java/dev/stoker/server/ui/PrometheusText.java"
WRITTEN = set(re.findall(r'"(stoker_[a-z_]+)"', PAGE.read_text()))
RULES = yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((MONITORING / "dashboard.json").read_text())
EXPRESSIONS = {rule["alert"]: rule["expr"] for rule in RULES} | {
    f"{panel['title']} {target['refId']}": target["expr"]
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
}


def metrics(expression):
    return set(re.findall(r"\bstoker_[a-z_]+", expression))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_promql_over_metrics_that_feeders_have(name):
    expression = EXPRESSIONS[name].replace("$__rate_interval", "1m").replace("$feed", "photos")
    promql_parser.parse(expression)
    assert metrics(expression) <= WRITTEN


def test_mistakes_are_found():
    with pytest.raises(ValueError, match=r"(?i)unexpected|expected|invalid|unclosed"):
        promql_parser.parse("sum by (feed (rate(stoker_feeder_nacks_total[5m]))")
    assert not metrics("rate(stoker_feeder_sample_total[5m])") <= WRITTEN


def test_counters_are_rated_and_gauges_are_not():
    for expression in EXPRESSIONS.values():
        for name in metrics(expression):
            rated = re.search(rf"(rate|increase)\({name}(\{{[^}}]*\}})?\[", expression)
            assert bool(rated) == name.endswith("_total"), f"{name} in {expression}"


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
