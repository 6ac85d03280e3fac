"""What counts as a secret, and what must stay readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from buildloop.redact import MASK, redactor
from tests.fuzz.limits import within


@pytest.mark.parametrize(
    "name", ["API_KEY", "GITHUB_TOKEN", "db_password", "AWS_SECRET_ACCESS_KEY", "MyCredentials"]
)
def test_values_of_secret_looking_variables_are_masked(name):
    assert redactor({name: "s3cret-value"})("it is s3cret-value!") == f"it is {MASK}!"


def test_ordinary_variables_are_not_masked():
    mask = redactor({"HOME": "/home/someone", "LANG": "en_US.UTF-8"})
    assert mask("in /home/someone with en_US.UTF-8") == "in /home/someone with en_US.UTF-8"


def test_the_address_of_memory_is_a_secret_if_it_holds_one():
    for url in ("postgresql://u:hunter22-x@h/d", "postgresql://h/d?user=u&password=hunter22-x"):
        mask = redactor({"BUILDLOOP_MEMORY_URL": url})
        assert "hunter22-x" not in mask(f"cannot connect to {url} with hunter22-x")
    for harmless in ("postgresql://host/team", "notes/memory.db", "sqlite:///notes/memory.db"):
        assert redactor({"BUILDLOOP_MEMORY_URL": harmless})(f"at {harmless}") == f"at {harmless}"


def test_short_values_are_left_alone():
    """A password of 'test' would mask half of every log."""
    assert redactor({"PASSWORD": "test"})("tests passed") == "tests passed"


def test_a_value_is_text_and_not_a_pattern():
    mask = redactor({"TOKEN": "a.b*c(d)[e"})
    assert mask("a.b*c(d)[e aXbbc(d)[e") == f"{MASK} aXbbc(d)[e"


def test_the_longest_value_wins_where_one_contains_another():
    mask = redactor({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefgh-ijklmnop"})
    assert mask("abcdefgh-ijklmnop") == MASK


@pytest.mark.parametrize(
    "token",
    [
        "sk-" + "a1" * 15,
        "sk-ant-" + "b2" * 15,
        "ghp_" + "C3" * 18,
        "github_pat_" + "d4" * 25,
        "glpat-" + "e5" * 12,
        "xoxb-" + "1234567890-ab",
        "AKIA" + "ABCDEFGHIJ234567",
        "AIza" + "f" * 35,
        "eyJ" + "h" * 12 + ".eyJ" + "i" * 12 + "." + "j" * 12,
    ],
)
def test_tokens_are_known_by_their_shape(token):
    assert redactor({})(f"Authorization: Bearer {token}\n") == f"Authorization: Bearer {MASK}\n"


@given(
    st.text(), st.text(alphabet=st.characters(categories=["L", "N", "P"]), min_size=8, max_size=40), st.text()
)
def test_a_known_value_never_survives(before, secret, after):
    assert secret not in redactor({"TOKEN": secret})(before + secret + after).replace(MASK, "\0")


def test_each_line_of_a_key_file_is_masked():
    """Output comes line by line, so the value as a whole is never seen."""
    key = "-----BEGIN KEY-----\n" + "\n".join(letter * 64 for letter in "abc") + "\n-----END KEY-----\n"
    mask = redactor({"DEPLOY_PRIVATE_KEY": key})
    assert [mask(line) for line in key.splitlines()[1:-1]] == [MASK] * 3


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("DB_PASS", "hunter2hunter2", "hunter2hunter2"),
        ("SSHPASS", "longpassword1", "longpassword1"),
        ("RAILS_MASTER_KEY", "0f1e2d3c4b5a6978", "0f1e2d3c4b5a6978"),
        ("AZURE_STORAGE_KEY", "abcd1234efgh5678", "abcd1234efgh5678"),
        ("STRIPE_KEY", "rnd-9f8e7d6c5b4a", "rnd-9f8e7d6c5b4a"),
        ("OPENAI_KEY", "azurekey01234567", "azurekey01234567"),
        ("SENTRY_AUTH", "abcd1234efgh5678", "abcd1234efgh5678"),
        ("NPM_CONFIG__AUTH", "dXNlcjpwYXNzd29yZDEyMw==", "password123"),
        ("DOCKER_AUTH_CONFIG", '{"auths":{"r":{"auth":"dXNlcjpwYXNzd29yZDEyMw=="}}}', "password123"),
        ("COMPOSER_AUTH", '{"github-oauth":{"github.com":"a1b2c3d4e5f60718"}}', "a1b2c3d4e5f60718"),
        ("PIP_INDEX_URL", "https://user:pa55w0rdlong@index.corp/simple", "pa55w0rdlong"),
        ("CHAT_WEBHOOK_URL", "https://chat.corp/hooks/12/Ab3dEfGhIjKlMnOpQrSt9", "Ab3dEfGhIjKlMnOpQrSt9"),
        ("API_TOKEN_URL", "https://h/x?access_token=abcdef123456789", "abcdef123456789"),
        ("SIGNED_SECRET", "https://h/p?sig=abcdef1234567890", "abcdef1234567890"),
    ],
)
def test_more_names_and_the_secret_within_a_longer_value(name, value, secret):
    mask = redactor({name: value})
    assert mask(f"<{secret}>") == f"<{MASK}>"
    assert secret not in mask(f"it is {value}")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TOKEN_URL", "https://accounts.example.org/oauth2/v4/token"),
        ("DATABASE_URL", "sqlite:////srv/projects/2024-12-shop-backend-01/shop.db"),
        ("SSH_PUBLIC_KEY", "ssh-ed25519 AAAAC3Nza"),
    ],
)
def test_what_a_secret_sounding_name_holds_may_be_harmless(name, value):
    assert redactor({name: value})(f"at {value}") == f"at {value}"


@pytest.mark.parametrize(
    "spelled", ["abc&amp;d/f&lt;g&quot;1&#39;2", "abc&amp;d/f&lt;g\"1'2", "abc&d\\/f<g\\\"1'2"]
)
def test_a_value_is_known_as_xml_and_json_spell_it(spelled):
    assert redactor({"DB_PASSWORD": "abc&d/f<g\"1'2"})(f"x {spelled}") == f"x {MASK}"


def test_words_that_end_like_the_beginning_of_a_key_stay():
    text = "pytest -k task-with-quite-a-long-name disk-usage-of-the-whole-machine"
    assert redactor({})(text) == text


@pytest.mark.parametrize("text", ["eyJ" * 40_000, "-----BEGIN PRIVATE KEY-----\n" * 20_000, "SG." * 40_000])
def test_masking_takes_time_in_proportion(text):
    with within(3.0):
        assert len(redactor({})(text)) <= len(text)
