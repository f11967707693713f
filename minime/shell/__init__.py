"""What is done: files, sockets, processes, terminals. Decisions live in the core."""
