"""Simulation: studies drawn from assumed effects, and how many cases a study needs."""
