"""The tools at work on files and processes."""
