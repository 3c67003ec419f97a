"""Mazes: feasible ones and their infeasible twins, edits with known faults, and solvers of them."""
