# The studio: docker build -t mores-studio . && docker compose up
FROM python:3.12-slim

RUN useradd --uid 1000 --create-home mores
WORKDIR /app
COPY pyproject.toml README.md LICENSE requirements-extras.lock ./
COPY src ./src
RUN pip install --no-cache-dir --constraint requirements-extras.lock '.[studio,parquet]'

USER 1000
WORKDIR /home/mores
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["mores", "studio", "--host", "0.0.0.0"]
