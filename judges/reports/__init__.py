"""Frozen reports: what they rest on, how they are made, read and worked out again; what to label next."""
