"""pip, uv, poetry, conda, tox and the interpreter itself."""

from __future__ import annotations

from buildloop.diagnosis.signs.sign import install, missing

SIGNS = (
    *missing(
        "python",
        r"(?:ModuleNotFoundError: |ImportError: |\S*python[\w.]*: (?:Error while finding module "
        r"specification for \S+ \()?)?No module named ['\"]?(?P<subject>[\w.]+)",
        r"(?:ModuleNotFoundError|ImportError): (?:Unable to import|Missing optional dependency"
        r"|Could not import) "
        r"['\"]?(?P<subject>[\w.]+)",
        r"Cannot find implementation or library stub for module named ['\"](?P<subject>[\w.]+)",
        r"(?:E0401: )?Unable to import '(?P<subject>[\w.]+)' \(import-error\)",
        r"Import \"(?P<subject>[\w.]+)\" could not be resolved",
        r"ImportError: cannot import name '[^']*' from (?:partially initialized module "
        r")?'(?P<subject>[\w.]+)'",
    ),
    *install(
        "python",
        r"No matching distribution found for ",
        r"(?:[\w.]*DistutilsError: )?Could not find suitable distribution for Requirement\.parse\(",
        r"[\w.]*PluginValidationError: Plugin '[^']+' could not be loaded",
        r"Could not find a version that satisfies the requirement ",
        r"\[?ResolutionImpossible",
        r"pip\._vendor\.\S+(?:Error|Exception): ",
        r".*HTTPSConnectionPool\(host='(?:pypi\.org|files\.pythonhosted\.org)'",
        r".*Could not solve for environment specs",
        r"nothing provides (?:requested )?\S+",
        r"Locking [Ff]ailed!",
        r"Cannot install .* because these package versions have conflicting dependencies",
        r"THESE PACKAGES DO NOT MATCH THE HASHES",
        r"Hashes are required in --require-hashes mode",
        r"In --require-hashes mode, all requirements must have their versions pinned",
        r"Could not build wheels for ",
        r"Microsoft Visual C\+\+ [\d.]+ (?:or greater )?is required",
        r"command '[\w.+/-]+' failed: No such file or directory",
        r"unable to execute '[\w.+/-]+': No such file or directory",
        r"[\w-]+ executable not found",
        r"Failed building wheel for ",
        r"Failed to build installable wheels for ",
        r"metadata-generation-failed",
        r"Package '?[\w.-]+'? requires a different Python:",
        r"Could not install packages due to an OSError: .*(?:HTTP|Connection|Max retries|No matching)",
        r"Could not fetch URL https?://",
        r"[\w.-]+ [\w.]+ has requirement .*, but you have ",
        r"[\w.-]+ [\w.]+ requires [\w.-]+, which is not installed",
        r"[\w.-]+ [\w.]+ requires [\w.\[\]-]+[<>=!~].*, but you have ",
        r"externally-managed-environment",
        r"No solution found when resolving ",
        r"The requested interpreter resolved to Python .* incompatible with the project's Python requirement",
        r"No interpreter found for ",
        r"The lockfile at `uv\.lock` needs to be updated",
        r"Unable to find lockfile at `uv\.lock`",
        r"Failed to (?:download|fetch|build)(?::| `)",
        r"The currently activated Python version [\w.]+ is not supported by the project",
        r"Current Python version \([\w.]+\) is not allowed by the project",
        r"Because .* depends on .*, version solving failed",
        r"Because .* (?:doesn't match any versions|requires|depends on) .*\bversion solving failed",
        r".*\bversion solving failed\.?$",
        r"Cannot uninstall '[\w.-]+'",
        r"pyproject\.toml changed significantly since poetry\.lock was last generated",
        r"poetry\.lock is not up to date with pyproject\.toml",
        r"The current project's (?:supported )?Python (?:requirement|version) \(?.*(?:is not compatible"
        r"|not allowed)",
        r"Unable to find installation candidates for ",
        r"(?:PackagesNotFoundError|ResolvePackageNotFound|UnsatisfiableError|LibMambaUnsatisfiableError):",
        r"could not find interpreter (?:for|matching) ",
        r"(?:InterpreterNotFound|Skipped due to missing interpreter"
        r"|skipped because could not find python interpreter)",
        r"ERROR: InterpreterNotFound",
        r"(?:pkg_resources\.|importlib\.metadata\.)?(?:DistributionNotFound|PackageNotFoundError): ",
        r"(?:pkg_resources\.)?(?:Contextual)?VersionConflict: \(",
        r"(?:pipenv\.exceptions\.)?ResolutionFailure:",
        r"Your Pipfile\.lock \([^)]*\) is out of date",
        r"ImportError: lib[\w.+-]+\.so[\w.]*: cannot open shared object file",
        r"ImportError: /.*: version `[\w.]+' not found",
        r"ImportError: .*(?:numpy\.core\.multiarray failed to import|undefined symbol: )",
        r"OSError: lib[\w.+-]+\.so[\w.]*: cannot open shared object file",
        r"OSError: (?:cannot load library|no library called) ",
        r"pydantic\.errors\.PydanticImportError: ",
        r"async def functions are not natively supported",
        r"pytest: error: unrecognized arguments: --(?:cov|timeout|asyncio-mode|reruns|forked|dist"
        r"|numprocesses|benchmark)",
        r"unrecognized arguments: .*--(?:cov|timeout|asyncio-mode|reruns|forked|dist|numprocesses"
        r"|benchmark|ds|snapshot)",
        r"Missing required plugins: ",
        r"(?:[\w.]+\.)?ImproperlyConfigured: Error loading (?:psycopg2?|MySQLdb|cx_Oracle|oracledb)\b",
    ),
)
