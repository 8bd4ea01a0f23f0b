"""Kinds of judges: each turns samples and units into scored units, and knows nothing of runs, leases or the web."""
