"""How fast Touchstone is on this machine: `make bench`, or one benchmark alone, `python -m bench.label_loop`."""
