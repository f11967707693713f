"""What `mm doctor` finds, as values: facts in, findings out."""
