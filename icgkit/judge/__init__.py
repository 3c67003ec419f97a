"""Judges: a model or a person marks which constraints a response names, and which of its proposals are true."""
