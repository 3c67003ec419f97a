"""Studies: a file says which models answer which cases under which conditions; it is estimated, run and judged."""
