"""How the variables of model providers begin: for agents that work with any of them."""

from __future__ import annotations

PROVIDER_PREFIXES = (
    "ANTHROPIC_", "OPENAI_", "GEMINI_API_KEY", "GOOGLE_", "VERTEXAI_", "AZURE_", "AWS_", "OPENROUTER_", "GROQ_",
    "MISTRAL_", "DEEPSEEK_", "XAI_", "COHERE_", "CO_API_KEY", "TOGETHER", "FIREWORKS_", "CEREBRAS_", "PERPLEXITY",
    "OLLAMA_", "LM_STUDIO_", "LITELLM_", "HF_TOKEN", "HUGGINGFACE_", "GITHUB_TOKEN", "MOONSHOT_", "ZAI_", "DASHSCOPE_",
)  # fmt: skip
