"""Cases: an image, its edit, and the graph of what the edit makes necessary; datasets of them, and how they look."""
