"""The bars on the labelled logs, where the corpus lies beside the repository."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from buildloop.diagnosis.protocol import answer

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
FLOORS = {
    "mode_macro_f1": 0.95,
    "ep_macro_f1": 0.95,
    "ep_iteration_acc": 0.95,
    "ep_detected_in_time": 0.95,
    "pair_f1": 0.97,
    "cat6_acc_tolerant": 0.92,
    "cat10_acc_tolerant": 0.92,
    "keyline_recall_at_10": 0.92,
}
pytestmark = pytest.mark.skipif(not (CORPUS / "dev").is_dir(), reason="no corpus beside the repository")


@pytest.fixture(scope="module")
def score(tmp_path_factory) -> dict[str, float]:
    sys.path.insert(0, str(CORPUS))
    try:
        import baseline
    finally:
        sys.path.remove(str(CORPUS))
    dev = str(CORPUS / "dev")
    predictions = tmp_path_factory.mktemp("corpus") / "predictions.jsonl"
    with predictions.open("w") as stream:
        for row in _predictions(baseline, dev):
            stream.write(json.dumps(row) + "\n")
    return baseline.score(dev, str(predictions), quiet=True)


def _predictions(baseline, dev):
    for row in baseline.load(dev, "single.jsonl"):
        said = answer({"kind": "log", "log": f"{dev}/{row['file']}", "exit_code": row["exit_code"]})
        yield {
            "task": "single",
            "id": row["id"],
            "mode": said["mode"],
            "category6": said["category"],
            "category10": said["error_class"],
            "lines": said["error_lines"],
            "location": said["location"],
        }
    for row in baseline.load(dev, "episodes.jsonl"):
        window = row["iterations"][0]["context_window"]
        said = answer(
            {
                "kind": "episode",
                "context_window": window,
                "iterations": [_iteration(dev, i) for i in row["iterations"]],
            }
        )
        yield {"task": "episode", "id": row["id"], "modes": said["modes"]}
    for row in baseline.load(dev, "pairs.jsonl"):
        said = answer({"kind": "pair", "a": "\n".join(row["a"]), "b": "\n".join(row["b"])})
        yield {"task": "pair", "id": row["id"], "same": said["same"]}


def _iteration(dev: str, row: dict) -> dict:
    agent = Path(dev, row["agent_log"]).read_text(errors="replace") if row.get("agent_log") else None
    return {
        "passed": row["passed"],
        "log": f"{dev}/{row['log']}" if row.get("log") else "",
        "exit_code": row["exit_code"],
        "tree": row["tree"],
        "changed": row["commit_changed"],
        "diff": row["diff"]["text"],
        "agent_output": agent,
        "input_tokens": row["tokens_in"],
        "output_tokens": row["tokens_out"],
        "context_tokens": row["context_tokens"],
        "agent_status": row["agent_status"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("figure", FLOORS)
def test_floor(score, figure):
    assert score[figure] >= FLOORS[figure]


@pytest.mark.slow
def test_hardly_any_false_alarm(score):
    assert score["ep_with_false_alarm"] <= 0.02
