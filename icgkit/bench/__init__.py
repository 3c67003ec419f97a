"""Sibling benchmarks: each file loads one benchmark's own files, scores them by its rules, compares with its paper."""
