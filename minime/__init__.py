"""mini-me: a small coding agent for models that run on your own machine."""

__version__ = "0.1.0"
