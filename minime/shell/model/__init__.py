"""Model servers for real: HTTP, the search for one, the embedded one."""
