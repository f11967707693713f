"""The conversation with a model server as values: streams, answers, refusals, failures."""
