"""Where a system can be asked: an HTTP endpoint, what is sent to it, and what its replies say."""
