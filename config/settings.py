"""Django settings, made from the checked environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF

from config import database, environment, logging, static

BASE_DIR = Path(__file__).resolve().parent.parent
ENVIRONMENT = environment.read(os.environ, base=BASE_DIR)

SECRET_KEY = ENVIRONMENT.secret_key
COMBOIO_ENVIRONMENT = ENVIRONMENT.label
COMBOIO_RELEASE = ENVIRONMENT.release
COMBOIO_UNSAFE_DATABASE = ENVIRONMENT.admits_unsafe_database
COMBOIO_METRICS_TOKEN = ENVIRONMENT.metrics_token
DEBUG = ENVIRONMENT.is_debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASES = {"default": database.database(ENVIRONMENT)}
LOGGING_CONFIG = "config.logging.configure"
LOGGING = logging.configuration(role=ENVIRONMENT.role, level=ENVIRONMENT.log_level)

INSTALLED_APPS = [
    "monitor",
    "dashboard",
    "examples.payments",
    "examples.github",
    "examples.demo",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "config.static.StaticFiles",
    "django_htmx",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "config.middleware.NoStoreMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.SessionLifetimeMiddleware",
    "config.middleware.LoginMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# Language and time: database and API speak UTC; a page turns times into its viewer's zone.
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]

# Static files
STATIC_URL = "/static/"
STATIC_ROOT = ENVIRONMENT.static
STATICFILES_DIRS = static.folders(BASE_DIR)
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

# Login and sessions: idle 30 minutes, 12 hours in all.
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SESSION_COOKIE_AGE = 30 * 60
SESSION_LIFETIME_SECONDS = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.is_https
# The __Host- prefix binds a cookie to this host over https; a browser refuses it on plain http.
SESSION_COOKIE_NAME = "__Host-session" if ENVIRONMENT.is_https else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if ENVIRONMENT.is_https else "csrf"

# What the browser may do with our pages
SECURE_SSL_REDIRECT = ENVIRONMENT.is_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if ENVIRONMENT.is_behind_proxy else None
)
SECURE_HSTS_SECONDS = 365 * 24 * 60 * 60 if ENVIRONMENT.is_https else 0
# Whether neighbour hosts may be forced to https, and listed for it, is their owner's decision.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "object-src": [NONE],
    }
}
