"""Compilers, linkers and build systems of C and C++, cargo, go."""

from __future__ import annotations

from buildloop.diagnosis.signs.sign import install, missing

SIGNS = (
    *missing(
        "c",
        r"(?P<subject>[\w./+-]+\.(?:h|hh|hpp|hxx|H|inc|ipp)): No such file or directory",
        r"'(?P<subject>[\w./+-]+)' file not found",
        r"fatal error: (?P<subject>[\w./+-]+): No such file or directory$",
        r"Cannot open include file: '(?P<subject>[^']+)'",
    ),
    *install(
        "c",
        r"(?:\S*\bld(?:\.\w+)?: |\S*collect2: |rust-lld: error: )?(?:cannot find -l|unable to find library -l"
        r"|library not found for -l|library '[^']+' not found)",
        r".*\b(?:ld|lld)(?:\.\w+)?: (?:error: )?(?:cannot find -l|unable to find library -l"
        r"|library not found for -l|cannot find \w*crt)",
        r"LINK : fatal error LNK1(?:104|181): cannot open (?:input )?file '[\w.-]+\.lib'",
        r"\S*: error while loading shared libraries: ",
        r"error while loading shared libraries: ",
        r".*: version `(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found",
        r"(?:dyld(?:\[\d+\])?: )?Library not loaded: ",
        r"CMake [\d.]+ or higher is required",
        r"Could NOT find ",
        r"Could not find a package configuration file provided by ",
        r"By not providing \"Find\w+\.cmake\"",
        r"No CMAKE_\w+_COMPILER could be found",
        r"CMAKE_\w+_COMPILER not set, after EnableLanguage",
        r"The CMAKE_\w+_COMPILER:?$",
        r"CMake was unable to find a build program corresponding to ",
        r"(?:Package|Package ')[\w.+-]+'?,? (?:was )?not found(?: in the pkg-config search path|$)",
        r"No package '[\w.+-]+' found",
        r"The following required packages were not found:",
        r"None of the required '[^']+' found",
        r"Package requirements \(.*\) were not met",
        r"A required package was not found",
        r"configure: error: (?:.*\bnot found\b|.*\bis required\b|no acceptable C compiler|.*\b(?:library"
        r"|headers?) (?:is |are )?missing"
        r"|C\+?\+? ?compiler cannot create executables|.*\bcould not (?:find|be found)|cannot find "
        r"|Cannot find |unable to find )",
        r"(?:\S+meson\.build:\d+:\d+: )?ERROR: (?:Dependency|C(?:\+\+)? (?:shared or static )?library"
        r"|Program) ['\"].*['\"] not found",
        r"(?:Dependency|Program) ['\"].*['\"] not found(?: or not executable|, tried|$)",
        r"(?:\S+meson\.build:\d+:\d+: )?ERROR: (?:Meson version is .* but project requires"
        r"|\w+ program not found)",
        r"(?:Meson version is [\d.]+ but project requires|Git program not found)",
        r"configure: error: .*(?:[Pp]lease install|or (?:better|greater|newer|higher|later) is required"
        r"|need to install|must be installed)",
        r"Unknown compiler\(s\): ",
        r".*unrecognized command[- ]line option ['‘\"“]-std=",
        r"invalid value '[^']*' in '-std=",
        r"(?:Conan|conans?)\b.*(?:Unable to find|Package '.*' not resolved|Missing (?:prebuilt|binary))",
        r"Missing prebuilt package for ",
        r"no such package '@[\w.+~-]+//",
        r"Error downloading \[https?://",
        r".*\bvcpkg install failed",
    ),
    *missing(
        "rust",
        r"error\[E043[23]\]: unresolved import `(?P<subject>[\w:]+)",
        r"error\[E0433\]: (?:failed to resolve: )?(?:use of undeclared crate or module"
        r"|use of unresolved module or unlinked crate"
        r"|cannot find module or crate|maybe a missing crate) `(?P<subject>\w+)`",
        r"error\[E0463\]: can't find crate for `(?P<subject>\w+)`",
    ),
    *install(
        "rust",
        r"failed to (?:get|load source for dependency|select a version for|download|resolve patches|fetch"
        r"|parse lock file"
        r"|query replaced source|update registry|verify the checksum) ?",
        r"no matching package(?:s)? (?:named|found)",
        r"rustc [\d.]+(?:-\w+)? is not supported by the following packages",
        r"package `[^`]+` (?:cannot be built because it requires rustc|requires `?rustc)",
        r"cannot update the lock file ",
        r"the lock file .* needs to be updated but --locked was passed",
        r"could not find native (?:static )?library `",
        r"lock file version `?\d+`? (?:was found|requires)",
        r"feature `edition20\d\d` is required",
        r"failed to run custom build command for `",
        r"(?:error: )?linker `\w+` not found",
        r"checksum for `[^`]+` changed between lock files",
        r"no such (?:sub)?command: `[\w-]+`",
        r"toolchain '[^']+' is not installed",
        r"can't find crate for `(?:std|core)`",
        r"the `[^`]+` target may not be installed",
        r"package `[^`]+` depends on `[^`]+`,? with features: .* but `[^`]+` does not have these features",
        r"the package `[^`]+` (?:links to the native library|depends on `[^`]+`)",
    ),
    *missing(
        "go",
        r"no required module provides package (?P<subject>[^\s;:]+)",
        r"cannot find module providing package (?P<subject>[^\s;:]+)",
        r"package (?P<subject>\S+) is not in (?:GOROOT|std)",
        r"cannot find package \"(?P<subject>[^\"]+)\" in",
        r"module (?P<subject>\S+) provides package \S+ and is replaced but not required",
        r"could not import (?P<subject>\S+) \(",
    ),
    *install(
        "go",
        r".*missing go\.sum entry for ",
        r"(?:go: )?updates to go\.(?:mod|sum) needed",
        r"(?:go: )?inconsistent vendoring in ",
        r"(?:go: )?.*\brequires go ?>= ?[\d.]+ \(running go ",
        r"note: module requires Go [\d.]+",
        r"(?:go: )?.*: invalid go version '",
        r"(?:go: )?unknown directive: (?:toolchain|godebug)",
        r"(?:go: )?verifying \S+: (?:checksum mismatch|\S+ reading)",
        r"SECURITY ERROR",
        r"checksum mismatch",
        r"(?:go: )?\S+@\S+: (?:unrecognized import path|invalid version|reading |Get \"https?://|git "
        r"|verifying )",
        r"(?:go: )?module \S+: (?:reading |Get \"https?://|git |not a known dependency|no matching versions)",
        r"(?:go: )?.*\b(?:no matching versions for query|unknown revision"
        r"|module lookup disabled by GOPROXY|dial tcp: lookup proxy\.golang\.org)",
        r"(?:go: )?download(?:ing)? go[\d.]+ .*(?:failed|toolchain not available)",
        r"(?:go: )?cannot (?:use|download) .*toolchain",
        r"(?:# )?\S*: exec: \"(?:gcc|g\+\+|clang|pkg-config)\": executable file not found in \$PATH",
        r"pkg-config: exec: ",
    ),
)
