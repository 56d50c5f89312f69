"""An app of the tests: external handlers that take long in ways that are hard on a worker."""
