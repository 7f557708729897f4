#!/bin/sh
# Brings the containers of docker-compose.yml up to date one after the other, while the others do the work: after a change of .env or of
# a mounted file, and for an upgrade. Clients do not notice.
#
#   docs/deploy/roll.sh                     every container whose settings or image changed, and NATS, whose file may have
#   docs/deploy/roll.sh --build             builds the image first (an upgrade: after `git checkout vX.Y.Z`)
#   docs/deploy/roll.sh --all               every container, changed or not
#   docs/deploy/roll.sh gateway-1 smtp-1    only these
#   docs/deploy/roll.sh --check             only checks Docker, Compose and .env
#
# Each container is ready again before the next one is stopped. The script stops at the first one that does not become ready: the rest of
# the service keeps running as it was. COMPOSE (default `docker compose`) names another command.
set -eu
cd "$(dirname "$0")/../.."

COMPOSE=${COMPOSE:-docker compose}
DOCKER=${DOCKER:-docker}
LEAST_DOCKER=20.10
LEAST_COMPOSE=2.24
# NATS first: its permissions name the subjects of the new code. The migration next. The proxy last, and only reloaded.
NATS='nats-1 nats-2 nats-3'
# If COMPOSE_PROFILES names them. rspamd looks for its Redis once, when it starts, and without it never learns.
SCANNERS='clamd rspamd-redis rspamd'
ROLES='receiving threading sending scheduling delivery gateway smtp'

fail() {
  echo "roll.sh: $*" >&2
  exit 1
}

# Whether version $1 is at least version $2, by the first two numbers.
is_at_least() {
  printf '%s\n%s\n' "$2" "$1" | sort -t. -k1,1n -k2,2n -C
}

check() {
  version=$($DOCKER version --format '{{.Server.Version}}' 2>/dev/null) || fail 'cannot reach the Docker engine: is it running, and may you use it?'
  is_at_least "${version#v}" "$LEAST_DOCKER" || fail "Docker engine $version is too old: $LEAST_DOCKER or newer is needed"
  version=$($COMPOSE version --short 2>/dev/null) || fail "Docker Compose is missing: version $LEAST_COMPOSE or newer is needed (the plugin 'docker compose')"
  is_at_least "${version#v}" "$LEAST_COMPOSE" || fail "Docker Compose $version is too old: $LEAST_COMPOSE or newer is needed"
  [ -f .env ] || fail '.env is missing: cp .env.example .env and fill it in (docs/operate.md)'
  $COMPOSE config --quiet || fail 'docker-compose.yml and .env do not fit together: see the line above and docs/operate.md'
  unreadable=$(find docs/deploy/nats docs/deploy/haproxy docs/deploy/rspamd ! -perm -o=r -o -type d ! -perm -o=x)
  [ -z "$unreadable" ] || fail "the containers' users cannot read $(echo "$unreadable" | head -n 1): chmod -R a+rX docs/deploy"
}

up() {
  how=$recreate
  # nats.conf is mounted: Compose does not notice a change of it, and the servers read it when they start.
  case $1 in nats-*) how=--force-recreate ;; esac
  # shellcheck disable=SC2086
  $COMPOSE up --detach --no-deps --wait $how "$1" || fail "$1 did not become ready: $COMPOSE logs $1. The other containers were not touched"
}

build=
recreate=
names=
for word in "$@"; do
  case $word in
    --build) build=yes ;;
    --all) recreate=--force-recreate ;;
    --check)
      check
      echo 'Docker, Compose and .env are fine'
      exit 0
      ;;
    -*)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
      [ "$word" = --help ] || exit 2
      exit 0
      ;;
    *) names="$names $word" ;;
  esac
done

check
if [ -n "$build" ]; then
  # With the image of backup and restore, which otherwise stays that of an older version
  REVISION=$(git rev-parse HEAD 2>/dev/null || echo unknown) $COMPOSE --profile tools build
fi
services=$($COMPOSE config --services | sort)
if [ -n "$names" ]; then
  for name in $names; do
    echo "$services" | grep -qx "$name" || fail "$name is not a service of docker-compose.yml"
  done
  for name in $names; do up "$name"; done
  exit 0
fi
up postgres
for name in $NATS; do up "$name"; done
others=$(echo "$services" | grep -vxE "postgres|migrate|proxy|($(echo nats $SCANNERS $ROLES | tr ' ' '|'))(-[0-9]+)?" || true)
for name in $SCANNERS $others; do
  if echo "$services" | grep -qx "$name"; then up "$name"; fi
done
$COMPOSE run --rm --no-deps migrate || fail 'the migration failed: every container still runs the old version'
for role in $ROLES; do
  for name in $(echo "$services" | grep -E "^$role-[0-9]+$"); do up "$name"; done
done
# The proxy reads its file again; it is only recreated when its own settings changed.
if [ -n "$($COMPOSE ps --quiet --status running proxy)" ]; then
  $COMPOSE kill --signal USR2 proxy
fi
up proxy
echo 'All containers are up to date and ready'
