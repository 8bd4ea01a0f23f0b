"""Samples, claims, files in and out, flags."""
