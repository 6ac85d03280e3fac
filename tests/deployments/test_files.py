"""What is shipped as files: pipelines, the stack, automations. Each is run or read the way its owner would."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from buildloop.request import BuildRequest

ROOT = Path(__file__).parents[2]
DEPLOYMENTS = ROOT / "deployments"
NASTY = "say \"hi\" to $(touch pwned) `id` \\ 'all' of\nthem: ${HOME}"


def load(name: str) -> Any:
    return yaml.safe_load((DEPLOYMENTS / name).read_text(encoding="utf-8"))


def play(script: str, shell: list[str], folder: Path, code: int, **variables: str) -> tuple[int, list[str]]:
    """Run a pipeline's script with a `prefect` that only writes down how it was called."""
    programs = folder / "bin"
    programs.mkdir()
    called = folder / "called.json"
    fake = programs / "prefect"
    fake.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"open({str(called)!r}, 'w').write(json.dumps(sys.argv[1:]))\nsys.exit({code})\n"
    )
    fake.chmod(0o755)
    (programs / "python").symlink_to(sys.executable)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), **variables}
    ran = subprocess.run([*shell, "-c", script], cwd=folder, env=environment, check=False)
    assert not (folder / "pwned").exists()
    return ran.returncode, json.loads(called.read_text())


def asked_for(words: list[str]) -> BuildRequest:
    assert words[:4] == ["deployment", "run", "build-loop/ci", "--watch"]
    return BuildRequest.model_validate_json(words[-1].removeprefix("request="))


@pytest.mark.parametrize("code", [0, 1])
def test_the_github_workflow_hands_over_its_inputs_and_the_exit_code(tmp_path, code):
    steps = load("ci/github.yml")["jobs"]["loop"]["steps"]
    (step,) = [each for each in steps if "deployment run" in each.get("run", "")]
    assert step["shell"] == "bash"
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]  # what GitHub makes of it
    inputs = {"GOAL": NASTY, "TEST": "make test", "AGENT": "my-agent --yes", "REPO": "/repos/shop"}
    ended, words = play(step["run"], shell, tmp_path, code, **inputs)
    request = asked_for(words)
    assert ended == code
    assert (request.goal, request.test, request.repo) == (NASTY, ("make test",), "/repos/shop")
    assert set(step["env"]) == set(inputs)


@pytest.mark.parametrize("code", [0, 1])
def test_the_gitlab_job_hands_over_its_variables_and_the_exit_code(tmp_path, code):
    script = "\n".join(load("ci/gitlab.yml")["buildloop"]["script"][1:])
    given = {
        "GOAL": NASTY,
        "TEST_COMMAND": "make test",
        "AGENT_COMMAND": "a",
        "BUILDLOOP_REPO": "/repos/shop",
    }
    ended, words = play(script, ["sh", "-e"], tmp_path, code, **given)
    assert ended == code
    assert asked_for(words).goal == NASTY


def test_no_pipeline_puts_an_expression_into_a_script():
    steps = load("ci/github.yml")["jobs"]["loop"]["steps"]
    assert not [step for step in steps if "${{" in step.get("run", "")]


def test_the_stack_has_every_part_and_each_waits_for_what_it_needs():
    stack = load("compose.yaml")
    services = stack["services"]
    assert set(services) == {"postgres", "redis", "server", "deploy", "worker"}
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        for name, waited in service.get("depends_on", {}).items():
            if waited["condition"] == "service_healthy":
                assert "healthcheck" in services[name]
    named = {volume.split(":")[0] for each in services.values() for volume in each.get("volumes", ())}
    assert {name for name in named if name.isidentifier()} == set(stack["volumes"])
    build = services["worker"]["build"]
    assert (DEPLOYMENTS / build["context"] / build["dockerfile"]).is_file()


def test_the_image_has_what_it_copies():
    lines = (DEPLOYMENTS / "Dockerfile").read_text().splitlines()
    copied = [word for line in lines if line.startswith("COPY ") for word in line.split()[1:-1]]
    assert len(copied) > 5
    assert not [name for name in copied if not (ROOT / name).exists()]


