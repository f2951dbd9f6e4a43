# For hosts without namespaces or Landlock of their own (macOS, Windows): in this container boxes have isolation T1.
#   docker build -t viva .
#   docker run --rm -e VIVA_SECRET -v "$PWD":/course:ro -v "$PWD/results":/results viva grade -o /results SUBMISSIONS…
FROM python:3.11-slim
COPY pyproject.toml setup.py constraints.txt README.md LICENSE /opt/viva/
COPY src /opt/viva/src
RUN pip install --no-cache-dir -c /opt/viva/constraints.txt '/opt/viva[notebooks]'
# Only root, which the examiner is, may look into the course and the results; the users of the boxes may not.
RUN mkdir -m 0700 /course /results
ENV VIVA_COURSE=/course
WORKDIR /course
ENTRYPOINT ["viva"]
