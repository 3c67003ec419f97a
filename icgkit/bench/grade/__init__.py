"""GRADE: its files are read, scored by its rules, judged, and set beside what its paper prints."""
