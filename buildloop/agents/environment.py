"""What an agent CLI finds in its environment: what running the gate needs, its own keys, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from buildloop.redact import Redactor, redactor
from buildloop.secret_parts import SECRET_NAME

NAMES = frozenset({
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM",
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "NO_COLOR", "CI", "COLUMNS",
    "DISPLAY", "DOCKER_HOST", "MAKEFLAGS", "CC", "CXX", "CPP", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS",
    "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "DO_NOT_TRACK",
    "SOURCE_DATE_EPOCH", "VIRTUAL_ENV", "SDKROOT", "ANDROID_HOME", "CHROME_BIN", "PLAYWRIGHT_BROWSERS_PATH",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY",
    "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
})  # fmt: skip
PREFIXES = (
    "LC_", "XDG_", "PYTHON", "PYTEST_", "CONDA_", "PYENV_", "UV_", "PIP_", "POETRY_", "HATCH_", "TOX_",
    "NODE_", "NPM_CONFIG_", "npm_config_", "NVM_", "PNPM_", "YARN_", "BUN_", "DENO_", "VOLTA_",
    "JAVA_", "JDK_", "M2_", "MAVEN_", "GRADLE_", "SBT_", "KOTLIN_", "GO", "CGO_", "CARGO_", "RUST", "CMAKE_",
    "GEM_", "BUNDLE_", "RUBY", "RBENV_", "PHP_", "COMPOSER_", "DOTNET_", "NUGET_", "PERL", "MIX_", "ELIXIR_",
    "ERL_", "GHC", "STACK_", "CABAL_", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_SSL_",
)  # fmt: skip
# The Google tools' names start like those of Go.
NOT_A_TOOLCHAIN = ("GOOGLE_", "GOOSE_")


def agent_environment(
    given: Mapping[str, str], own_prefixes: Iterable[str], extra: Iterable[str]
) -> dict[str, str]:
    """`own_prefixes` are how the names of the agent's own keys and addresses begin; `extra` the user's additions.

    Whatever looks like a secret and is neither stays out: what an agent can read, a model's provider gets to read.
    Only the address of a proxy may hold a password: without it there is no way to the model at all.
    """
    own, wanted = tuple(own_prefixes), frozenset(extra)
    return {
        name: value
        for name, value in given.items()
        if name in wanted or name.startswith(own) or (_is_known(name) and not _is_secret(name, value))
    }


def _is_secret(name: str, value: str) -> bool:
    if SECRET_NAME.search(name):
        return True
    return not name.lower().endswith("_proxy") and _shapes()(value) != value


@cache
def _shapes() -> Redactor:
    return redactor({})


def _is_known(name: str) -> bool:
    return name in NAMES or (name.startswith(PREFIXES) and not name.startswith(NOT_A_TOOLCHAIN))
