"""apt, apk, dnf, brew, bundler, gem, composer, CocoaPods, cpan, hex, docker registries."""

from __future__ import annotations

from buildloop.gate.parsers.report import Lines, Rank, ToolReport
from buildloop.gate.parsers.said import read_sentences, sentences

TABLE = sentences(
    ("git merge", "conflict", r"(?P<message>CONFLICT \(.*\): .*)"),
    (
        "apt",
        "install",
        r"E: (?P<message>(?:Unable to locate|Package|Version|Couldn't find|Could not get lock"
        r"|Unable to (?:fetch|acquire|lock|correct)|Failed to fetch|The repository|Sub-process"
        r"|You don't have|Some index|Unmet|Release|Broken|Held|dpkg|Method|Internal|Conflicting).*)",
    ),
    ("apt", "network", r"Err:\d+ (?P<message>.*)", Rank.CAUSE, 2),
    ("apt", "install", r"dpkg: (?:error|dependency problems).*"),
    ("apk", "install", r"ERROR: (?P<message>unable to select packages.*)", Rank.CAUSE, 3),
    (
        "dnf",
        "install",
        r"(?:Error|No match for argument|No package): ?(?P<message>(?:Unable to find a match"
        r"|Failed to download|\S+ available|Cannot find).*)|Error: Unable to find a match.*",
        Rank.CAUSE,
        2,
    ),
    (
        "brew",
        "install",
        r"Error: (?P<message>(?:No (?:available formula|formulae|similarly)|\S+: (?:no bottle"
        r"|unsatisfied)).*)",
    ),
    (
        "bundler",
        "resolve",
        r"(?P<message>(?:Could not find (?:gem |compatible versions|\S+-\d\S* in)|Bundler could not find"
        r"|Bundler::\w+|Your Ruby version is|Your bundle is locked|You are trying to install in deployment"
        r"|The gemspec|Because every version of|So, because|The bundle currently has"
        r"|The dependencies in your gemfile|Some gems seem to be missing|Your lockfile|Could not reach host"
        r"|Network error while fetching|Gem::\w+: ).*)",
        Rank.CAUSE,
        3,
    ),
    (
        "bundler",
        "build",
        r"(?P<message>(?:An error occurred while installing|Gem::Ext::BuildError"
        r"|ERROR: Failed to build gem native extension).*)",
        Rank.CAUSE,
        2,
    ),
    ("bundler", "command", r"bundler: (?P<message>(?:failed to load command|command not found): .*)"),
    (
        "gem",
        "install",
        r"ERROR:  (?P<message>(?:Could not find|While executing|Error installing|Possible alternatives).*)",
        Rank.CAUSE,
        2,
    ),
    (
        "composer",
        "resolve",
        r"\s*(?P<message>(?:Your requirements could not be resolved|Your lock file does not contain"
        r"|The lock file is not up to date|- (?:Root composer\.json requires|Required package)).*)",
        Rank.CAUSE,
        6,
    ),
    (
        "composer",
        "php",
        r"\s+- (?P<message>.*(?:requires php|requires ext-|your php version"
        r"|could not be found in any version).*)",
    ),
    (
        "cocoapods",
        "resolve",
        r"\[!\] (?P<message>(?:Unable to find|CocoaPods could not find|The sandbox is not|No podspec).*)",
        Rank.CAUSE,
        3,
    ),
    ("cpan", "install", r"! (?P<message>(?:Finding|Couldn't find|Installing|Configure|Testing|Bailing).*)"),
    (
        "hex",
        "resolve",
        r"(?:\*\* \(Mix\) (?P<message>.*(?:Hex dependency|Unknown package|dependencies).*)"
        r"|Unchecked dependencies for environment.*|Failed to use \".*)",
        Rank.CAUSE,
        3,
    ),
    (
        "docker",
        "pull",
        r"(?:ERROR|Error)(?: response from daemon)?:? (?P<message>(?:pull access denied|manifest for"
        r"|manifest unknown|failed to (?:resolve|authorize)|Get \"?https|toomanyrequests|No such image).*)",
    ),
    (
        "git",
        "remote",
        r"(?:fatal|error|remote): (?P<message>(?:unable to access|could not read|Could not read"
        r"|Authentication failed|repository .* (?:not found|does not exist)|Repository not found"
        r"|couldn't find remote ref|Couldn't find remote|Remote branch|not a git repository"
        r"|unable to connect|early EOF|the remote end hung|reference is not a tree"
        r"|No url found for submodule|pathspec|ambiguous argument|refusing to merge|clone of).*)",
    ),
)


def parse(lines: Lines) -> ToolReport:
    return read_sentences(lines, TABLE)
