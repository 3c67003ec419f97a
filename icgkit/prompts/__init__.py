"""Prompts: templates become messages, replies become values."""
