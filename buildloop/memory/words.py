"""The text of a failure made comparable: what differs from run to run is masked, the rest becomes search words."""

from __future__ import annotations

from collections.abc import Iterable

from buildloop.diagnosis.fingerprint import identity
from buildloop.diagnosis.known_packages import words
from buildloop.diagnosis.model import Finding
from buildloop.patterns import Regex
from buildloop.text import plain_text

MESSAGE_CHARS = 400
TEST_CHARS = 200
WORD_CHARS = 40
MOST_WORDS = 32
QUERY_LINES = 20
QUERY_CHARS = 4000
MASKED = Regex(r"<[a-z]+>")
WORD = Regex(r"\w+")
# Too short to tell anything apart, and too frequent to be worth a posting.
FILLERS = words(
    "the and for not with this that from was were are but has had have its into been than then when "
    "at by in is it of on or to an as be if no so"
)


def message_of(finding: Finding) -> str:
    """What the failure says, normalised, type first."""
    said = finding.message or (finding.lines[0] if finding.lines else "")
    typed = f"{finding.type}: {said}" if finding.type and finding.type not in said else said
    return identity(storable(typed[:QUERY_CHARS]))[:MESSAGE_CHARS]


def test_of(finding: Finding) -> str:
    return storable(finding.test or finding.file or "")[:TEST_CHARS]


def storable(text: str) -> str:
    """Text that every database takes: no control characters, no halves of characters."""
    return plain_text(text).encode("utf-8", "replace").decode("utf-8")


def search_words(*texts: str) -> tuple[str, ...]:
    """Distinct words in order. Letters, digits and underscores only: nothing here can be query syntax."""
    return tuple(dict.fromkeys(word[:WORD_CHARS] for word in _raw_words(texts) if _tells(word)))[:MOST_WORDS]


def words_among(wanted: frozenset[str], *texts: str) -> frozenset[str]:
    """Which of these (search) words a text has: quicker than to make all of its own."""
    return wanted.intersection(word[:WORD_CHARS] for word in _raw_words(texts))


def index_words(repo: int, test: str, message: str) -> tuple[str, ...]:
    """What a stored failure is found by: its words as they are for a search in all repositories, and marked with
    the number of its own for a search in that. The bare mark counts the repository's failures."""
    found = search_words(test, message)
    return (*found, scoped(repo, ""), *(scoped(repo, word) for word in found))


def scoped(repo: int, word: str) -> str:
    """The colon is in no word, so no text of a failure can pose as another repository's."""
    return f"{repo}:{word}"


def query_words(lines: Iterable[str]) -> tuple[str, ...]:
    """The search words of an error as it stands in a log."""
    kept = [line for line in lines if line.strip()][:QUERY_LINES]
    return search_words(*(identity(plain_text(line[:QUERY_CHARS])) for line in kept))


def _raw_words(texts: Iterable[str]) -> list[str]:
    return WORD.findall(MASKED.sub(" ", "\n".join(texts)).lower())


def _tells(word: str) -> bool:
    size = len(word)
    return size > 2 or (size == 2 and not word.isdigit()) if word not in FILLERS else False
