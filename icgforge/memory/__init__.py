"""Memory: a small model that is edited, so that UniKE's measures have something to measure."""
