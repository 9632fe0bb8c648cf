"""The compose file and the manifests: made with what their first lines say, read by the tools for them,
and held against what the program and the proxy expect."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterable

from deployment.site import SERVERS
from harness import check, fileshed, install

SOURCE = fileshed.REPOSITORY / "deploy"
VALIDATOR = "kubernetes-validate==1.37.0"
#: The oldest one that has all fields, and the newest one that the validator knows.
KUBERNETES = ("1.30", "1.37")
#: Where secrets are in a container.
SECRETS = re.compile(r"/run/secrets/(?:fileshed/)?")

_READ_YAML = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(sys.stdin))))"


def _copy(directory: Path, page: str) -> Path:
    """The files, with the secrets that the first lines of one of them make."""
    place = directory / "deploy"
    shutil.copytree(SOURCE, place, ignore=shutil.ignore_patterns("secrets"))
    shutil.copytree(fileshed.REPOSITORY / ".docker", directory / ".docker")
    lines = re.findall(r"^#   ((?:mkdir|openssl|printf) .*)$", (place / page).read_text(), re.MULTILINE)
    check.that(f"{page} says how to make secrets", len(lines) > 2, lines)
    _run("\n".join(lines), ["bash", "-ec", "\n".join(lines)], place)
    return place


def _run(what: str, command: list, directory: Path, **more: object) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=120, **more)
    check.equal(f"{what}: {done.stdout[-2000:]}{done.stderr[-3000:]}", done.returncode, 0)
    return done.stdout


def _documents(text: str) -> list[dict]:
    """Returns the documents of a YAML file, read by a Python that has the package for it."""
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            done = subprocess.run([python, "-c", _READ_YAML], input=text, capture_output=True, text=True)
        except OSError:
            continue
        if "No module named 'yaml'" not in done.stderr:
            check.equal(f"YAML: {done.stderr}", done.returncode, 0)
            return json.loads(done.stdout)
    raise install.Missing("no Python here has PyYAML (python3-yaml)")


def _settings(directory: Path, secrets: Path, environment: dict[str, str]) -> str:
    """Returns the settings that the program derives from its variables."""
    environment = {name: SECRETS.sub(f"{secrets}/", value) for name, value in environment.items()}
    return _run(
        "fileshed config", [fileshed.binary(), "config"], directory, env={"PATH": os.environ["PATH"], **environment}
    )


def _number(settings: str, name: str) -> int:
    found = re.search(rf"^{re.escape(name)} = (\d+)", settings, re.MULTILINE)
    check.that(f"a setting {name}", found)
    return int(found[1])


def _ends_in_time(settings: str, grace: int) -> None:
    """The server has drained, and its longest command has ended, before it is killed."""
    needed = _number(settings, "instance.drain_seconds") + _number(settings, "exec_timeout_max")
    check.that(f"{grace} s are enough to end", grace > needed, needed)


def compose(directory: Path) -> None:
    root = [*_compose_program(), "-f", "docker-compose.yml"]
    _run("the compose file of one server", [*root, "config"], fileshed.REPOSITORY)
    _run("with every program", [*root, "-f", "docker-compose.full.yml", "config"], fileshed.REPOSITORY)
    place = _copy(directory, "compose.yml")
    text = _run("compose", [*_compose_program(), "-f", "compose.yml", "config"], place)
    services = _documents(text)[0]["services"]
    check.equal("the services", set(services), {*SERVERS, "proxy", "postgres"})
    plain = _documents((fileshed.REPOSITORY / "docker-compose.yml").read_text())[0]["services"]["fileshed"]
    proxy = services["proxy"]["environment"]
    for number, name in enumerate(SERVERS):
        server, environment = services[name], services[name]["environment"]
        for held in ("security_opt", "cap_drop", "read_only", "tmpfs", "pids_limit"):
            check.equal(f"{held} of {name}", server[held], plain[held])
        settings = _settings(directory, place / "secrets", environment)
        _ends_in_time(settings, _seconds(server["stop_grace_period"]))
        check.that("its name", f'instance.name = "{name}"' in settings, settings)
        check.equal("where the proxy finds it", proxy[f"SERVER_{number}"], f"{name}:8000")
        check.equal("where the other server finds it", environment["FILESHED_INSTANCE_ADDRESS"], f"{name}:8000")
        address = services["proxy"]["networks"]["default"]["ipv4_address"]
        check.equal("the proxy that it trusts", environment["FILESHED_TRUSTED_PROXIES"], address)
    own = {"FILESHED_INSTANCE_NAME": "", "FILESHED_INSTANCE_ADDRESS": ""}
    first, second = ({**services[name]["environment"], **own} for name in SERVERS)
    check.equal("the settings of both", first, second)
    print(f"  {', '.join(services)}", flush=True)


def _compose_program() -> list[str]:
    """The newer one, if it is there."""
    for words in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(words[0]) and subprocess.run([*words, "version"], capture_output=True).returncode == 0:
            return words
    raise install.Missing("neither docker compose nor docker-compose is installed")


def _seconds(period: str) -> int:
    """`330s`, or `5m30s` as the tools write it."""
    parts = re.fullmatch(r"(?:(\d+)m)?(?:(\d+)s)?", period)
    check.that("a period", parts, period)
    return 60 * int(parts[1] or 0) + int(parts[2] or 0)


def kubernetes(directory: Path) -> None:
    place = _copy(directory, "kustomization.yaml")
    if not shutil.which("kubectl"):
        print("SKIP: deployment, kubectl kustomize: kubectl is not installed")
        _validated(*sorted(place.glob("kubernetes/*.yaml")))
        return
    plain = place / "kustomization.yaml"
    texts = {"plain": _rendered(place)}
    # The lines that are comments there, for users who want namespaces.
    wanted = re.sub(r"^# (components:|  - kubernetes/namespaces)$", r"\1", plain.read_text(), flags=re.MULTILINE)
    plain.write_text(wanted)
    texts["namespaces"] = _rendered(place)
    for name, text in texts.items():
        file = directory / f"{name}.yaml"
        file.write_text(text)
        objects = {(one["kind"], one["metadata"]["name"]): one for one in _documents(text)}
        _objects(directory, place, objects)
        container = objects["StatefulSet", "fileshed"]["spec"]["template"]["spec"]["containers"][0]
        held = container["securityContext"].get("seccompProfile", {}).get("type")
        check.equal(f"the profile, {name}", held, "Localhost" if name == "namespaces" else None)
        print(f"  {name}: {len(objects)} objects", flush=True)
        _validated(file)


def _rendered(place: Path) -> str:
    return _run("kubectl kustomize", ["kubectl", "kustomize", "."], place)


def _validated(*files: Path) -> None:
    """By the schemas of Kubernetes; no field that they do not know."""
    try:
        programs = install.package(VALIDATOR, fileshed.target() / "e2e")
    except install.Missing as missing:
        print(f"SKIP: deployment, schemas of Kubernetes: {missing}")
        return
    for version in KUBERNETES:
        options = ["--strict", "--no-warn", "-k", version]
        _run(f"Kubernetes {version}", [programs / "kubernetes-validate", *options, *files], SOURCE)


def _objects(directory: Path, place: Path, objects: dict[tuple[str, str], dict]) -> None:
    """Every reference from one object to another names an existing one."""
    workloads = {name: one for (kind, name), one in objects.items() if kind in ("StatefulSet", "Deployment")}
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in workloads.values()]
    for (kind, name), one in objects.items():
        for selector in _selectors(one["spec"] if "spec" in one else {}):
            chosen = [found for found in labels if selector.items() <= found.items()]
            check.equal(f"what {kind} {name} chooses with {selector}", len(chosen), 1)
    for name, one in workloads.items():
        pod = one["spec"]["template"]["spec"]
        for volume in pod["volumes"]:
            for kind, field, key in (
                ("Secret", "secret", "secretName"),
                ("ConfigMap", "configMap", "name"),
                ("PersistentVolumeClaim", "persistentVolumeClaim", "claimName"),
            ):
                if field in volume:
                    check.that(f"{kind} of {name}", (kind, volume[field][key]) in objects, volume)
        _is_restricted(name, pod)
    _servers(directory, place, objects, workloads)


def _selectors(spec: object) -> Iterable[dict]:
    if isinstance(spec, list):
        for part in spec:
            yield from _selectors(part)
    elif isinstance(spec, dict):
        for name, part in spec.items():
            if name == "matchLabels" or (name == "selector" and "matchLabels" not in part):
                yield part
            else:
                yield from _selectors(part)


def _is_restricted(name: str, pod: dict) -> None:
    """The standard `restricted` of Kubernetes, and a root that nobody writes."""
    check.that(f"{name}: no root", pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"])
    check.equal(f"{name}: seccomp", pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
    check.equal(f"{name}: variables for services", pod["enableServiceLinks"], False)
    for container in pod["containers"]:
        context = container["securityContext"]
        check.equal(f"{name}: rights", context["capabilities"], {"drop": ["ALL"]})
        check.equal(f"{name}: more rights", context["allowPrivilegeEscalation"], False)
        check.equal(f"{name}: its root", context["readOnlyRootFilesystem"], True)


def _servers(directory: Path, place: Path, objects: dict, workloads: dict) -> None:
    servers, proxies = workloads["fileshed"]["spec"], workloads["fileshed-proxy"]["spec"]
    pod = servers["template"]["spec"]
    container = pod["containers"][0]
    variables = {one["name"]: one.get("value", "fileshed-0") for one in container["env"]}
    # Kubernetes puts those in that come before.
    variables = {name: re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], value) for name, value in variables.items()}
    settings = _settings(directory, place / "secrets", variables)
    port = container["ports"][0]["containerPort"]
    check.that("where the other servers find it", f'instance.address = "fileshed-0:{port}"' in settings, settings)
    _ends_in_time(settings, pod["terminationGracePeriodSeconds"])
    # Account and data are where the image has them.
    image = (fileshed.REPOSITORY / "Dockerfile").read_text()
    check.that("the account", f"--uid {pod['securityContext']['runAsUser']} " in image)
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    check.that("the data", f"FILESHED_STORAGE_BASE_PATH={mounts['data']}\n" in image, mounts)
    check.that("the port", f"FILESHED_BIND=0.0.0.0:{port} " in image)
    # Each server has an address that a proxy knows.
    addresses = [one["value"] for one in proxies["template"]["spec"]["containers"][0]["env"] if "value" in one]
    known = [address for address in addresses if address.endswith(":8000")]
    service = servers["serviceName"]
    named = [f"fileshed-{number}.{service}.$(NAMESPACE).svc.cluster.local:8000" for number in range(servers["replicas"])]
    check.equal("the servers that the proxies know", known, named)
    check.that("a service for their names", objects["Service", service]["spec"]["clusterIP"] == "None")
