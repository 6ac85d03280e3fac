"""Whether the next agent call continues the agent's own session, and how much its context holds."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.context.window import DEFAULT_WINDOW
from buildloop.models import AgentOutcome, AgentReply, Iteration
from buildloop.request import AgentSession, BuildRequest

# After these the agent's own session is sound; after a crash or a hang nobody knows, and an overflow stays one.
RESUMABLE = (AgentOutcome.OK, AgentOutcome.NO_CHANGE, AgentOutcome.TURN_LIMIT, AgentOutcome.TIMEOUT)


def window_in_force(request: BuildRequest, replies: Sequence[AgentReply]) -> int:
    """What the user said, else what the agent was last told by its model, else a common size."""
    if request.context_window is not None:
        return request.context_window
    told = [reply.context_window for reply in replies if reply.context_window]
    return told[-1] if told else DEFAULT_WINDOW


def session_to_continue(request: BuildRequest, agent: str, last: Iteration, session: int) -> str | None:
    """The id of `agent`'s session that the next call of this session continues; None: an empty context.

    After a redirect it starts anew: the files are others than it remembers, and so shall be its approach.
    """
    if last.agent is None or last.session != session or request.agent_session is AgentSession.FRESH:
        return None
    if last.recovery is not None and last.recovery.strategy.action == "reduce_and_redirect":
        return None
    reply = last.agent.reply
    sound = reply.keeps_context and reply.outcome in RESUMABLE and reply.agent == agent
    return reply.session_id if sound else None
