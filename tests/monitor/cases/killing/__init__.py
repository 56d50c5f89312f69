"""An app of the tests: a consumer whose messages end their worker in every way there is."""
