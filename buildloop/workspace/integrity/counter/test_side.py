"""Which changed files belong to the tests and their runner: what is put back for the counter-proof."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from buildloop.workspace.integrity.files import CODE, is_test, is_test_data, matches
from buildloop.workspace.integrity.gate_files import Gate, Read
from buildloop.workspace.integrity.hidden import ALWAYS_LOADED, STEERING
from buildloop.workspace.integrity.makefiles import MAKEFILES, read_makefile
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.integrity.setting_files import is_config, settings_in
from buildloop.workspace.integrity.surroundings import BUILD_FILES

# Manifests say how tests run and what the product needs: only the first part is put back (see spliced.py).
MANIFEST = re.compile(r"(?:^|/)(?:package\.json|Cargo\.toml|pyproject\.toml|setup\.cfg)$")
INSTALLED = re.compile(r"(?:^|/)(?:node_modules|site-packages)/")
# Folders of cases beside the product; they count where the gate or a test names what is in them.
CASES = re.compile(
    r"(?:^|/)(?:cases?|fixtures?|samples?|examples?|corpus|expect(?:ed|ations)?|data|inputs?|outputs?|resources)/",
    re.I,
)
# Folders of scripts that a gate walks through.
WALKED = re.compile(
    r"(?:^|/)(?:t|xt|checks?|cases?|scenarios?|features?|regress(?:ion)?|acceptance|smoke)/", re.I
)
TEST_TOOLS = frozenset("pytest _pytest nose nose2 pluggy coverage hypothesis mock tox xdist".split())
WORD = re.compile(r"[\w.*?/\[\]{}%+-]+")


@dataclass(frozen=True, slots=True)
class TestSide:
    """`told` are the texts of the start that name what they read: the gate's files and the tests."""

    gate: Gate
    read: Read
    inside: str = ""
    subject: frozenset[str] = frozenset()
    allowed: Sequence[str] = ()
    told: Sequence[str] = ()
    makefiles: frozenset[str] = field(default_factory=frozenset)

    __test__ = False

    def held(self, name: str) -> bool:
        """Whether a file that was there at the start belongs to the tests."""
        return not matches(name, self.allowed) and (
            is_test(name)
            or is_test_data(name)
            or is_config(name)
            or bool(STEERING.search(name) or INSTALLED.search(name) or BUILD_FILES.search(name))
            or name in self.makefiles
            or (name in self.gate.scripts and name not in self.subject)
            or self._is_case(name)
        )

    def steers(self, change: Change) -> bool:
        """Whether a file that is new since the start could decide what the tests say."""
        name = change.name
        if matches(name, self.allowed):
            return False
        if MANIFEST.search(name):
            return not name.endswith(("package.json", "Cargo.toml")) and bool(
                settings_in(name, change.after or "")
            )
        shim = change.mode == "100755" and posixpath.basename(name) in self.gate.programs
        return (
            self.held(name)
            or shim
            or bool(ALWAYS_LOADED.search(name))
            or name.endswith(".pth")
            or self._hides_a_module(name)
        )

    def _is_case(self, name: str) -> bool:
        """What a gate or test of the start names, or walks through by a pattern, in a folder of cases."""
        if not (WALKED.search(name) or (CASES.search(name) and not CODE.search(name))):
            return False
        short = posixpath.relpath(name, self.inside or ".")
        folder = posixpath.dirname(short)
        named = {short, posixpath.basename(name), folder, f"{folder}/"}
        return any(
            word in named or ("*" in word and posixpath.dirname(word.removeprefix("./")) == folder)
            for text in self.told
            for word in WORD.findall(text)
        )

    def _hides_a_module(self, name: str) -> bool:
        """A module where Python looks first, named like one of the library or of a test tool."""
        short = name.removeprefix(f"{self.inside}/") if self.inside else name
        first, _, rest = short.removeprefix("src/").partition("/")
        module = first.removesuffix(".py") if not rest else first
        known = module in sys.stdlib_module_names or module in TEST_TOOLS
        return known and name.endswith(".py") and (not rest or rest in ("__init__.py", "__main__.py"))


def makefiles_of(gate: Gate, *reads: Read) -> frozenset[str]:
    """Every Makefile that make would take for the gate's targets, then and now, and what they include."""
    found: set[str] = set()
    for folder in gate.targets:
        names = [posixpath.normpath(posixpath.join(folder, name)) for name in MAKEFILES]
        found.update(names)
        for text in (read(name) for read in reads for name in names):
            included: Iterable[str] = read_makefile(text).includes if text else ()
            found.update(posixpath.normpath(posixpath.join(folder, one)) for one in included)
    return frozenset(found)
