"""Starts the whole product from one command: environment, database, broker, processes."""
