"""Look at a run: an explorer in JupyterLab (`explore`), the same as a page to send to a colleague (`write_view`)."""
