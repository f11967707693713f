"""Configuration on disk: files, trust, the project's folder."""
