"""mm broken on purpose: killed, starved, crowded; what stands on disk afterwards is looked at."""
