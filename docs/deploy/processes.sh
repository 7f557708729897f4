#!/bin/sh
# Postroom's cluster on one Linux host without containers: three NATS servers, two of every process, and a proxy in front. It is what
# docker-compose.yml describes, as plain processes: for trying things out, and as a model for units of systemd.
#
#   docs/deploy/processes.sh up             starts what does not run, each until it is ready; with names behind it, those alone
#   docs/deploy/processes.sh restart NAME.. ends it (it drains), starts it anew, and waits until it is ready; one after the other; all: each of them
#   docs/deploy/processes.sh status         what runs, and what is missing where something is not ready
#   docs/deploy/processes.sh down           ends everything, the proxy first
#   docs/deploy/processes.sh run COMMAND..  runs a command as a gateway sees the world, and as the owner of the database:
#                                           npx node bin/doctor.ts, bin/account.ts ...
#
# Wants .env (from .env.example) with DATABASE_URL of the owner of the database in it, `npm ci`, nats-server, haproxy and curl. RUN_DIR (./run) gets logs and process
# numbers. Each process has an address of its own in NETWORK (127.77.0), so that all keep their usual ports.
set -eu
cd "$(dirname "$0")/../.."

RUN_DIR=${RUN_DIR:-./run}
NETWORK=${NETWORK:-127.77.0}
ACTORS='receiving threading sending scheduling delivery'
SERVERS='nats-1 nats-2 nats-3'
PROCESSES='receiving-1 receiving-2 threading-1 threading-2 sending-1 sending-2 scheduling-1 scheduling-2 delivery-1 delivery-2 gateway-1 gateway-2 smtp-1 smtp-2'
READY_SECONDS=${READY_SECONDS:-120}
# DRAIN_DELAY_SECONDS, 10 s of draining, and a margin; whatever is left then is killed
STOP_SECONDS=90

fail() {
  echo "$*" >&2
  exit 1
}

read_environment() {
  [ -f .env ] || fail '.env is missing: cp .env.example .env, and fill it in'
  . ./.env
  for name in DATABASE_URL SECRET_KEY NATS_ROUTE_PASSWORD; do
    eval "[ -n \"\${$name:-}\" ]" || fail ".env: $name is empty"
  done
  for program in nats-server haproxy curl; do
    command -v "$program" >/dev/null || fail "$program is missing: apt-get install $program"
  done
  mkdir -p "$RUN_DIR"
  chmod 700 "$RUN_DIR"
}

address_of() {
  case $1 in
    proxy) echo "$NETWORK.2" ;;
    nats-*) echo "$NETWORK.1${1##*-}" ;;
    gateway-*) echo "$NETWORK.2${1##*-}" ;;
    smtp-*) echo "$NETWORK.3${1##*-}" ;;
    receiving-*) echo "$NETWORK.4${1##*-}" ;;
    threading-*) echo "$NETWORK.5${1##*-}" ;;
    sending-*) echo "$NETWORK.6${1##*-}" ;;
    scheduling-*) echo "$NETWORK.7${1##*-}" ;;
    delivery-*) echo "$NETWORK.8${1##*-}" ;;
    *) fail "$1 is none of: $SERVERS $PROCESSES proxy" ;;
  esac
}

pid_of() {
  cat "$RUN_DIR/$1.pid" 2>/dev/null || true
}

# After a reboot a number may be another program's: the command line decides. A gateway begins again with settings of memory, under its own name
# instead of run.js.
runs() {
  pid=$(pid_of "$1")
  [ -n "$pid" ] && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -e "$(command_of "$1")" -e "/bin/${1%-*}."
}

# where it says whether it is ready
probe_of() {
  case $1 in
    proxy) echo "http://$(address_of proxy):8404/" ;;
    nats-*) echo "http://$(address_of "$1"):8222/healthz" ;;
    *) echo "http://$(address_of "$1"):9464/ready" ;;
  esac
}

await_ready() {
  tries=0
  until curl --silent --fail --max-time 3 --output /dev/null "$(probe_of "$1")"; do
    # Just started it may not have its own command line yet.
    kill -0 "$(pid_of "$1")" 2>/dev/null || fail "$1 ended: see $RUN_DIR/$1.log"
    tries=$((tries + 1))
    [ "$tries" -lt $((READY_SECONDS * 4)) ] || fail "$1 is not ready: $(curl --silent --max-time 3 "$(probe_of "$1")" || true)"
    sleep 0.25
  done
}

