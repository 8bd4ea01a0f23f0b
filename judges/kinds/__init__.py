"""Kinds of judges: each turns units of samples into scores, and knows nothing of runs, leases or the web."""
