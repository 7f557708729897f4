#!/bin/sh
# Makes local stand-ins for the base images that Dockerfile and docker-compose.yml name, for machines that cannot pull images: Debian 12
# with Node from node_modules, and Debian's PostgreSQL, NATS, HAProxy, Redis, rspamd and ClamAV. What they are not: the published images,
# their versions of these programs, Alpine, and signatures of viruses: clamd knows the test file alone.
#
#   test/deploy/engine/make-images.sh        wants root, debootstrap, docker with a running engine, and `npm ci`
set -eu
cd "$(dirname "$0")/../../.."

# `docker build` without its plugin for BuildKit
export DOCKER_BUILDKIT=0
node_version=$(sed -n 's/.*"node": "\([0-9.]*\)".*/\1/p' package.json)
npm_folder=$(npm root --global)/npm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! docker image inspect postroom-test-debian >/dev/null 2>&1; then
  debootstrap --variant=minbase --include=ca-certificates,wget,nats-server,haproxy,postgresql-15,postgresql-client-15,rspamd,redis-server,clamav-daemon \
    bookworm "$work/debian" >"$work/debootstrap.log" 2>&1 || { cat "$work/debootstrap.log" >&2; exit 1; }
  rm -rf "$work/debian/var/cache/apt" "$work/debian/var/lib/apt/lists"
  # npm in the stand-in asks the registry that npm asks here, and trusts the same authorities.
  mkdir -p "$work/debian/usr/local/etc" "$work/debian/usr/local/lib/node_modules"
  {
    echo "registry=$(npm config get registry)"
    echo 'cafile=/etc/ssl/certs/ca-certificates.crt'
  } >"$work/debian/usr/local/etc/npmrc"
  cp -L /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/ca-certificates.crt"
  tar -C "$work/debian" -c . | docker import - postroom-test-debian >/dev/null
fi

mkdir "$work/node" && cp node_modules/node/bin/node "$work/node/node" && cp -r "$npm_folder" "$work/node/npm"
docker build --quiet --tag "node:$node_version-slim" --file - "$work/node" <<'DOCKERFILE'
FROM postroom-test-debian
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
DOCKERFILE

# The entry point does what that of the published image does with the variables of docker-compose.yml.
mkdir "$work/postgres" && cat >"$work/postgres/entrypoint.sh" <<'SCRIPT'
#!/bin/sh
set -eu
export PATH="/usr/lib/postgresql/15/bin:$PATH" PGDATA=/var/lib/postgresql/18/docker
if [ "$1" = postgres ] && [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA" && chmod 700 "$PGDATA"
  printf '%s\n' "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth-local trust --auth-host trust --data-checksums >/dev/null
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --silent --wait --options "-c listen_addresses=''" start >/dev/null
  [ "$POSTGRES_DB" = postgres ] || createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --silent --wait --mode fast stop
fi
[ "$1" != postgres ] || { shift && set -- postgres -c listen_addresses='*' "$@"; }
exec "$@"
SCRIPT
chmod 755 "$work/postgres/entrypoint.sh"
docker build --quiet --tag postgres:18.4 --file - "$work/postgres" <<'DOCKERFILE'
FROM postroom-test-debian
COPY entrypoint.sh /usr/local/bin/entrypoint.sh
RUN rm -rf /var/lib/postgresql && install --directory --owner postgres --group postgres --mode 1777 /var/lib/postgresql /var/run/postgresql
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["entrypoint.sh"]
DOCKERFILE

# As docker-compose.yml names them; nats runs `nats-server`, whose words are the command.
image_of() {
  sed -n "s|^ *image: \($1:.*\)|\1|p" docker-compose.yml
}
printf 'FROM postroom-test-debian\nENTRYPOINT ["nats-server"]\n' | docker build --quiet --tag "$(image_of nats)" -
printf 'FROM postroom-test-debian\nSTOPSIGNAL SIGUSR1\n' | docker build --quiet --tag "$(image_of haproxy)" -

# The published ones of the scanners listen at every address, log to the console, and own their folders by these numbers.
docker build --quiet --tag "$(image_of redis)" - <<'DOCKERFILE'
FROM postroom-test-debian
RUN install --directory --owner 999 --group 1000 /data
WORKDIR /data
VOLUME /data
ENTRYPOINT ["sh", "-c", "exec \"$@\" --protected-mode no", "--"]
DOCKERFILE
docker build --quiet --tag "$(image_of rspamd/rspamd)" - <<'DOCKERFILE'
FROM postroom-test-debian
RUN sed -i 's/type = "file"/type = "console"/; s/bind_socket = "localhost:/bind_socket = "*:/; /pidfile = /d' /etc/rspamd/rspamd.conf \
  && chown -R 11333:11333 /var/lib/rspamd
VOLUME /var/lib/rspamd
DOCKERFILE
mkdir "$work/clamav" && cat >"$work/clamav/clamd.conf" <<'CONFIGURATION'
LocalSocket /tmp/clamd.sock
TCPSocket 3310
DatabaseDirectory /var/lib/clamav
LogFile /var/log/clamav/clamd.log
LogTime yes
CONFIGURATION
# The published one downloads signatures into an empty volume, and runs freshclam beside clamd.
printf '#!/bin/sh\nexec clamd --foreground --config-file=/etc/clamav/clamd.conf\n' >"$work/clamav/init-unprivileged"
printf '#!/bin/bash\nexec 3<>/dev/tcp/localhost/3310 && echo PING >&3 && read -r -t 3 pong <&3 && [ "$pong" = PONG ]\n' >"$work/clamav/clamdcheck.sh"
# The test file of virus scanners, in the form of a signature: https://www.eicar.org
printf 'Eicar-Signature:0:*:%s\n' "$(printf '%s%s' 'X5O!P%@AP[4\PZX54(P^)7CC)7}$' 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*' | od -An -v -tx1 | tr -d ' \n')" >"$work/clamav/eicar.ndb"
chmod 755 "$work/clamav/init-unprivileged" "$work/clamav/clamdcheck.sh"
docker build --quiet --tag "$(image_of clamav/clamav)" --file - "$work/clamav" <<'DOCKERFILE'
FROM postroom-test-debian
COPY init-unprivileged /init-unprivileged
COPY clamdcheck.sh /usr/local/bin/
COPY clamd.conf /etc/clamav/clamd.conf
COPY eicar.ndb /var/lib/clamav/
RUN chown -R 100:101 /var/lib/clamav
DOCKERFILE
