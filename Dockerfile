# docker build -t citeweave .
# docker run -p 127.0.0.1:8000:8000 citeweave serve                                  the explorer of a demo
# docker run -p 127.0.0.1:8000:8000 -v "$PWD":/data citeweave serve my-run           the explorer of your run
# docker run -v "$PWD":/data --user "$(id -u)" citeweave run export.bib              any other command

FROM python:3.13-slim AS wheel
WORKDIR /source
RUN pip install --no-cache-dir "build>=1.2"
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m build --wheel --outdir /wheels

FROM python:3.13-slim
RUN --mount=type=bind,from=wheel,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[plot]"
RUN useradd --create-home --uid 1000 citeweave && mkdir /data && chown citeweave /data
COPY --chmod=755 packaging/docker/entrypoint.sh /usr/local/bin/citeweave-entrypoint
# Kernels are compiled here, once, in a folder that any user may read and write (--user): later
# containers find them there, or compile their own on a different kind of processor.
ENV CITEWEAVE_CACHE=/var/cache/citeweave \
    MPLCONFIGDIR=/var/cache/citeweave/matplotlib
RUN install -d -m 1777 /var/cache/citeweave /opt/citeweave
USER 1000
# The folders belong to root; their contents belong to this user, who may open them to others.
RUN citeweave demo --out /opt/citeweave/demo && chmod -R a+rwX /var/cache/citeweave/* /opt/citeweave/demo
WORKDIR /data
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["citeweave-entrypoint"]
CMD ["--help"]
