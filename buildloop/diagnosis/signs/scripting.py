"""Ruby, PHP, Perl, R, Lua, Elixir, Haskell, Dart, Swift, Julia, OCaml."""

from __future__ import annotations

from buildloop.diagnosis.signs.sign import install, missing

SIGNS = (
    *missing(
        "ruby",
        r"(?:LoadError: )?cannot load such file -- (?P<subject>[^\s()]+)",
    ),
    *install(
        "ruby",
        r"Could not find gem '",
        r"Could not find .* in (?:any of the sources|locally installed gems|rubygems repository|cached gems)",
        r"Bundler could not find compatible versions for gem ",
        r"Could not find compatible versions",
        r"Your Ruby version is [\d.]+, but your Gemfile specified ",
        r"(?:Gem::LoadError: )?You have already activated ",
        r"Bundler::(?:GemNotFound|GemRequireError|VersionConflict|RubyVersionMismatch|HTTPError"
        r"|InstallError)\b",
        r"Gem::(?:MissingSpecError|MissingSpecVersionError|ConflictError|LoadError|DependencyResolutionError"
        r"|RemoteFetcher::FetchError|Ext::BuildError|GemNotFoundException)",
        r"(?:can't|could not) find gem \S+ \(",
        r"Failed to build gem native extension",
        r"An error occurred while installing \S+ \(",
        r"Gem::Ext::BuildError",
        r"The (?:gemspec|lockfile|dependencies in your gemfile) .*(?:changed|deployment mode|frozen)",
        r"You are trying to install in deployment mode after changing",
        r"The gemspecs for path gems changed",
        r"Could not find '[\w-]+' \(",
        r"ExecJS::RuntimeUnavailable: ",
        r"\S+ requires (?:rubygems|Ruby|ruby) version ",
        r"Could not (?:verify the SSL certificate|reach host)",
        r"error loading the '\w+' Active Record adapter\. Missing a gem",
        r"Specified '\w+' for database adapter, but the gem is not loaded",
    ),
    *missing(
        "php",
        r"(?:PHP )?(?:Fatal error: +)?(?:Uncaught )?(?:Error: )?(?:Class|Interface"
        r"|Trait) ['\"](?P<subject>[\w\\]+)['\"] not found",
    ),
    *install(
        "php",
        r"Your requirements could not be resolved to an installable set of packages",
        r"- Root composer\.json requires ",
        r"Your lock file does not contain a compatible set of packages",
        r"(?:- )?.*\brequires? (?:ext-[\w-]+|php) .*(?:is missing from your system"
        r"|does not satisfy that requirement)",
        r".*ext-[\w-]+ .*it is missing from your system",
        r"Required package \"[^\"]+\" is not present in the lock file",
        r"Could not find (?:a (?:matching )?version of )?package ",
        r"curl error \d+ while downloading https?://",
        r"Composer detected issues in your platform:",
        r"The \"https?://\S+\" file could not be downloaded",
        r"(?:PHP )?(?:Fatal error: +|Warning: +)?(?:Uncaught )?(?:Error: )?(?:require|require_once"
        r"|include)(?:_once)?\(.*vendor/autoload\.php\): "
        r"[Ff]ailed to open stream",
        r".*Failed opening required '[^']*vendor/",
        r"(?:PHP )?(?:Fatal error: +)?(?:Uncaught )?(?:Error: )?Call to undefined function "
        r"(?:mb_|curl_|gd_|image(?:create|color|png)|json_|simplexml_|intl|grapheme_|bc\w+\(|gmp_|openssl_"
        r"|pg_|mysqli_|sodium_|ldap_|iconv|ctype_|pcntl_|posix_)",
        r"PHPUnit (?:[\d.]+ )?requires (?:PHP|the)",
        r"You need to set up the project dependencies using Composer",
        r"could not find driver$",
        r"PDOException: could not find driver",
    ),
    *missing(
        "perl",
        r"Can't locate (?P<subject>[\w/]+\.pm) in @INC",
    ),
    *install(
        "perl",
        r"Can't locate loadable object for module ",
        r"(?:[\w:]+ version [\d.]+ required--this is only version|Perl v[\d.]+ required--this is only)",
        r"(?:! )?(?:Couldn't find module or a distribution|Finding [\w:]+ .* on cpanmetadb failed"
        r"|Installing the dependencies failed)",
        r"(?:! )?Bailing out the installation for ",
        r"Warning: prerequisite ",
    ),
    *missing(
        "lua",
        r"(?:lua\S*: )?(?:\S+:\d+: )?module '(?P<subject>[\w./-]+)' not found:",
    ),
    *missing(
        "elixir",
        r"(?:\*\* \(\w+\) )?.*\bmodule (?P<subject>[A-Z][\w.]*) is not (?:available"
        r"|loaded and could not be found)",
    ),
    *missing(
        "haskell",
        r"Could not (?:find|load) module [‘`'](?P<subject>[\w.]+)['’]",
    ),
    *missing(
        "swift",
        r"(?:error: )?no such module '(?P<subject>\w+)'",
    ),
    *missing(
        "dart",
        r"(?:Error: )?(?:Couldn't resolve the package"
        r"|Target of URI doesn't exist:) 'package:(?P<subject>[\w]+)/?",
        r"Error: Couldn't resolve the package '(?P<subject>\w+)' in ",
    ),
    *install(
        "other",
        r"(?:Error in .* : )?there is no package called [‘'`\"]",
        r"dependenc(?:y|ies) [‘'`].*[’'`](?:, [‘'`].*)? (?:is|are) not available for package",
        r"ERROR: dependenc(?:y|ies) .* not available for package",
        r"package [‘'`]\S+[’'`] (?:is not available|requires R"
        r"|required by [‘'`]\S+[’'`] could not be found|was built (?:under|before) R)",
        r"namespace [‘'`]\S+[’'`] [\d.]+ is (?:already loaded|being loaded), but [<>=]+ [\d.]+ is required",
        r"Unchecked dependencies for environment ",
        r"(?:\*\* \(Mix\) )?(?:Could not (?:start|find) Hex|Hex dependency resolution failed)",
        r"(?:\*\* \(Mix\) )?The task \"[\w.]+\" could not be found",
        r"\*\* \(Mix\) (?:Can't continue due to errors on dependencies"
        r"|You're trying to run .* but it has declared in its mix\.exs)",
        r"the dependency is not available, run \"mix deps\.get\"",
        r"Failed to use \"\w+\" (?:\(versions? .*\) )?because",
        r"(?:Error: )?(?:\[Cabal-\d+\]\s*)?Could not resolve dependencies:",
        r"(?:Error: )?cabal: (?:Could not resolve dependencies|The program '\w+' .*is required)",
        r"It is a member of the hidden package",
        r"(?:Error: )?(?:\[S-\d+\]\s*)?Stack failed to construct a build plan",
        r"(?:error: )?(?:Because .*,? )?dependencies could not be resolved because ",
        r"(?:error: )?package '.*' is using Swift tools version [\d.]+ but the installed version is ",
        r"(?:ERROR: )?(?:LoadError: )?ArgumentError: Package \w+ (?:not found in current path"
        r"|\[[\w-]+\] is required)",
        r"(?:ERROR: )?Unsatisfiable requirements detected for package ",
        r"(?:Error: )?Library \"[\w.-]+\" not found",
        r"(?:\[ERROR\] )?No package named \S+ found",
        r"LaTeX Error: File `[^']+\.(?:sty|cls|def)' not found",
        r"\[!\] (?:Unable to find a specification for|CocoaPods could not find compatible versions"
        r"|Error installing )",
        r"(?:error: )?[Ff]ailed to clone repository https?://",
        r"Failed to fetch record for '\w+/",
        r"Got socket error trying to find package ",
        r"luarocks: .*(?:No results matching|not found)",
        r"Error: No results matching query were found for Lua",
        r"Because .* which doesn't exist .*, version solving failed",
    ),
)
