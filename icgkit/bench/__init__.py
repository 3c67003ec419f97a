"""Sibling benchmarks, a folder each: files are read as published, scored by the rules of their papers."""
