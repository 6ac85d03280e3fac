"""The `buildloop` command. Each subcommand is imported only when it is called: start-up time is a feature."""

from __future__ import annotations

import sys


def main() -> None:
    if sys.argv[1:2] == ["diagnose"]:
        from buildloop.cli.diagnose import main as diagnose

        sys.exit(diagnose(sys.argv[2:]))
    from buildloop.cli.app import run_app

    sys.exit(run_app())


if __name__ == "__main__":
    main()
