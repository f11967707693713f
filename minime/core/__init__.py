"""What is true: immutable values and pure functions. Nothing here touches the world."""
