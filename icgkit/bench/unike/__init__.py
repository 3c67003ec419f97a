"""UniKE: its files are read, a small model is edited, scores are set beside what its paper prints."""
