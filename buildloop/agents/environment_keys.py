"""How the variables of model providers begin: for agents that work with any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from buildloop.patterns import Regex

# Keys of a whole cloud account: handed on only where the model is said to come from there.
CLOUDS: Mapping[str, tuple[str, ...]] = {
    "bedrock": ("AWS_",),
    "vertex": ("GOOGLE_", "CLOUD_ML_REGION", "VERTEX"),
    "azure": ("AZURE_",),
}
CLOUD_OF = {
    "bedrock": "bedrock", "amazon-bedrock": "bedrock", "vertex_ai": "vertex", "google-vertex": "vertex",
    "google-vertex-anthropic": "vertex", "azure": "azure", "azure_ai": "azure",
}  # fmt: skip
PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_",),
    "openai": ("OPENAI_",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
    "openrouter": ("OPENROUTER_",),
    "groq": ("GROQ_",),
    "mistral": ("MISTRAL_",),
    "deepseek": ("DEEPSEEK_",),
    "xai": ("XAI_",),
    "cohere": ("COHERE_", "CO_API_KEY"),
    "together_ai": ("TOGETHER",),
    "fireworks_ai": ("FIREWORKS_",),
    "cerebras": ("CEREBRAS_",),
    "perplexity": ("PERPLEXITY",),
    "ollama": ("OLLAMA_",),
    "ollama_chat": ("OLLAMA_",),
    "lm_studio": ("LM_STUDIO_",),
    "moonshot": ("MOONSHOT_",),
    "zai": ("ZAI_",),
}


# Names of models that come without their provider's.
FAMILIES: tuple[tuple[Regex, str], ...] = (
    (Regex(r"(?:chat)?gpt|o\d|codex|4o|text-davinci", re.I), "openai"),
    (Regex(r"claude|sonnet|opus|haiku", re.I), "anthropic"),
    (Regex(r"gemini|gemma|flash", re.I), "google"),
    (Regex(r"deepseek|r1\b", re.I), "deepseek"),
    (Regex(r"mistral|codestral|devstral|magistral", re.I), "mistral"),
    (Regex(r"grok", re.I), "xai"),
    (Regex(r"command-", re.I), "cohere"),
    (Regex(r"kimi|moonshot", re.I), "moonshot"),
    (Regex(r"glm", re.I), "zai"),
)
# What else the providers are called.
ALSO = {
    "togetherai": "together_ai", "fireworks-ai": "fireworks_ai", "lmstudio": "lm_studio", "moonshotai": "moonshot",
    "zhipuai": "zai", "x-ai": "xai", "mistralai": "mistral",
}  # fmt: skip


def provider_prefixes(model: str | None) -> tuple[str, ...]:
    """Those of the provider that `model` names, by itself or by its family.

    Of a provider nobody has heard of, what is called like it. Without a model the agent takes what it finds a key
    for, so it gets those of all providers (but whole clouds).
    """
    if not model:
        return tuple(dict.fromkeys(prefix for prefixes in PROVIDERS.values() for prefix in prefixes))
    provider, slash, _ = model.lower().partition("/")
    if not slash:
        provider = next((name for words, name in FAMILIES if words.match(model)), provider)
    provider = ALSO.get(provider, provider)
    if provider in CLOUD_OF:
        return CLOUDS[CLOUD_OF[provider]]
    if provider in PROVIDERS:
        return PROVIDERS[provider]
    own = re.sub(r"\W", "_", provider).upper()
    return tuple(f"{own}_{kind}" for kind in ("API_KEY", "API_BASE", "BASE_URL"))