def test_settings_of_the_stack_are_settings_prefect_has():
    """A misspelt one would be passed over in silence."""
    from prefect.settings.legacy import _get_settings_fields
    from prefect.settings.models.root import Settings

    known = {name.upper() for name in _get_settings_fields(Settings)}
    aliases = set()
    for field in _get_settings_fields(Settings).values():
        aliases |= {str(alias).upper() for alias in getattr(field.accessor, "choices", ())}
    files = [DEPLOYMENTS / "compose.yaml", ROOT / "prefect.yaml"]
    used = {name for path in files for name in re.findall(r"\bPREFECT_[A-Z_]+(?=:)", path.read_text())}
    own = {name for name in used if name.startswith("PREFECT_REDIS_")}  # of the package prefect-redis
    assert used
    assert used - own - known - aliases == set()


@pytest.mark.parametrize(
    "path", sorted((DEPLOYMENTS / "automations").glob("*.yaml")), ids=lambda path: path.stem
)
def test_automations_are_what_prefect_understands(path):
    from deployments.apply import automation, filled

    content = filled(yaml.safe_load(path.read_text()), {})
    plain = automation(content, None)
    assert plain.name.startswith("buildloop-")
    assert "notify" not in {action.type for action in plain.actions}
    sending = automation(content, "11111111-1111-1111-1111-111111111111")
    wanted = {
        "send-notification" if action["type"] == "notify" else action["type"] for action in content["actions"]
    }
    assert {action.type for action in sending.actions} == wanted


def test_whoever_deploys_says_when_a_silent_run_counts_as_dead():
    from deployments.apply import filled

    def zombies(**environment: str) -> dict[str, Any]:
        return filled(load("automations/zombies.yaml"), environment)

    assert zombies()["trigger"]["within"] == 90
    longer = zombies(BUILDLOOP_ZOMBIE_SECONDS="300")
    assert longer["trigger"]["within"] == 300
    assert "for 300 seconds" in longer["description"]
    assert "$" not in str(longer)
    for bad in ("0", "-3", "soon", "1.5", "²"):
        with pytest.raises(SystemExit, match="whole number"):
            zombies(BUILDLOOP_ZOMBIE_SECONDS=bad)


def test_automations_wait_for_states_that_exist():
    from buildloop.result import StopReason
    from flows.build_loop import state_name

    ours = {state_name(reason) for reason in StopReason} | {"Crashed", "Suspended"}
    for path in (DEPLOYMENTS / "automations").glob("*.yaml"):
        expected = yaml.safe_load(path.read_text())["trigger"]["expect"]
        states = {
            name.removeprefix("prefect.flow-run.")
            for name in expected
            if name.startswith("prefect.flow-run.")
        }
        assert states - {"*"} <= ours


def form_of(entrypoint: str) -> dict[str, Any]:
    """What `prefect deploy` sends to the server."""
    from prefect.utilities.callables import parameter_schema

    module, _, name = entrypoint.rpartition(".")
    flow = getattr(importlib.import_module(module), name)
    return parameter_schema(flow).model_dump_for_openapi()


FLOWS = sorted(
    {each["entrypoint"] for each in yaml.safe_load((ROOT / "prefect.yaml").read_text())["deployments"]}
)


@pytest.mark.parametrize("entrypoint", FLOWS)
def test_every_parameter_of_a_form_is_explained_and_none_is_a_switch_to_nothing(entrypoint):
    for model in form_of(entrypoint)["definitions"].values():
        for name, field in model.get("properties", {}).items():
            assert field.get("description"), name
            assert {"type": "null"} not in field.get("anyOf", ()) or "$ref" in str(field["anyOf"]), name


def test_a_form_may_say_nothing_as_null_and_nothing_else():
    from prefect.utilities.schema_tools.validation import validate

    form = form_of("flows.build_loop.build_loop")
    request = BuildRequest(goal="g", repo="/r", test=("t",), agent_command="a").model_dump(mode="json")
    assert request["model"] is None
    assert validate({"request": request}, form) == []
    assert validate({"request": {**request, "budget_usd": "much"}}, form) != []
    assert validate({"request": {**request, "budget_usd": -1}}, form) != []
