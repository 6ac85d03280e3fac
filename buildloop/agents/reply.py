"""What one agent call came to: the values every adapter answers with."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from buildloop.frozen import Foreign, Frozen
from buildloop.redact import Redactor


class AgentOutcome(StrEnum):
    """How an agent call ended: read from status, exit code and error stream, never from its prose."""

    OK = "ok"
    NO_CHANGE = "no_change"
    TURN_LIMIT = "turn_limit"
    TIMEOUT = "timeout"
    OVERFLOW = "overflow"
    TRANSIENT = "transient"
    REFUSED = "refused"
    CRASHED = "crashed"
    HUNG = "hung"


class Permissions(StrEnum):
    """What an agent may do without asking; what it may not is denied, because nobody is there to answer."""

    ASK_NOTHING = "ask-nothing"
    EDIT_ONLY = "edit-only"
    FULL = "full"


class Usage(Frozen):
    """Tokens of one agent call by kind. `context_tokens` is the fill after its last model request.

    None means "the agent did not say", which is not 0.
    """

    input_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    context_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def fresh_tokens(self) -> int:
        """Tokens that were new in this call; cache reads count one prefix again and again."""
        return (self.input_tokens or 0) + (self.cache_write_tokens or 0) + (self.output_tokens or 0)

    @property
    def all_tokens(self) -> int:
        return self.fresh_tokens + (self.cache_read_tokens or 0)


class AgentReply(Frozen):
    """What an agent adapter says about one call."""

    outcome: AgentOutcome
    exit_code: int | None = None
    seconds: float = 0.0
    usage: Usage = Usage()
    claims_done: bool = False
    text: Foreign = Field("", description="The end of what the agent said, for people.")
    error: Foreign = Field("", description="Why it is not ok, in one sentence.")
    reset_at: datetime | None = Field(None, description="When a passing error ends, where the agent said so.")
    agent: str = Field("", description="Which agent of the request answered, e.g. 'claude:opus'.")
    rung: int = Field(0, description="Its place on the request's ladder of agents.")
    model: Foreign | None = None
    session_id: Foreign | None = Field(None, description="What the agent's own session is continued by.")
    turns: int | None = Field(None, description="Model requests of this call, as the agent counts them.")
    denials: tuple[Foreign, ...] = Field((), description="Tools it wanted and was not allowed to use.")
    context_window: int | None = Field(None, description="Tokens the model's context holds, if it was told.")
    keeps_context: bool = Field(
        True, description="Whether the next call of the session starts with this fill."
    )

    def masked(self, redact: Redactor) -> AgentReply:
        """The words of the agent without secrets. Masked as output they were not known yet: JSON can spell a letter in
        several ways."""
        return self.model_copy(
            update={
                "text": redact(self.text),
                "error": redact(self.error),
                "denials": tuple(redact(one) for one in self.denials),
            }
        )
