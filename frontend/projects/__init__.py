"""A project: what to do next, settings, criteria, members, the trail."""
