import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConnectionOptions,
  connect,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import type { BusLog } from './transport.ts';

/** One connection to NATS that reconnects by itself and restores its subscriptions. */
export interface KeptConnection {
  /** Returns the connection while it is up, else null. */
  current(): NatsConnection | null;
  /** Subscribes now and after each reconnection. Returns a function that unsubscribes: after it resolves, nothing more arrives. */
  subscribe(subject: string, queue: string | null, take: (message: Msg) => void): () => Promise<void>;
  close(): Promise<void>;
}

export interface KeptConnectionOptions {
  /** nats:// or tls://, credentials in it; several separated by commas */
  url: string;
  /** shown by the server's monitoring */
  name: string;
  log: BusLog;
  onConnection: (isConnected: boolean) => void;
}

/** The connection is back within a second of the server's return. */
const RETRY_MS = 250;
const RETRY_JITTER_MS = 100;
const CONNECT_TIMEOUT_MS = 2_000;
/** For what is still unsent when the connection is closed. */
const FLUSH_LIMIT_MS = 500;
/** A server that does not respond to this many pings in a row is given up. */
const PING_INTERVAL_MS = 5_000;
const MAX_PINGS_OUT = 2;

interface Kept {
  subject: string;
  queue: string | null;
  take: (message: Msg) => void;
  live: Subscription | null;
}

/** Connects and keeps trying; the server need not be up at the start. Losing and regaining the connection is one log line each. */
export function keepNatsConnection({ url, name, log, onConnection }: KeptConnectionOptions): KeptConnection {
  const kept = new Set<Kept>();
  const closing = new AbortController();
  let connection: NatsConnection | null = null;
  let isUp = false;

  const turn = (up: boolean, reason?: unknown) => {
    if (isUp === up) return;
    isUp = up;
    if (closing.signal.aborted) return;
    if (up) log.info({ name }, 'bus: connected');
    else log.warn({ name, err: reason }, 'bus: connection lost');
    onConnection(up);
  };

  const attach = (each: Kept, to: NatsConnection) => {
    each.live = to.subscribe(each.subject, {
      ...(each.queue === null ? {} : { queue: each.queue }),
      callback: (error, message) => {
        if (error) log.error({ err: error, subject: each.subject }, 'bus: subscription failed');
        else each.take(message);
      },
    });
  };

  const watch = async (watched: NatsConnection) => {
    for await (const status of watched.status()) {
      if (status.type === 'disconnect') turn(false);
      else if (status.type === 'reconnect') turn(true);
      else if (status.type === 'error') log.error({ err: status.error, name }, 'bus: server reported an error');
    }
  };

  const run = async () => {
    let isFirstFailure = true;
    while (!closing.signal.aborted) {
      try {
        const opened = await connect(connectOptions(url, name));
        // oxlint-disable-next-line typescript/no-unnecessary-condition -- may be aborted while it connects
        if (closing.signal.aborted) return await opened.close();
        isFirstFailure = true;
        connection = opened;
        for (const each of kept) attach(each, opened);
        // Registered before the first status arrives, or a loss in between would go unnoticed.
        const watched = watch(opened);
        turn(true);
        const reason = await opened.closed();
        await watched;
        connection = null;
        turn(false, reason);
      } catch (error) {
        if (isFirstFailure) log.warn({ err: error, name }, 'bus: no connection yet, trying on');
        isFirstFailure = false;
      }
      await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const ran = run();

  return {
    current: () => (isUp ? connection : null),
    subscribe(subject, queue, take) {
      const each: Kept = { subject, queue, take, live: null };
      kept.add(each);
      if (connection && !connection.isClosed()) attach(each, connection);
      return async () => {
        kept.delete(each);
        if (!each.live) return;
        // A drain still takes what the server sent before it learned of the unsubscription.
        if (isUp) await each.live.drain().catch(() => undefined);
        else each.live.unsubscribe();
      };
    },
    async close() {
      closing.abort();
      // The last replies are still on their way to the server.
      if (isUp) await Promise.race([connection?.flush().catch(() => undefined), delay(FLUSH_LIMIT_MS)]);
      await connection?.close().catch(() => undefined);
      await ran;
    },
  };
}

/**
 * The role of this process at the NATS server: the user of its first URL. Its inbox and the subjects that it opens are below that name, so
 * that permissions can separate roles. `postroom` without a user, or with one that cannot be part of a subject.
 */
export function readRole(url: string): string {
  const user = decodeURIComponent(new URL(url.split(',', 1)[0] ?? '').username);
  return /^[A-Za-z0-9_-]+$/.test(user) ? user : 'postroom';
}

function connectOptions(url: string, name: string): ConnectionOptions {
  const urls = url.split(',').map((each) => new URL(each.trim()));
  const [first] = urls;
  const credentials: ConnectionOptions = {};
  if (first?.username) {
    const user = decodeURIComponent(first.username);
    if (first.password) Object.assign(credentials, { user, pass: decodeURIComponent(first.password) });
    else credentials.token = user;
  }
  return {
    ...credentials,
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
    servers: urls.map((each) => each.host),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    reconnectJitter: RETRY_JITTER_MS,
    reconnectJitterTLS: RETRY_JITTER_MS,
    // A server that is being reconfigured may reject credentials for a while. Giving up would need an operator.
    ignoreAuthErrorAbort: true,
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: MAX_PINGS_OUT,
    noAsyncTraces: true,
  };
}
