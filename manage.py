#!/usr/bin/env python3
"""The command line: its own commands first, then every command of Django."""

import sys

if sys.version_info < (3, 11):
    sys.exit(
        "Comboio needs Python 3.11 or newer; this is {}.{}. Start it with another one, "
        "or with uv, which fetches a Python by itself: uv run manage.py up".format(
            *sys.version_info[:2]
        )
    )

from config.launch import main

if __name__ == "__main__":
    sys.exit(main.main(sys.argv))
