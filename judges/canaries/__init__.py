"""Robustness of a judge: whether its answer changes when the text that it judges asks it to (injection canaries), and
when something changes that should not matter (bias probes).
"""
