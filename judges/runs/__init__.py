"""Runs: what is asked, by whom, and how nothing of it is lost or done twice."""
