"""What a run works on: a real database, broker, workers and provider, all of its own."""
