"""Calls: a request is sent to a model within limits and a budget, and its answer is kept in a durable cache."""
