# A server of fettle's on its own: docker build -t fettle .
# With an Ollama beside it: compose.yaml.
#
# The image has no Python and no shell, so the tools of toolsets that are written in
# Python don't run in it. Toolsets without, agents and the builtin tools do.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 go build -trimpath \
      -ldflags "-s -w -X github.com/fettle-cli/fettle/commands.version=${VERSION}" -o /out/fettle . \
 && mkdir -p /out/data /out/config

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/fettle /fettle
COPY --from=build --chown=nonroot:nonroot /out/data /data
COPY --from=build --chown=nonroot:nonroot /out/config /config
ENV FETTLE_DATA=/data FETTLE_CONFIG=/config
VOLUME /data
EXPOSE 8000 8001
USER nonroot
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s --retries=3 CMD ["/fettle", "serve", "--check"]
ENTRYPOINT ["/fettle"]
# It is to be published on this machine alone, as 127.0.0.1:8000:8000, and 8001 beside
# it, from which pages of tools are shown. For others it needs --tls-cert and
# --tls-key, or --behind https://HOST and --artifacts-url https://ANOTHER.
CMD ["serve", "--listen", "0.0.0.0:8000", "--behind", "http://localhost:8000", "--artifacts-url", "http://localhost:8001", "--log", "json"]
