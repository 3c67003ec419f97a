"""Diagrams: small drawn tasks of GRADE's kind, whose right edit is known by construction."""
