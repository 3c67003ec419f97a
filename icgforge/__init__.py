"""icgforge makes material for icgkit: cases, mazes, diagrams, and baselines that need no key."""
