"""What goes wrong in a run, on purpose."""
