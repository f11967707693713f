"""The tools and consent to them as values."""
