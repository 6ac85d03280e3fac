"""javac, Maven, Gradle, Kotlin, Scala, Android; .NET beside them."""

from __future__ import annotations

from buildloop.diagnosis.signs.sign import install, missing

SIGNS = (
    *missing(
        "jvm",
        r"package (?P<subject>[\w.]+) does not exist",
        r"(?:java\.lang\.)?ClassNotFoundException: (?P<subject>[\w.$/]+)",
        r"(?:java\.lang\.)?NoClassDefFoundError: (?P<subject>[\w.$/]+)$",
        r"The import (?P<subject>[\w.]+) cannot be resolved",
        r"object (?P<subject>\w+) is not a member of package ",
        r"unable to resolve class (?P<subject>[\w.]+\.\w+)",
    ),
    # The first part of an import; the project's own would be found. Column 8 is where it stands in Kotlin.
    *missing(
        "import",
        r"not found: object (?P<subject>[a-z]\w*)",
        r"(?:e: )?\S+\.kts?:\d+:8:? (?:error: )?[Uu]nresolved reference:? '?(?P<subject>[a-z]\w*)'?",
    ),
    *install(
        "jvm",
        r"Failed to execute goal .*: (?:Could not resolve dependencies|Could not find artifact"
        r"|.*\bcould not be resolved)",
        r"Failed to execute goal .*: Fatal error compiling: (?:error: )?(?:invalid target release"
        r"|invalid source release"
        r"|release version)",
        r"(?:error: )?(?:invalid (?:target|source) release|release version \d+ not supported)",
        r"(?:Source|Target) option \d+ is no longer supported",
        r"Could not resolve dependencies for project ",
        r"Could not (?:find|transfer) (?:artifact|metadata) ",
        r"Plugin \S+ or one of its dependencies could not be resolved",
        r"(?:\[FATAL\] )?Non-resolvable (?:parent POM|import POM)",
        r"Non-resolvable (?:parent|import) POM",
        r"No plugin found for prefix '",
        r"Unresolveable build extension",
        r"The (?:project|build) .*requires? (?:Maven|JDK|Java) version",
        r"Rule \d+: org\.apache\.maven\.(?:plugins\.)?enforcer\.\S*(?:RequireJavaVersion"
        r"|RequireMavenVersion|DependencyConvergence|BannedDependencies)",
        r"Detected JDK (?:Version|version) .* is not in the allowed range",
        r"> ?Could not resolve (?:all|com|org|io|net|[\w.-]+:)",
        r"Could not resolve (?:all (?:files|artifacts|dependencies|task dependencies)|[\w.-]+:[\w.-]+)",
        r"Could not find [\w.-]+:[\w.-]+:[\w.+-]+\.?$",
        r"Could not (?:GET|HEAD) 'https?://",
        r"Could not determine java version from ",
        r"Plugin \[id: '[^']+'.*\] was not found",
        r"No matching (?:toolchains?|variant)\b",
        r"Cannot find a Java installation on your machine",
        r"No locally installed toolchains match",
        r"Dependency verification failed",
        r"Dependency lock state ",
        r".*Unsupported class file major version \d+",
        r".*Unsupported major\.minor version",
        r"You have not accepted the license agreements of the following SDK components",
        r"(?:.*\.)?UnsupportedClassVersionError",
        r"class file has wrong version [\d.]+, should be ",
        r"SDK location not found",
        r"Failed to install the following Android SDK packages",
        r"[Ff]ailed to find (?:target|Build Tools)",
        r"sbt\.librarymanagement\.ResolveException:",
        r"(?:not found|download error): https?://repo1?\.maven",
        r"Error downloading [\w.-]+:[\w.-]+:",
        r"unresolved dependency: ",
        r"The JAVA_HOME environment variable is not defined correctly",
        r"JAVA_HOME is (?:not set|set to an invalid directory)",
        r"Could not find tools\.jar",
        r".*could not find the required JDK tools in the Java installation",
    ),
    *missing(
        "dotnet",
        r"error CS0246: The type or namespace name '(?P<subject>[\w.]+)(?:<[^']*>)?' could not be found",
        r"error CS0234: The type or namespace name '\w+' does not exist in the namespace "
        r"'(?P<subject>[\w.]+)'",
        r"(?:Unhandled exception\. )?System\.IO\.FileNotFoundException: Could not load file or assembly "
        r"'(?P<subject>[\w.]+),",
    ),
    *install(
        "dotnet",
        r"error NU1\d{3}: ",
        r"error NETSDK1(?:004|005|045|047|064|071|141|147|202): ",
        r"error MSB(?:3644|4019|4236): ",
        r"(?:The command could not be loaded, possibly because"
        r"|A compatible (?:installed )?\.NET (?:Core )?SDK )",
        r"You must install or update \.NET to run this application",
        r"It was not possible to find any (?:compatible|installed) ",
        r"The framework '[\w.]+',? version '[\d.]+' (?:\(\w+\) )?was not found",
    ),
)
