"""An app of case C14: consumers that are at work while their database is restarted."""
