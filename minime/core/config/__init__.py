"""Configuration as values: what agent.yaml may say, what was said, what holds."""
