"""What an operator may do: one function for each verb, each in a transaction of its own."""

from monitor.operations.done import Done

__all__ = ["Done"]
