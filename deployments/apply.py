"""Makes a Prefect server ready for buildloop: work pool, deployments, automations. May be done again at any time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from prefect.blocks.notifications import CustomWebhookNotificationBlock
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from pydantic import SecretStr

HERE = Path(__file__).parent
AUTOMATIONS = HERE / "automations"
POOL = "buildloop"
NOTIFIER = "buildloop-notify"

Say = Callable[[str], None]


def apply_all(say: Say = print) -> None:
    with get_client(sync_client=True) as client:
        _make_pool(client, say)
    deploy(say)
    with get_client(sync_client=True) as client:
        apply_automations(client, os.environ, say)


def deploy(say: Say = print) -> None:
    """`prefect deploy --all`, in the folder that has `prefect.yaml`."""
    folder = project_folder()
    ran = subprocess.run(
        [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"prefect deploy --all failed in {folder}:\n{ran.stdout}{ran.stderr}")
    names = [f"{flow_of(each)}/{each['name']}" for each in described()["deployments"]]
    say(f"deployments     {', '.join(names)}")


def project_folder() -> Path:
    """The checkout, or the package where it is installed: `prefect.yaml` is in both."""
    return HERE.parent if (HERE.parent / "prefect.yaml").exists() else HERE


def described() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((project_folder() / "prefect.yaml").read_text(encoding="utf-8"))
    return content


def flow_of(deployment: Mapping[str, Any]) -> str:
    return str(deployment["entrypoint"]).rsplit(".", 1)[-1].replace("_", "-")


def apply_automations(
    client: SyncPrefectClient, environment: Mapping[str, str], say: Say = print, folder: Path = AUTOMATIONS
) -> None:
    notifier = _make_notifier(environment)
    for path in sorted(folder.glob("*.yaml")):
        content = filled(yaml.safe_load(path.read_text(encoding="utf-8")), environment)
        wanted = automation(content, notifier)
        known = client.read_automations_by_name(wanted.name)
        if known:
            client.update_automation(known[0].id, wanted)
        else:
            client.create_automation(wanted)
        say(f"automation      {wanted.name}")
    if notifier is None:
        say(
            "notifications   off; set BUILDLOOP_NOTIFY_URL to a webhook (Slack, Mattermost …) and deploy again"
        )


def filled(content: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """A file's parameters are whole numbers with a default; the environment may say another."""
    values = {}
    for name, usual in content.pop("parameters", {}).items():
        said = environment.get(name, "").strip() or str(usual)
        if not said.isascii() or not said.isdigit() or int(said) == 0:
            raise SystemExit(f"{name} must be a whole number of at least 1, not {said!r}")
        values[f"${name}"] = said

    def fill(value: Any) -> Any:  # noqa: ANN401 (whatever YAML holds)
        if isinstance(value, dict):
            return {key: fill(each) for key, each in value.items()}
        if isinstance(value, list):
            return [fill(each) for each in value]
        if not isinstance(value, str):
            return value
        if value in values:
            return int(values[value])
        for name, said in values.items():
            value = value.replace(name, said)
        return value

    found: dict[str, Any] = fill(content)
    return found


def automation(content: dict[str, Any], notifier: str | None) -> AutomationCore:
    """Our files speak of `notify`; Prefect wants the id of a block, or another action where there is none."""
    actions = [_sending(action, notifier) for action in content["actions"]]
    kept = [action for action in actions if action is not None] or [{"type": "do-nothing"}]
    return AutomationCore.model_validate({**content, "actions": kept})


def _sending(action: dict[str, Any], notifier: str | None) -> dict[str, Any] | None:
    if action["type"] != "notify":
        return action
    if notifier is None:
        return None
    return {**action, "type": "send-notification", "block_document_id": notifier}


def _make_notifier(environment: Mapping[str, str]) -> str | None:
    url = environment.get("BUILDLOOP_NOTIFY_URL", "").strip()
    if not url:
        return None
    block = CustomWebhookNotificationBlock(
        name=NOTIFIER,
        url="{{url}}",
        method="POST",
        json_data={"text": "{{subject}}\n{{body}}"},
        secrets={"url": SecretStr(url)},
    )
    return str(block.save(NOTIFIER, overwrite=True))


def _make_pool(client: SyncPrefectClient, say: Say) -> None:
    try:
        client.read_work_pool(POOL)
    except ObjectNotFound:
        client.create_work_pool(WorkPoolCreate(name=POOL, type="process"))
    say(f"work pool       {POOL}")
