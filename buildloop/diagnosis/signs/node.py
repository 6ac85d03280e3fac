"""npm, pnpm, yarn, bun, deno and the resolvers of Node's runners, compilers and bundlers."""

from __future__ import annotations

from buildloop.diagnosis.signs.sign import install, missing

SIGNS = (
    *missing(
        "node",
        r"(?:Error(?: \[ERR_MODULE_NOT_FOUND\])?: )?Cannot find (?:module"
        r"|package) ['\"](?P<subject>[^'\"]+)['\"]",
        r"error TS2307: Cannot find module '(?P<subject>[^']+)'",
        r"error TS7016: Could not find a declaration file for module '(?P<subject>[^']+)'",
        r"(?:Module not found: )?(?:Error: )?Can't resolve '(?P<subject>[^']+)' in '",
        r"Failed to load url (?P<subject>\S+) \(resolved id: ",
        r"Failed to resolve import \"(?P<subject>[^\"]+)\" from ",
        r"Failed to resolve entry for package \"(?P<subject>[^\"]+)\"",
        r"(?:\[vite\]: )?Rollup failed to resolve import \"(?P<subject>[^\"]+)\"",
        r"Could not resolve (?:import )?['\"](?P<subject>[^'\"]+)['\"]",
        r"Unable to resolve path to module '(?P<subject>[^']+)'",
        r"Unable to resolve module (?P<subject>[^\s`]+) from ",
        r"Module (?P<subject>\S+) in the \w+ option was not found",
        r"Relative import path \"(?P<subject>[^\"]+)\" not prefixed with ",
    ),
    *install(
        "node",
        r"npm (?:error|ERR!) code (?:E404|ERESOLVE|ETARGET|EBADENGINE|EINTEGRITY|EUSAGE|ENOTFOUND"
        r"|EAI_AGAIN|ECONNREFUSED"
        r"|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|E401|E403|E5\d\d|EBADPLATFORM|ENOTCACHED|ENOVERSIONS"
        r"|EPEERINVALID"
        r"|ELSPROBLEMS|EUNSUPPORTEDPROTOCOL|EMISSINGARG|ENOLOCK|ERR_INVALID_URL|CERT_\w+|UNABLE_TO_\w+"
        r"|SELF_SIGNED\w+)",
        r"npm (?:error|ERR!) (?:notarget|peer dep|Could not resolve dependency|missing:|invalid:|network "
        r"|gyp ERR)",
        r"npm (?:error|ERR!) The `npm ci` command can only install with an existing package-lock\.json",
        r"ERR_PNPM_(?!RECURSIVE|NO_SCRIPT|JSON|NO_IMPORTER|INVALID_W|BAD_PACKAGE)\w+",
        r".*\bERR_PNPM_(?:OUTDATED_LOCKFILE|NO_MATCHING_VERSION|FETCH_\d+|PEER_DEP_ISSUES"
        r"|UNSUPPORTED_ENGINE|META_FETCH_FAIL"
        r"|NO_LOCKFILE|TARBALL_INTEGRITY|LOCKFILE_\w+|FROZEN_LOCKFILE\w*|NO_OFFLINE_\w+|REGISTRIES_MISMATCH)",
        r"Couldn't find package \"[^\"]+\" (?:required by|on the )",
        r"Couldn't find any versions for \"",
        r"Your lockfile needs to be updated, but yarn was run with ",
        r"The lockfile would have been (?:modified|created) by this install",
        r"➤ YN0\d{3}: .*(?:isn't supported by any available resolver|No candidates found"
        r"|The lockfile would have been|Usage Error|couldn't be resolved|Package not found|RequestError"
        r"|fetch failed)",
        r"The engine \"\w+\" is incompatible with this module",
        r"Found incompatible module\.",
        r"Integrity check failed for ",
        r"An unexpected error occurred: \"https?://",
        r"GET https?://\S+ - (?:4\d\d|5\d\d)$",
        r"(?:GET|fetch) https?://\S+ failed",
        r"error: lockfile had changes, but lockfile is frozen",
        r"(?:\S+@\S+|No version matching \S+ found) failed to resolve",
        r"No version matching \"[^\"]*\" found for specifier ",
        r"gyp ERR! (?:find Python|stack Error: Could not find any (?:Python|Visual Studio)|build error"
        r"|configure error)",
        r"error TS2688: Cannot find type definition file for ",
        r"error TS\d{4}: Cannot find name '\w+'\. Do you need to install type definitions",
        r"(?:Error \[ERR_UNKNOWN_BUILTIN_MODULE\]: )?No such built-in module: ",
        r"npm (?:error|ERR!) could not determine executable to run",
        r"ESLint couldn't find (?:the (?:plugin|config)|a plugin|an? config)",
        r"Failed to load (?:plugin|parser|config) '[^./'][^']*'",
        r"Preset \S+ not found",
        r"Cannot find preset",
        r"Test environment [\w-]+ cannot be found",
        r"(?:browserType\.launch|browserType\.\w+): Executable doesn't exist at ",
        r"Could not find (?:Chrome|Chromium|Firefox|browser) \(ver",
        r"The requested module '[^./][^']*' (?:is a CommonJS module|does not provide an export named)",
        r"The engine \"node\" is incompatible",
        r"(?:Error: )?(?:Node|node)(?:\.js)? (?:version )?v?[\d.]+ (?:is not supported|is required"
        r"|or higher is required)",
        r"You are using Node\.js [\d.]+\. .* requires ",
        r"Error: The module '.*\.node'$",
        r"was compiled against a different Node\.js version using",
        r"error:0308010C:digital envelope routines::unsupported",
        r"(?:Error: )?.*\.node: (?:cannot open shared object|invalid ELF header|undefined symbol)",
        r"error: Module not found \"https?://",
    ),
)
