"""The manifests of `flink-conf/kubernetes` against the schemas of those who read them, and against each other."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

MANIFESTS = Path(__file__).parents[2] / "flink-conf" / "kubernetes"
SCHEMAS = Path(__file__).with_name("kubernetes")


def closed(schema):
    """A schema that knows all its fields, as an API server knows them: it drops or refuses others."""
    if isinstance(schema, list):
        return [closed(value) for value in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    found = {key: closed(value) for key, value in schema.items() if key != "properties"}
    if "properties" in schema:
        found["properties"] = {name: closed(value) for name, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            found.setdefault("additionalProperties", False)
    return found


def schemas():
    core = json.loads((SCHEMAS / "core.json").read_text())
    found = {
        kind: {"$ref": f"#/definitions/{name}", "definitions": core["definitions"]}
        for kind, name in core["kinds"].items()
    }
    for name in ("flinkdeployment", "jobset"):
        crd = json.loads((SCHEMAS / f"{name}.json").read_text())
        schema = closed(crd["schema"])
        schema["properties"]["metadata"] = {"$ref": "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}
        schema["properties"]["apiVersion"] = {"const": crd["apiVersion"]}
        schema["properties"]["kind"] = {"const": crd["kind"]}
        found[crd["kind"]] = {**schema, "definitions": core["definitions"]}
    # Each release of the operator adds the versions of Flink that came since; these are later ones than the schema's.
    versions = found["FlinkDeployment"]["properties"]["spec"]["properties"]["flinkVersion"]
    versions["enum"] = ["v2_2", "v2_3"]
    return found


def manifests():
    return [
        document for path in sorted(MANIFESTS.rglob("*.yaml")) if path.stem != "kustomization"
        for document in yaml.safe_load_all(path.read_text())
    ]  # fmt: skip


DOCUMENTS = {f"{d['kind']}-{d['metadata']['name']}": d for d in manifests()}
KNOWN = schemas()


def problems(document):
    return [
        f"{error.json_path}: {error.message}"
        for error in jsonschema.Draft202012Validator(KNOWN[document["kind"]]).iter_errors(document)
    ]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_manifests_have_only_fields_that_are_known_with_values_that_fit(name):
    assert problems(DOCUMENTS[name]) == []


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("FlinkDeployment-photos", ("spec", "taskManager", "podTemplate", "spec", "afinity"), {}),
        ("FlinkDeployment-photos", ("spec", "flinkVersion"), "2.2"),
        ("FlinkDeployment-photos", ("spec", "job", "parallelism"), "two"),
        ("JobSet-photos-train", ("spec", "replicatedJobs", 0, "template", "spec", "paralelism"), 2),
        ("JobSet-photos-train", ("apiVersion",), "jobset.x-k8s.io/v1"),
        ("Service-photos-feed", ("spec", "clusterIp"), "None"),
        ("NetworkPolicy-photos-feeders", ("spec", "ingress", 0, "ports", 0, "protocol"), 6),
    ],
)
def test_mistakes_are_found(name, path, value):
    document = json.loads(json.dumps(DOCUMENTS[name]))
    inner = document
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    assert problems(document)


def test_all_names_fit_together():
    deployment, jobset = DOCUMENTS["FlinkDeployment-photos"], DOCUMENTS["JobSet-photos-train"]
    service, cleanup = DOCUMENTS["Service-photos-feed"], DOCUMENTS["Job-photos-cleanup"]
    feeders = {"app": deployment["metadata"]["name"], "component": "taskmanager"}
    assert service["spec"]["selector"] == feeders
    assert DOCUMENTS["NetworkPolicy-photos-feeders"]["spec"]["podSelector"]["matchLabels"] == feeders
    address = f"{service['metadata']['name']}:{service['spec']['ports'][0]['port']}"
    pods = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]
    pod = pods["template"]["spec"]
    assert pod["initContainers"][0]["command"][:3] == ["stoker", "wait", address]
    assert {"name": "STOKER_FEED", "value": address} in pod["containers"][0]["env"]
    label = {"jobset.sigs.k8s.io/jobset-name": jobset["metadata"]["name"]}
    affinity = deployment["spec"]["taskManager"]["podTemplate"]["spec"]["affinity"]
    (near,) = affinity["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert near["labelSelector"]["matchLabels"] == label
    ingest = DOCUMENTS["FlinkDeployment-photos-ingest"]["spec"]
    assert ingest["job"]["args"][1] == deployment["spec"]["job"]["args"][0]
    assert ingest["podTemplate"]["spec"]["volumes"][0] == deployment["spec"]["podTemplate"]["spec"]["volumes"][0]
    policy = DOCUMENTS["NetworkPolicy-photos-feeders"]["spec"]["ingress"][0]
    assert policy["from"][0]["podSelector"]["matchLabels"] == label
    assert policy["ports"] == [{"protocol": "TCP", "port": service["spec"]["ports"][0]["port"]}]
    assert deployment["spec"]["job"]["parallelism"] == pods["parallelism"] == pods["completions"]
    commands = [
        c["command"]
        for c in [
            *cleanup["spec"]["template"]["spec"]["initContainers"],
            *cleanup["spec"]["template"]["spec"]["containers"],
        ]
    ]
    assert f"jobset/{jobset['metadata']['name']}" in commands[0]
    assert f"flinkdeployment/{deployment['metadata']['name']}" in commands[1]
    listed = yaml.safe_load((MANIFESTS / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted(path.name for path in MANIFESTS.glob("*.yaml") if path.stem != "kustomization")
