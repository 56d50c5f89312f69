"""Settings of the test run: the product's, with what would only make tests slow taken out."""

from __future__ import annotations

import os

os.environ.setdefault("SECRET_KEY", "only-for-tests-" + "0123456789" * 5)
os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1,localhost,testserver")
os.environ.setdefault("DATABASE_URL", "postgresql://comboio@127.0.0.1/comboio")
os.environ.setdefault("COMBOIO_HTTPS", "0")

from config.settings import *  # noqa: F403
from config.settings import STORAGES

# Static files come from their sources: no collectstatic before a browser test.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
