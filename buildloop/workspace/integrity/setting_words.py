"""The words of runners' settings, by what they do to the set of tests."""

from __future__ import annotations

# What a runner's setting means for the set of tests. Names are compared without case, dashes and underscores.
INCLUDES = frozenset(
    "members defaultmembers testpaths testmatch testregex include includes roots spec specs projects pythonfiles pythonclasses pythonfunctions testdir files testfiles suites workspace".split()
)
EXCLUDES = frozenset(
    "testpathignorepatterns modulepathignorepatterns exclude excludes norecursedirs collectignore collectignoreglob ignore ignores testignore deselect excludegroup omit watchpathignorepatterns".split()
)
THRESHOLDS = frozenset("failunder lines branches functions statements minimumcoverage checkcoverage".split())
FIXED = frozenset(
    "testnamepattern testrunner runner resolver grep fgrep invert passwithnotests allowonly bail testfailureexitcode forbidonly forbidpending xfailstrict emptyparametersetmark  "
    "usefixtures onlychanged updatesnapshot update dangerouslyignoreunhandlederrors test harness autotests doctest rustcwrapper nodeoptions scriptshell shell ignorescripts "
    "addopts opts retries failzero strict errorondeprecated addoptions stoponfailure globalsetup dryrun".split()
)
JUDGES = frozenset(
    "transform runner testrunner testenvironment environment resolver snapshotresolver testsequencer testresultsprocessor prettierpath".split()
)
MAPPINGS = frozenset({"modulenamemapper", "alias"})
