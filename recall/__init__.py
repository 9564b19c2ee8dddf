"""recall: keep, find and continue the sessions of coding agents."""

__version__ = "0.1.0"
