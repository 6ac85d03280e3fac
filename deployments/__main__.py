"""`python -m deployments up | apply | down | status`: a Prefect server made ready for buildloop, and a worker."""

from __future__ import annotations

import sys

USAGE = """\
python -m deployments up      start server (unless PREFECT_API_URL names one), deploy, start a worker
python -m deployments apply   work pool, deployments and automations on the server of PREFECT_API_URL
python -m deployments status  what was started by 'up' and still runs
python -m deployments down    stop it; nothing is deleted"""


def main(words: list[str]) -> int:
    from deployments.local import down, status, up  # noqa: PLC0415 (usage needs no Prefect)

    match words:
        case ["up"]:
            return up()
        case ["down"]:
            return down()
        case ["status"]:
            return status()
        case ["apply"]:
            from deployments.apply import apply_all  # noqa: PLC0415

            apply_all()
            return 0
        case _:
            print(USAGE, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
