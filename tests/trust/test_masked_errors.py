"""What an exception says is shown as the state of a run: no secret is in it, whoever raised it."""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from git.exc import GitCommandError
from prefect import Task
from pydantic import BaseModel, ValidationError

import tasks
from tasks.masked_errors import masked_errors

SECRET = "correct-horse-battery-staple"


class Number(BaseModel):
    value: int


@pytest.mark.parametrize(
    "error",
    [
        ValueError(f"cannot use {SECRET}"),
        OSError(2, "No such file", f"/x/{SECRET}"),
        GitCommandError(["git", "push", f"https://u:{SECRET}@host"], 128, f"denied: {SECRET}".encode()),
        KeyError(("a", SECRET)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_exception_leaves_a_task_without_the_secret(error, monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)

    @masked_errors
    def work() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        work()
    assert SECRET not in str(raised.value)
    assert "[masked]" in str(raised.value)


def test_one_whose_words_cannot_be_changed_is_replaced(monkeypatch):
    monkeypatch.setenv("DEPLOY_TOKEN", SECRET)
    with pytest.raises(RuntimeError, match="ValidationError") as raised:
        masked_errors(Number)(value=SECRET)
    assert SECRET not in str(raised.value)


def test_an_exception_without_a_secret_is_the_same_one():
    with pytest.raises(ValidationError):
        masked_errors(Number)(value="no number")


def test_every_task_is_under_it():
    modules = [importlib.import_module(f"tasks.{one.name}") for one in pkgutil.iter_modules(tasks.__path__)]
    found = {
        value.name: value for module in modules for value in vars(module).values() if isinstance(value, Task)
    }
    assert {"iterate", "gate", "classify", "restart", "record"} <= set(found)
    bare = [
        name
        for name, one in found.items()
        if one.fn.__code__.co_filename != masked_errors.__code__.co_filename
    ]
    assert bare == []
