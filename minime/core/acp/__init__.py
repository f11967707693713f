"""The Agent Client Protocol, version 1, as values: lines, updates, and the machine that decides."""
