"""Draw-or-Decline: its files are read, its edits and refusals judged, scored, and set beside what its paper prints."""
