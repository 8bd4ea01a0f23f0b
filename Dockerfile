# One image for web, worker and the one-off migration; docker-compose.yml says which it is.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

# A fixed number, so that the volume's owner is the same in every version of the image.
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin touchstone

WORKDIR /app
COPY requirements-server.txt .
RUN pip install --requirement requirements-server.txt

# What is optional: docker build --build-arg WITH="ragas models". Each file names all that is needed (config/install.py).
ARG WITH=""
COPY requirements-*.txt .
RUN for extra in $WITH; do pip install --no-deps --requirement "requirements-$extra.txt" || exit 1; done

COPY . .

# Translations and static files are part of the image; uploads and exports live in the volume on /data. Building the files needs
# settings, but nothing of production: those of a local installation do, and what they leave behind goes away, with the tool
# that bundles the files.
RUN pip install --requirement requirements-static.txt \
    && python -m frontend.translation.catalogue \
    && TOUCHSTONE_ENV=local DATA_DIR=/app/build python manage.py collectstatic --no-input \
    && mkdir -p /data && mv /app/build/static /app/static && rm -r /app/build && chown touchstone /data \
    && pip uninstall --yes --requirement requirements-static.txt

ENV TOUCHSTONE_ENV=production DATA_DIR=/data STATIC_ROOT=/app/static HOST=0.0.0.0 PORT=8000 WEB_HEARTBEAT_DIR=/dev/shm
USER touchstone
EXPOSE 8000
VOLUME /data

CMD ["gunicorn", "--config", "python:config.gunicorn_conf", "config.wsgi"]
