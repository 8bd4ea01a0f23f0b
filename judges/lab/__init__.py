"""The lab: a changed judge tried on a few samples of dev, beside the version in use."""
