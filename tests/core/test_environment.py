"""What agents and gates find in their environment."""

from __future__ import annotations

from buildloop.environment import child_environment


def test_what_a_recovery_installed_comes_before_what_the_user_has(tmp_path):
    own = {"PATH": "/usr/bin", "PYTHONPATH": "/user"}
    seen = child_environment(
        own, tmp_path, {"PATH": "/run/bin", "PYTHONPATH": "/run", "BUNDLE_PATH": "/gems"}
    )
    assert seen == {"PATH": "/run/bin:/usr/bin", "PYTHONPATH": "/run:/user", "BUNDLE_PATH": "/gems"}


def test_the_workspaces_own_code_comes_before_any_installed_copy_of_it(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    seen = child_environment({"PYTHONPATH": "/user"}, tmp_path, {"PYTHONPATH": "/run"})
    assert seen["PYTHONPATH"] == f"{tmp_path}:/run:/user"


def test_nobody_is_shown_the_way_to_the_prefect_api(tmp_path):
    """Whoever may talk to it may start runs of any command."""
    own = {"PREFECT_API_URL": "http://x/api", "PREFECT_API_KEY": "k", "PREFECT_LOGGING_LEVEL": "DEBUG"}
    assert child_environment(own, tmp_path, {}) == {"PREFECT_LOGGING_LEVEL": "DEBUG"}
