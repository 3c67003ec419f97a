"""Reproduction: notebooks are run with papermill, and their results are compared with the committed ones."""
