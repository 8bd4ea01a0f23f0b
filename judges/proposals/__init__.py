"""What judges propose: claims, which people look at and take over, and values, which annotators verify."""
