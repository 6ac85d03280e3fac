"""Commands, shells, package managers of the system, containers, networks."""

from __future__ import annotations

from buildloop.diagnosis.signs.sign import install, missing

SIGNS = (
    *missing(
        "command",
        r"(?:\S*\b(?:ba|z|da|a|k)?sh(?:\.exe)?: )?(?:\S+: )?(?:line \d+: "
        r"|\d+: )?(?:[Cc]ommand not found: )(?P<subject>\S+)",
        r"Unable to access jarfile (?P<subject>\S+)",
        r"Failed to spawn: `(?P<subject>[^`]+)`",
        r"the command (?P<subject>\S+) could not be found within PATH",
        r"The term '(?P<subject>[^']+)' is not recognized as ",
        r"(?:\S+: )?(?:line \d+: |\d+: )?(?P<subject>[^\s:]+): (?:command )?not found$",
        r"(?:\S+: )?(?:line \d+: )?(?:exec: )?(?P<subject>[^\s:]+): (?:command )?not found$",
        r"make(?:\[\d+\])?: (?P<subject>[^\s:]+): No such file or directory",
        r"(?:\S*/)?env: [‘'\"]?(?P<subject>[^\s’'\":]+)[’'\"]?: No such file or directory",
        r".*\bexec: \"(?P<subject>[^\"]+)\": executable file not found in \$?%?PATH",
        r"(?:Error: )?spawn (?P<subject>\S+) ENOENT",
        r"(?:FileNotFoundError|NotADirectoryError|PermissionError): \[(?:Errno 2"
        r"|WinError 2)\] [^:]+: '(?P<subject>[\w.+-]+)'$",
        r"(?:Errno::ENOENT: )?No such file or directory - (?P<subject>[\w.+-]+)$",
        r".*: (?P<subject>/usr/\S+|/bin/\S+): bad interpreter: No such file or directory",
        r".*\bNo such file or directory:? .*['\"](?P<subject>/usr/(?:lib|share|include|bin"
        r"|local)/[^'\"]+)['\"]",
        r"'?(?P<subject>[^\s']+)'? is not recognized as (?:an internal or external command"
        r"|the name of a cmdlet)",
        r"(?:Cannot run program|error=2, .*program) \"(?P<subject>[^\"]+)\"",
        r"(?:The program|Command|command) '(?P<subject>[\w.+-]+)' (?:not found|is currently not installed"
        r"|could not be found)",
        r"(?P<subject>protoc-gen-\w+): program not found or is not executable",
        r"(?:\w+: )?Could not find ['\"](?P<subject>/usr/(?:local/)?(?:lib|share)/[^'\"]+)['\"]",
    ),
    *missing("script", r"(?:ERR_PNPM_\w+ +)?Command \"(?P<subject>[\w.@/:-]+)\" not found"),
    *install(
        "system",
        r"E: (?:Unable to locate package|Package '[^']+' has no installation candidate|Failed to fetch"
        r"|Unable to (?:fetch|correct)"
        r"|Version '[^']+' for '[^']+' was not found|The repository '.*' (?:does not have|is not signed)"
        r"|Couldn't find any package)",
        r"The following packages have unmet dependencies",
        r"The command \"(?:eval )?(?:sudo )?(?:npm|yarn|pnpm|bundle|gem|composer|apt-get|apt|brew|conda"
        r"|pip3?|cpanm?) .*\" failed and exited with",
        r"The command \"(?:eval )?(?:sudo )?(?:npm|yarn|pnpm|bundle|gem|composer|apt-get|apt|brew|conda"
        r"|pip3?|cpanm?) .*\" failed 3 times",
        r"curl: \((?:6|7|22|28|35|56|60)\) ",
        r"wget: unable to resolve host address ",
        r"fatal: (?:unable to access 'https?://|repository '[^']+' not found"
        r"|Could not read from remote repository)",
        r".*toomanyrequests: You have reached your ",
        r"(?:Package|No package) '?[\w.+-]+'? (?:available|is not available, but is referred to)",
        r"No package \S+ available",
        r"(?:Error: )?Unable to find a match: ",
        r"(?:Error: )?Failed to download metadata for repo ",
        r"unable to select packages:",
        r"(?:Error: )?No (?:available formula|formulae? found|such keg)\b",
        r"error: target not found: ",
        r"xcrun: error: (?:invalid active developer path|unable to find utility)",
        r"(?:Error response from daemon: )?(?:pull access denied for|manifest for \S+ not found"
        r"|manifest unknown)",
        r"(?:Error response from daemon: )?Get \"https://registry",
        r"(?:ERROR: )?failed to solve: .*(?:failed to resolve source metadata|not found|pull access denied)",
        r"(?:ERROR: )?Cannot connect to the Docker daemon at ",
        r"(?:docker: )?permission denied while trying to connect to the Docker daemon socket",
        r"Failed to query available provider packages",
        r"(?:Error: )?Inconsistent dependency lock file",
        r"(?:Error: )?Unsupported Terraform Core version",
        r"Could not execute because the specified command or file was not found",
        r"asdf: No version is set for command ",
        r"No (?:preset )?version (?:is )?(?:set|installed) for (?:command|plugin) ",
        r"(?:pyenv|rbenv|nodenv|goenv): version [`'\"]?[\w.-]+['\"]? is not installed",
        r"(?:N/A: )?version \"[\w./v-]+\" is not yet installed",
        r"The following (?:actions|hooks) .*could not be (?:resolved|installed)",
        r"An unexpected error has occurred: CalledProcessError: command: .*(?:pip|npm|git).*install",
        r"(?:Error: )?Unable to resolve action `",
        r"\[.*\] ?pre-commit .*not found",
        r"cannot open shared object file: No such file or directory",
        r"(?:selenium\.common\.exceptions\.)?(?:SessionNotCreatedException"
        r"|session not created): .*(?:only supports|cannot find)",
        r"(?:.*\.)?NoSuchDriverException: ",
    ),
)
