"""How the variables of model providers begin: for agents that work with any of them."""

from __future__ import annotations

from collections.abc import Mapping

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


def provider_prefixes(model: str | None) -> tuple[str, ...]:
    """Those of the provider that `model` names; without a name that tells, those of all (but whole clouds)."""
    provider = (model or "").partition("/")[0]
    if provider in CLOUD_OF:
        return CLOUDS[CLOUD_OF[provider]]
    if provider in PROVIDERS:
        return PROVIDERS[provider]
    return tuple(dict.fromkeys(prefix for prefixes in PROVIDERS.values() for prefix in prefixes))
