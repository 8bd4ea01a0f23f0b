"""Reports: their pages, plots, the file that needs nothing else, looks, planning."""
