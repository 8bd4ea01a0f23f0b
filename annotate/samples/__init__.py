"""Samples as they came in, their claims, and what is reported about them."""
