"""Servers of tools outside (MCP), reached with the official SDK (the extra `minime[mcp]`)."""


def has_sdk() -> bool:
    """Whether the SDK is installed (the extra `minime[mcp]`)."""
    from importlib.util import find_spec

    return find_spec("mcp") is not None
