"""What Prometheus reads: the same reports as the console, as metrics."""
