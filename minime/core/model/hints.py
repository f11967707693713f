"""A kind of server in, what a person types to mend a fault of it out: each server has commands of its own."""

from minime.core.model.servers import Kind, Server, known, server_name

MODELS_NAMED = 8


def start_hint(kind: Kind) -> str:
    """How the server is started."""
    entry = known(kind)
    if entry is not None:
        return f"is it running? start it with: {entry.start}"
    if kind == "embedded":
        return "it has ended; start mm again"
    return "is it running? start it, or set baseUrl in agent.yaml"


def model_hint(kind: Kind, model: str, models: tuple[str, ...]) -> str:
    """How `model` comes to the server, or which of the `models` there may be asked instead."""
    entry = known(kind)
    ways = [f"fetch it with: {entry.pull.format(model=model)}"] if entry and model else []
    if models:
        named = ", ".join(models[:MODELS_NAMED])
        more = len(models) - MODELS_NAMED
        ways.append(f"set model in agent.yaml to one that is there: {named}{f', {more} more' * (more > 0)}")
    else:
        ways.append("set model in agent.yaml to one that the server has")
    return "; or ".join(ways)


def no_models_text(server: Server, url: str) -> str:
    """The line for a server that has no model at all; `url` is its address as it may be shown."""
    entry = known(server.kind)
    way = (
        f"fetch one with: {entry.pull.format(model=_first_model(server.kind))}" if entry else "load one there"
    )
    return f"{server_name(server.kind)} at {url} offers no model: {way}"


def tools_hint(kind: Kind, model: str) -> str:
    """How tool calls become possible."""
    other = "choose a model that can (model in agent.yaml)"
    match kind:
        case "ollama":
            return f"{other}; ollama show {model or 'MODEL'} lists what a model can do"
        case "docker":
            return f"{other}; docker model inspect {model or 'MODEL'} shows its chat template"
        case "llama.cpp":
            return "start llama-server with --jinja, or choose a model that can"
        case "lm-studio":
            return f"{other}; lms ls --json says which are trained for tools"
        case "vllm":
            return "start vllm with --enable-auto-tool-choice and --tool-call-parser"
        case _:
            return other


def window_hint(kind: Kind) -> str:
    """What sets the server's context window."""
    match kind:
        case "ollama":
            return "OLLAMA_CONTEXT_LENGTH, or num_ctx in the Modelfile"
        case "docker":
            return "docker model configure --context-size"
        case "llama.cpp":
            return "llama-server -c"
        case "lm-studio":
            return "lms load --context-length"
        case "vllm":
            return "vllm serve --max-model-len"
        case _:
            return "the server's own option for it"


def memory_hint(kind: Kind) -> str:
    """How a model finds the memory it needs, beside being a smaller one."""
    match kind:
        case "ollama":
            return "ollama ps shows what is loaded, and ollama stop NAME unloads it"
        case "docker":
            return "docker model ps shows what is loaded, and docker model unload NAME unloads it"
        case "llama.cpp":
            return "a smaller window (llama-server -c) takes less, and -ngl moves fewer layers to the GPU"
        case "lm-studio":
            return "lms ps shows what is loaded, and lms unload --all unloads it"
        case "vllm":
            return "vllm serve --max-model-len takes less with a smaller window"
        case _:
            return "a smaller context window takes less"


def loading_hint(kind: Kind) -> str:
    """How to see whether a model is loaded."""
    match kind:
        case "ollama":
            return "ollama ps shows when it is there"
        case "docker":
            return "docker model ps shows when it is there"
        case "lm-studio":
            return "lms ps shows when it is there"
        case _:
            return "its log shows when it is there"


def log_hint(kind: Kind) -> str:
    """Where the server says more of a fault."""
    match kind:
        case "ollama":
            return "journalctl -u ollama (or ~/.ollama/logs/server.log) may say why"
        case "docker":
            return "docker model logs may say why"
        case "llama.cpp" | "vllm":
            return "the terminal that it runs in may say why"
        case "lm-studio":
            return "lms log stream may say why"
        case "embedded":
            return "if it happens again, start mm again"
        case _:
            return "its log may say why"


def url_hint(kind: Kind, url: str) -> str:
    """What may be wrong with the address."""
    if not url.rstrip("/").endswith("/v1"):
        return "is /v1 missing at the end of baseUrl in agent.yaml?"
    entry = known(kind)
    if entry is not None and url != entry.base_url:
        return f"check baseUrl in agent.yaml ({entry.name} is mostly at {entry.base_url})"
    return "check baseUrl in agent.yaml"


def _first_model(kind: Kind) -> str:
    """A model of middle size that calls tools, as the server names it."""
    match kind:
        case "docker":
            return "ai/qwen3"
        case "llama.cpp":
            return "ggml-org/Qwen3-8B-GGUF"
        case "lm-studio":
            return "qwen/qwen3-8b"
        case "vllm":
            return "Qwen/Qwen3-8B"
        case _:
            return "qwen3:8b"
