"""Markdown as a model writes it, piece by piece, to lines for a terminal."""
