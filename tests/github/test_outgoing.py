"""No secret leaves in any corner of what a push would send, and what the other side has is no reason to refuse."""

from __future__ import annotations

import pytest

from buildloop.github.outgoing import secret_in
from buildloop.redact import redactor
from tests.support.repos import commit_all, git, write_files

pytestmark = pytest.mark.slow
SECRET = "sk-" + "a1" * 20
MASK = redactor({})
WHO = ("-c", "user.name=t", "-c", "user.email=t@localhost")


def found(repo, *known: str) -> str | None:
    return secret_in(repo, "HEAD", known, MASK)


def commit(repo, files: dict[str, str], message: str = "work") -> str:
    write_files(repo, files)
    return commit_all(repo, message)


def in_attributes(repo):
    commit(repo, {".gitattributes": "*.cfg -diff binary\n", "app.cfg": f"key={SECRET}\n"})
    return "app.cfg"


def behind_a_driver(repo):
    git(repo, "config", "diff.quiet.command", "true")
    git(repo, "config", "diff.quiet.textconv", "true")
    commit(repo, {".gitattributes": "* diff=quiet\n", "app.cfg": f"key={SECRET}\n"})
    return "app.cfg"


def beside_empty_bytes(repo):
    (repo / "app.bin").write_bytes(b"\0\0" + SECRET.encode() + b"\0")
    commit(repo, {})
    return "app.bin"


def in_two_bytes_a_character(repo):
    (repo / "app.txt").write_bytes(f"first\nkey={SECRET}\n".encode("utf-16"))
    commit(repo, {})
    return "app.txt"


def in_a_line_like_a_header(repo):
    commit(repo, {"app.txt": f"++ b/{SECRET}\n@@ -0,0 +1 @@\n"})
    return "app.txt"


def after_a_carriage_return(repo):
    (repo / "app.txt").write_bytes(f"fine\r{SECRET}\x0b{SECRET}\n".encode())
    commit(repo, {})
    return "app.txt"


def in_a_message(repo):
    commit(repo, {"a.txt": "x"}, f"works with {SECRET}")
    return "message"


def in_a_name(repo):
    commit(repo, {f"{SECRET}/empty": ""})
    return "[masked]"


def in_what_a_later_commit_took_out(repo):
    commit(repo, {".env": SECRET})
    git(repo, "rm", "-q", ".env")
    commit(repo, {"a.txt": "x"})
    return ".env"


def in_a_merge(repo):
    git(repo, "checkout", "-q", "-b", "other")
    commit(repo, {"a.txt": "x"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"b.txt": "x"})
    git(repo, *WHO, "merge", "-q", "--no-commit", "--no-ff", "other")
    commit(repo, {"lib/merged.txt": SECRET}, "merged")
    return "lib/merged.txt"


def below_a_replaced_commit(repo):
    clean = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a.txt": SECRET})
    git(repo, "replace", git(repo, "rev-parse", "HEAD"), clean)
    return "a.txt"


@pytest.mark.parametrize(
    "hide",
    [
        in_attributes,
        behind_a_driver,
        beside_empty_bytes,
        in_two_bytes_a_character,
        in_a_line_like_a_header,
        after_a_carriage_return,
        in_a_message,
        in_a_name,
        in_what_a_later_commit_took_out,
        in_a_merge,
        below_a_replaced_commit,
    ],
)
def test_a_secret_is_found_wherever_it_is(repo, hide):
    start = git(repo, "rev-parse", "HEAD")
    assert found(repo) is None
    assert hide(repo) in (found(repo, start) or "")


def test_what_the_other_side_has_is_not_looked_at_again(repo):
    """Nor when a merge brings it in; a commit that only the other side has does not disturb."""
    old = commit(repo, {"fixture.txt": SECRET})
    git(repo, "checkout", "-q", "-b", "work", "HEAD~1")
    commit(repo, {"a.txt": "x"})
    git(repo, *WHO, "merge", "-q", "--no-edit", "main")
    git(repo, "mv", "fixture.txt", "moved.txt")
    commit(repo, {}, "moved")
    assert found(repo) is not None
    assert found(repo, old, "0123456789" * 4) is None
