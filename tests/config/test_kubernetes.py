"""deploy/kubernetes.yaml, against the schemas of Kubernetes and by reading: no cluster has run it here."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from django.conf import settings


@pytest.fixture
def items(root: Path) -> dict[str, Any]:
    listed = yaml.safe_load((root / "deploy" / "kubernetes.yaml").read_text())["items"]
    return {f"{item['kind']} {item['metadata']['name']}": item for item in listed}


@pytest.fixture
def pods(items: dict[str, Any]) -> dict[str, Any]:
    jobs = {name: item["spec"].get("jobTemplate", item).get("spec") for name, item in items.items() if "spec" in item}
    return {name: spec["template"]["spec"] for name, spec in jobs.items() if "template" in spec}


@pytest.mark.parametrize("version", ["1.30", "1.37"])
def test_it_is_as_kubernetes_wants_it(items: dict[str, Any], version: str) -> None:
    for item in items.values():
        kubernetes_validate.validate(item, version, strict=True)
    wrong = {**items["Service touchstone"], "spec": {"ports": [{"prot": 80}]}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, version, strict=True)


def test_it_runs_what_compose_runs(pods: dict[str, Any], root: Path) -> None:
    services = yaml.safe_load((root / "docker-compose.yml").read_text())["services"]
    for name, pod in pods.items():
        if name.startswith("CronJob"):
            continue
        (container,) = pod["containers"]
        part = name.rpartition("-")[2]
        assert container["name"] == part
        command = services[part].get("command")
        if command is not None:
            assert container["command"] == [re.sub(r"\$\{(\w+):-\w+\}", r"$(\1)", word) for word in command]
    web = pods["Deployment touchstone-web"]["containers"][0]
    assert f"CMD {str(web['command']).replace(chr(39), chr(34))}" in (root / "Dockerfile").read_text().splitlines()


def test_nothing_begins_on_tables_of_another_version(pods: dict[str, Any]) -> None:
    for name, pod in pods.items():
        checks = [one["command"] for one in pod.get("initContainers", [])]
        assert checks == ([] if "migrate" in name else [["python", "manage.py", "migrate", "--check"]]), name


def test_no_two_versions_run_at_once(items: dict[str, Any], root: Path) -> None:
    """What an old process writes after a migration has no place in the chain of the audit log. The procedure stops all
    of them: a rolling update would not, and Recreate alone does not wait for the Job."""
    deployments = {item["metadata"]["name"]: item["spec"] for item in items.values() if item["kind"] == "Deployment"}
    assert list(deployments) == ["touchstone-web", "touchstone-worker", "touchstone-importer"]
    assert all(spec["strategy"] == {"type": "Recreate"} for spec in deployments.values())
    upgrading = (root / "docs" / "operations.md").read_text().partition("\n## Upgrading\n")[2].partition("\n## ")[0]
    (scaled,) = re.findall(r"^kubectl scale --replicas 0 (.*)$", upgrading, re.MULTILINE)
    assert scaled.split() == [f"deployment/{name}" for name in deployments]
    suspended = re.findall(
        r"""^kubectl patch cronjob (\S+) --patch '{"spec": {"suspend": true}}'$""", upgrading, re.MULTILINE
    )
    crons = {item["metadata"]["name"]: item["spec"] for item in items.values() if item["kind"] == "CronJob"}
    assert suspended == list(crons)
    assert all(spec["suspend"] is False for spec in crons.values()), "to apply them again lifts it"
    (waited,) = re.findall(r"part in \((.*?)\)", upgrading)
    assert waited.split(",") == [spec["selector"]["matchLabels"]["part"] for spec in deployments.values()]
    (job,) = re.findall(r"^kubectl delete job (\S+)$", upgrading, re.MULTILINE)
    assert f"Job {job}" in items
    (stopped,) = re.findall(r"^docker compose stop (.*)$", upgrading, re.MULTILINE)
    assert stopped.split() == waited.split(",")


def test_no_container_runs_as_root_or_writes_where_it_needs_not(pods: dict[str, Any]) -> None:
    for name, pod in pods.items():
        assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, 10001), name
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            locked = container["securityContext"]
            assert (locked["readOnlyRootFilesystem"], locked["allowPrivilegeEscalation"]) == (True, False), name
            assert locked["capabilities"] == {"drop": ["ALL"]}, name
            more = {"/backups"} if container["name"] == "backup" else set()
            assert {one["mountPath"] for one in container["volumeMounts"]} == {"/data", "/tmp"} | more, name
            assert {one["name"] for one in container["volumeMounts"]} <= {one["name"] for one in pod["volumes"]}, name


def test_all_that_stays_up_is_watched_and_has_bounds(pods: dict[str, Any]) -> None:
    for name, pod in pods.items():
        (container,) = pod["containers"]
        assert "memory" in container["resources"]["limits"], name
        assert ("livenessProbe" in container) == name.startswith("Deployment"), name


def test_it_is_watched_as_in_compose(pods: dict[str, Any], root: Path) -> None:
    services = yaml.safe_load((root / "docker-compose.yml").read_text())["services"]
    for part in ("worker", "importer"):
        (container,) = pods[f"Deployment touchstone-{part}"]["containers"]
        check = services[part]["healthcheck"]["test"][1].replace("$$", "$")
        assert container["livenessProbe"]["exec"]["command"] == ["sh", "-c", check]


def test_every_setting_is_documented_and_none_is_secret(items: dict[str, Any], root: Path) -> None:
    documented = set(re.findall(r"^\| `([A-Z0-9_]+)` \|", (root / "docs" / "settings.md").read_text(), re.MULTILINE))
    settings = set(items["ConfigMap touchstone"]["data"])
    assert settings <= documented
    secrets = {"SECRET_KEY", "DATABASE_URL", "DATABASE_POOLER_URL", "REDIS_URL", "S3_ACCESS_KEY_ID"}
    assert not settings & {*secrets, "S3_SECRET_ACCESS_KEY"}


def test_no_setting_is_dropped(pods: dict[str, Any], items: dict[str, Any]) -> None:
    """Every container has the whole ConfigMap and Secret; what a command takes as an argument is in the ConfigMap."""
    for name, pod in pods.items():
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            assert container["envFrom"] == [
                {"configMapRef": {"name": "touchstone"}},
                {"secretRef": {"name": "touchstone"}},
            ], name
            arguments = set(re.findall(r"\$\(([A-Z_]+)\)", " ".join(container["command"])))
            assert arguments <= set(items["ConfigMap touchstone"]["data"]), name
    assert "$(WORKER_CONCURRENCY)" in pods["Deployment touchstone-worker"]["containers"][0]["command"]


def test_proxies_let_the_largest_file_through(items: dict[str, Any], root: Path) -> None:
    """The example for nginx and the Ingress, whose own default is 1 MiB, and not after gunicorn has given up."""
    text = (root / "docs" / "operations.md").read_text()
    annotations = items["Ingress touchstone"]["metadata"]["annotations"]
    ingress = {name.rpartition("/")[2].replace("-", "_"): value for name, value in annotations.items()}
    (body,) = re.findall(r"client_max_body_size (\d+m);", text)
    assert ingress["proxy_body_size"] == body
    assert int(body.removesuffix("m")) * 2**20 > settings.IMPORT_MAX_FILE_BYTES
    (timeout,) = re.findall(r"^timeout = (\d+)$", (root / "config" / "gunicorn_conf.py").read_text(), re.MULTILINE)
    for name in ("proxy_read_timeout", "proxy_send_timeout"):
        assert f"{name} {ingress[name]}s;" in text
        assert int(ingress[name]) > int(timeout)
    assert f"proxy_request_buffering {ingress['proxy_request_buffering']};" in text


def test_what_runs_by_the_clock(items: dict[str, Any], pods: dict[str, Any], root: Path) -> None:
    text = (root / "docs" / "operations.md").read_text().partition("\n## What runs by the clock\n")[2]
    commands = {name: pod["containers"][0]["command"] for name, pod in pods.items() if name.startswith("CronJob")}
    assert set(commands) == {"CronJob touchstone-remind", "CronJob touchstone-backup"}
    for name, command in commands.items():
        job = items[name]["spec"]
        assert job["concurrencyPolicy"] == "Forbid"
        what = f"python manage.py {name.rpartition('-')[2]}"
        assert what in " ".join(command)
        (cron,) = [line for line in text.splitlines() if what in line and line[0].isdigit()]
        assert cron.startswith(job["schedule"])
    assert (
        pods["CronJob touchstone-backup"]["volumes"][-1]["persistentVolumeClaim"]["claimName"] == "touchstone-backups"
    )
    assert "PersistentVolumeClaim touchstone-backups" in items
