"""The keys of agent.yaml, each with its shape, meaning, default and example: what `read`, the JSON Schema
and the file that `mm init` writes are made from."""

import textwrap

from minime.core.config.settings import TOOL_NAMES, Compaction, McpCommand, McpServer, McpUrl, Sessions
from minime.core.config.shapes import (
    Choice,
    Duration,
    Each,
    Flag,
    Key,
    Named,
    Number,
    Table,
    Text,
    Whole,
    nearest,
)
from minime.core.tools.permissions import PermissionRule

MANY_TOKENS = 100_000_000
HEADER_NAMES = r"[A-Za-z0-9!#$%&'*+.^_|~-]+"
MCP_NAMES = r"[A-Za-z0-9_-]{1,40}"
VARIABLE_NAMES = r"[A-Za-z_][A-Za-z0-9_]*"


def _permission(tool: str, match: str = "*", do: str = "ask") -> PermissionRule | str:
    # A rule for a tool that does not exist would pass in silence, and with it the user's `deny`.
    near = nearest(tool, TOOL_NAMES, cutoff=0.88)
    if near is not None and tool != near:
        return f"there is no tool {tool}; did you mean {near}?"
    return PermissionRule(tool, match, "allow" if do == "allow" else "deny" if do == "deny" else "ask")


def _mcp_server(
    command: str | None = None,
    args: tuple[str, ...] = (),
    env: dict[str, str] | None = None,
    url: str | None = None,
    headers: dict[str, str] | None = None,
) -> McpServer | str:
    if command is not None and url is None and headers is None:
        return McpCommand(command, args, env or {})
    if url is not None and command is None and not args and env is None:
        return McpUrl(url, headers or {})
    return "expected either command (with args, env) or url (with headers)"


_HEADERS = Named(Text("header", empty=True), HEADER_NAMES)
_MCP = Table(
    (
        Key("command", Text()),
        Key("args", Each(Text("lines", empty=True))),
        Key("env", Named(Text("lines", empty=True), VARIABLE_NAMES)),
        Key("url", Text("web")),
        Key("headers", _HEADERS),
    ),
    _mcp_server,
)
_RULE = Table(
    (Key("tool", Text()), Key("match", Text()), Key("do", Choice(("ask", "allow", "deny")))),
    _permission,
    needed=("tool",),
)

KEYS = (
    Key(
        "model",
        Text(),
        "The server's name for the model, or the path of a .gguf file (needs mm's extra `local`).",
        "the server's only or first model",
        "model: qwen3:8b",
    ),
    Key(
        "baseUrl",
        Text("url"),
        "The address of an OpenAI-compatible server.",
        "the first local server that answers, else the embedded model",
        "baseUrl: http://localhost:11434/v1",
    ),
    Key(
        "apiKey",
        Text("secret"),
        "The key that the server wants; MM_API_KEY in the environment goes before it.",
        "none",
        "apiKey: ${MM_API_KEY:-}",
    ),
    Key("headers", _HEADERS, "Extra HTTP headers of each request.", "none", "headers: {}"),
    Key(
        "instruction",
        Text("lines", empty=True),
        "The system prompt.",
        "a short one of mm's own",
        "instruction: |\n  You are a careful coding agent.\n  Answer briefly.",
    ),
    Key(
        "context",
        Each(Text()),
        "Files of the project that are appended to the system prompt when they exist.",
        "[AGENTS.md]",
        "context: [AGENTS.md]",
    ),
    Key(
        "contextWindow",
        Whole(512, MANY_TOKENS),
        "The model's context window, in tokens.",
        "what the server says is loaded, else 8192, with Ollama and Docker 4096",
        "contextWindow: 32768",
    ),
    Key(
        "maxOutput",
        Whole(1, MANY_TOKENS),
        "Tokens that an answer may have.",
        "the server's",
        "maxOutput: 4096",
    ),
    Key(
        "temperature",
        Number(0, 2),
        "How freely the model chooses its words.",
        "the server's",
        "temperature: 0.2",
    ),
    Key("topP", Number(0, 1), "The share of likely words that it chooses from.", "the server's", "topP: 0.9"),
    Key(
        "seed",
        Whole(-(2**31), 2**32 - 1),
        "The same seed and question give the same answer, where the server can.",
        "the server's",
        "seed: 7",
    ),
    Key(
        "stop",
        Each(Text("lines"), single=True),
        "Texts at which an answer ends.",
        "the server's",
        'stop: ["<END>"]',
    ),
    Key(
        "reasoningEffort",
        Text(),
        "How long a thinking model thinks; passed on as it is.",
        "the server's",
        "reasoningEffort: low",
    ),
    Key(
        "watchdogTimeout",
        Duration(),
        "Silence of the server after which a request is given up; the first byte has five times that, "
        "0 waits for ever.",
        "120s",
        "watchdogTimeout: 120s",
    ),
    Key(
        "maxSteps",
        Whole(0, 10_000),
        "Rounds of tool calls in one turn; 0 sets no bound.",
        "50",
        "maxSteps: 50",
    ),
    Key(
        "sessions",
        Table(
            (
                Key("enabled", Flag(), "Whether conversations are written to .mm/sessions.", "true"),
                Key("resume", Flag(), "Whether editors are offered session/resume too.", "false"),
            ),
            Sessions,
        ),
        "Whether conversations are kept (enabled), and whether editors may resume one without a replay "
        "(resume).",
        "kept, no resume",
        "sessions:\n  enabled: true\n  resume: false",
    ),
    Key(
        "compaction",
        Table(
            (
                Key("auto", Flag(), "Whether it happens by itself.", "true"),
                Key("threshold", Number(0.1, 1), "The part of the context window at which it does.", "0.8"),
                Key("keep", Whole(0, 1_000), "The newest turns, which stay word for word.", "2"),
            ),
            Compaction,
        ),
        "When older turns are summed up: by itself (auto) at this part of the context window (threshold); "
        "the newest turns (keep) stay word for word.",
        "auto, 0.8, 2",
        "compaction:\n  auto: true\n  threshold: 0.8\n  keep: 2",
    ),
    Key(
        "tools",
        Each(Choice(TOOL_NAMES)),
        "The tools that the model is offered.",
        "all",
        f"tools: [{', '.join(TOOL_NAMES)}]",
    ),
    Key(
        "permissions",
        Each(_RULE),
        "Which tool calls are allowed or denied without a question; the first rule that matches decides.",
        "none: reading passes, the rest is asked",
        'permissions:\n  - {tool: run_command, match: "git status*", do: allow}',
    ),
    Key(
        "commandTimeout",
        Duration(zero=False),
        "How long a command may run.",
        "120s",
        "commandTimeout: 120s",
    ),
    Key(
        "mcp",
        Named(_MCP, MCP_NAMES),
        "MCP servers by name, each {command, args, env} or {url, headers} (needs the extra minime[mcp]).",
        "none",
        "mcp: {}",
    ),
)

_HEAD = """\
## How mm works in this project. Every key stands here as a comment; take the "# " before it away to set it.
## mm config shows what is in effect and where each value comes from.
"""


def agent_yaml_template() -> str:
    """A whole agent.yaml in which every key is a comment, `# key` with its default or an example, below
    `## words` about it. Without one `#` and one space at the start of each line it sets every key."""
    parts = [_HEAD]
    for key in KEYS:
        words = textwrap.fill(f"{key.meaning} Default: {key.default}.", 107, break_on_hyphens=False)
        parts.append(textwrap.indent(words, "## ") + "\n" + textwrap.indent(key.example, "# ") + "\n")
    return "\n".join(parts)
