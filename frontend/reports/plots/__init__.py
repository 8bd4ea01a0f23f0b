"""Plots as SVG that may stand inside any page."""