nats_environment() {
  export NATS_SERVER_NAME="$1" NATS_LISTEN="$(address_of "$1"):4222" NATS_MONITOR="$(address_of "$1"):8222"
  export NATS_CLUSTER_LISTEN="$(address_of "$1"):6222"
  for n in 1 2 3; do
    export "NATS_ROUTE_$n=nats-route://route:$NATS_ROUTE_PASSWORD@$(address_of nats-$n):6222"
  done
  # nats.conf reads values in their own form; the quotes make a text of each
  for role in ROUTE GATEWAY SMTP RECEIVING THREADING SENDING SCHEDULING DELIVERY; do
    eval "export NATS_${role}_PASSWORD=\"\\\"\$NATS_${role}_PASSWORD\\\"\""
  done
}

# What docker-compose.yml gives to the service, and no more: a process that knows less gives less away.
process_environment() {
  role=${1%-*}
  upper=$(echo "$role" | tr a-z A-Z)
  eval "password=\$NATS_${upper}_PASSWORD"
  export NATS_URL="nats://$role:$password@$(address_of nats-1):4222,nats://$(address_of nats-2):4222,nats://$(address_of nats-3):4222"
  export HOST="$(address_of "$1")" METRICS_HOST="$(address_of "$1")" METRICS_PORT=9464 HTTP_PORT=3000 SMTP_PORT=2525
  export DATA_DIR="$RUN_DIR/data" MAIL_HOSTNAME DRAIN_DELAY_SECONDS OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS OTEL_TRACES_SAMPLER_ARG LOG_LEVEL LOG_FORMAT
  if [ "$role" = smtp ]; then
    # it meets the world first, and knows neither the database nor the key
    export SMTP_PROXIES="$(address_of proxy)" SMTP_TLS_KEY_FILE SMTP_TLS_CERT_FILE
    export SMTP_MAX_CONNECTIONS SMTP_MAX_CONNECTIONS_PER_ADDRESS SMTP_COMMAND_SECONDS
    export SMTP_MAX_UNKNOWN_RECIPIENTS SMTP_FREE_UNKNOWN_RECIPIENTS DNS_SERVERS
    export SMTP_EARLY_TALKERS SMTP_GREETING_DELAY_MS SMTP_OWN_NAME SMTP_SENDER_DOMAIN SMTP_TRUSTED_NETWORKS
    export SMTP_CONNECTIONS_PER_MINUTE SMTP_MESSAGES_PER_MINUTE DNS_BLOCK_LISTS DNS_ALLOW_LISTS GREYLIST_SECONDS
    return
  fi
  for name in DATABASE_URL SECRET_KEY PUBLIC_URL $(sed -n '/^x-database-environment/,/^$/s/^  \([A-Z_]*\): \${\1:-}$/\1/p' docker-compose.yml); do
    export "$name"
  done
  # Processes log in as roles of their own; as_owner is for the rest.
  OWNER_URL=$DATABASE_URL
  DATABASE_URL=$(echo "$DATABASE_URL" | sed 's#//[^/]*@#//#')
  export TRUSTED_PROXIES="$(address_of proxy)${TRUSTED_PROXIES:+,$TRUSTED_PROXIES}" INBOUND_SMTP="$(address_of proxy):2525"
}

as_owner() {
  process_environment gateway-1
  DATABASE_URL=$OWNER_URL
}

# haproxy.cfg of the compose file, with addresses in the place of names
write_proxy_configuration() {
  # two sockets for each connection; as many as this shell may open
  most=$(ulimit -Hn)
  { [ "$most" != unlimited ] && [ "$most" -lt 40200 ]; } || most=40200
  sed -e "s/^  maxconn .*/  maxconn $(((most - 200) / 2))/" -e '/^resolvers /,/^$/d' -e 's/ resolvers containers init-addr libc,none//' \
    -e "s/server gateway-\([12]\) gateway-[12]:/server gateway-\1 $NETWORK.2\1:/" \
    -e "s/server smtp-\([12]\) smtp-[12]:/server smtp-\1 $NETWORK.3\1:/" \
    docs/deploy/haproxy/haproxy.cfg >"$RUN_DIR/haproxy.cfg"
  # what is published, beside the proxy's own address
  sed -i -e "s/^  bind \"\${PROXY_LISTEN}:8080\"/&\n  bind ${HTTP_PUBLISHED:-127.0.0.1:8080}/" \
    -e "s/^  bind \"\${PROXY_LISTEN}:2525\"/&\n  bind ${SMTP_PUBLISHED_PLAIN}/" "$RUN_DIR/haproxy.cfg"
}

