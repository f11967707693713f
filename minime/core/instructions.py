"""The system prompt: the instruction, and behind it what the project's own files say to an agent."""

from minime.core.text import clean, clip

MOST_TEXT = 20_000
"""Characters of one file; a longer one is cut in the middle, and says so."""


def system_prompt(instruction: str, files: tuple[tuple[str, bytes], ...]) -> str:
    """The instruction with each file, by name and content, behind it. Empty files are left out."""
    texts = [(name, clip(clean(data).strip(), MOST_TEXT)) for name, data in files]
    said = [f"The project's {name} says:\n\n{text}" for name, text in texts if text]
    return "\n\n".join([instruction.strip(), *said]) if said else instruction
