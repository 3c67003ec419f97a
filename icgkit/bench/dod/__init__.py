"""Draw-or-Decline: files read, edits and refusals judged, scored, set beside what its paper prints."""
