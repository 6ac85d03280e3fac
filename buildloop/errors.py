"""
Everything buildloop raises. A red gate is not here: it is a `GateReport`.

* BuildloopError              one sentence for a person; `exit_code` is what the command ends with
  x InputError                bad input or environment, nothing was done (2)
    + RunLocked               another process works on this run (2)
    + GithubError             GitHub did not do what was asked: token, limit, network, name (2)
  x GateUnavailable           the gate could not be started at all (3)
  x AgentUnavailable          rate limit, overload, network: the same prompt may work later
  x AgentLimited              the agent says when it will answer again; args: sentence, seconds since 1970
  x AgentRefused              credentials, billing, permission: no retry can help (4)
  x GateStillRed              asks Prefect for another run of the same gate on the same tree
  x InstallUnavailable        the package registry did not answer: the same install may work later
  x MemoryUnavailable         past failures cannot be asked or told; a run goes on without them (1)
  x BudgetExceeded            the next agent call would cost more than is left (1)
  x RunCancelled              someone asked the run to stop; it can be resumed (130)
  x StateWriteError           the run's state could not be written; what was there is intact (1)

All take positional arguments only, so that they pickle. Their words go to logs, states and terminals, which keep what
they are told; so no secret is in them from the start.
"""

from __future__ import annotations

from buildloop.redact import mask_own


class BuildloopError(Exception):
    exit_code = 1

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(mask_own(one) if isinstance(one, str) else one for one in arguments))


class InputError(BuildloopError):
    exit_code = 2


class RunLocked(InputError):
    pass


class GithubError(InputError):
    pass


class GateUnavailable(BuildloopError):
    exit_code = 3


class AgentUnavailable(BuildloopError):
    pass


class AgentLimited(BuildloopError):
    @property
    def reset_at(self) -> float:
        return float(self.args[1])

    def __str__(self) -> str:
        return str(self.args[0])


class AgentRefused(BuildloopError):
    exit_code = 4


class GateStillRed(BuildloopError):
    pass


class InstallUnavailable(BuildloopError):
    pass


class MemoryUnavailable(BuildloopError):
    pass


class BudgetExceeded(BuildloopError):
    pass


class RunCancelled(BuildloopError):
    exit_code = 130


class StateWriteError(BuildloopError):
    pass