command_of() {
  case $1 in
    proxy) echo "haproxy -db -f $RUN_DIR/haproxy.cfg" ;;
    nats-*) echo 'nats-server -c docs/deploy/nats/nats.conf' ;;
    gateway-*) echo "$NODE bin/run.js gateway" ;;
    smtp-*) echo "$NODE bin/run.js smtp" ;;
    *) echo "$NODE bin/run.js actor ${1%-*}" ;;
  esac
}

start() {
  runs "$1" && return 0
  (
    case $1 in
      proxy)
        write_proxy_configuration
        export PROXY_LISTEN="$(address_of proxy)" PROXY_SOURCE="$(address_of proxy)" PROXY_HEALTH="$(address_of proxy)"
        ;;
      nats-*) nats_environment "$1" ;;
      *) process_environment "$1" ;;
    esac
    # A session of its own: Ctrl-C in this terminal is not meant for it.
    setsid $(command_of "$1") >>"$RUN_DIR/$1.log" 2>&1 &
    echo $! >"$RUN_DIR/$1.pid"
  )
  await_ready "$1"
  # Somebody else may have answered at its address.
  runs "$1" || fail "$1 ended: see $RUN_DIR/$1.log"
  echo "$1 is ready"
}

stop() {
  runs "$1" || return 0
  kill "$(pid_of "$1")"
  tries=0
  while runs "$1"; do
    tries=$((tries + 1))
    [ "$tries" -lt $((STOP_SECONDS * 4)) ] || kill -9 "$(pid_of "$1")"
    sleep 0.25
  done
  rm -f "$RUN_DIR/$1.pid"
  echo "$1 ended"
}

migrate() {
  (as_owner && "$NODE" bin/run.js migrate)
}

# the last part of a bind in haproxy's words: a port alone is one of all addresses
as_bind() {
  case $1 in
    *:*) echo "$1" ;;
    *) echo "*:$1" ;;
  esac
}

read_environment
NODE=node_modules/node/bin/node
[ -x "$NODE" ] || fail 'node_modules is missing: npm ci'
HTTP_PUBLISHED=$(as_bind "${HTTP_PUBLISHED:-127.0.0.1:8080}")
SMTP_PUBLISHED_PLAIN=$(as_bind "${SMTP_PUBLISHED:-25}")

case ${1:-} in
  up)
    shift
    migrate
    for name in ${*:-$SERVERS $PROCESSES proxy}; do
      address_of "$name" >/dev/null
      start "$name"
    done
    echo "HTTP at $HTTP_PUBLISHED, SMTP at $SMTP_PUBLISHED_PLAIN"
    ;;
  restart)
    shift
    names=$*
    [ "$names" != all ] || { names="$SERVERS $PROCESSES" && migrate; }
    [ -n "$names" ] || fail 'restart what? Names, or all'
    for name in $names; do
      address_of "$name" >/dev/null
      stop "$name"
      start "$name"
    done
    ;;
  status)
    for name in $SERVERS $PROCESSES proxy; do
      if ! runs "$name"; then
        echo "$name does not run"
      elif curl --silent --fail --max-time 3 --output /dev/null "$(probe_of "$name")"; then
        echo "$name is ready (pid $(pid_of "$name"))"
      else
        echo "$name is not ready: $(curl --silent --max-time 3 "$(probe_of "$name")" || true)"
      fi
    done
    ;;
  run)
    shift
    as_owner
    # the doors that clients use
    export HOST="$(address_of proxy)" HTTP_PORT=8080 METRICS_PORT=0
    PATH="$PWD/node_modules/.bin:$PATH" exec "$@"
    ;;
  down)
    for name in proxy smtp-1 smtp-2 gateway-1 gateway-2; do stop "$name"; done
    for name in $PROCESSES $SERVERS; do stop "$name"; done
    ;;
  *)
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"
    [ "${1:-}" = --help ] || exit 2
    ;;
esac
