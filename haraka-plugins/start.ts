import { registerHooks } from 'node:module';
import path from 'node:path';
import type { Server as TlsServer } from 'node:tls';
import { format } from 'node:util';
import type { Logger } from 'pino';
import { connectSocketBus } from '../actors/bus/socket.ts';
import { measured } from '../actors/bus/transport.ts';
import type { Bus } from '../schema/messages.ts';
import { serveTls } from './serve-tls.ts';
import type { SmtpSettings } from './settings.ts';
import type { TlsContext } from './tls-context.ts';

/** Haraka in this process. */
export interface Haraka {
  /** whether the bus is connected; without it, SMTP replies 451 */
  isConnected(): boolean;
  /** Accepts no new sessions; open ones end within 8 s and lose nothing that got 250. Then its own connection to the bus is closed. */
  stop(): Promise<void>;
}

const DRAIN_LIMIT_MS = 8_000;
/** For TLS from the start; a session begins after it. */
const HANDSHAKE_LIMIT_MS = 25_000;
/** No listener of Haraka has it. */
const NO_PORT = 0;

/** Loads Haraka's modules, most of the code of an SMTP process. `startHaraka` does it, too. */
export async function loadHaraka(log: Logger) {
  // Haraka reads it while its modules load, so they are loaded after it is set.
  process.env['HARAKA'] = import.meta.dirname;
  // Some Haraka modules print while they load; stdout is for our log lines.
  Object.assign(console, {
    log: (...parts: unknown[]) => log.debug({ event: 'haraka', text: format(...parts) }),
    error: (...parts: unknown[]) => log.warn({ event: 'haraka', text: format(...parts) }),
  });
  const restoreLoading = leaveOutRedis();
  const { default: server } = await import('haraka/server.js');
  restoreLoading();
  const { default: tlsSocket } = await import('haraka/tls_socket.js');
  return { server, tlsSocket };
}

/**
 * Starts Haraka with our plugin alone. Resolves when it listens; throws when it cannot, or when the TLS credentials are unusable. Only once
 * per process: Haraka keeps its state in its modules.
 */
export async function startHaraka(settings: SmtpSettings, log: Logger): Promise<Haraka> {
  const { server, tlsSocket } = await loadHaraka(log);
  const { expectProxyLines } = await import('./plugins/receiving/proxy-line.ts');
  const receiving = await import('./plugins/receiving/plugin.ts');
  const { equip, drain, forgetReplies, recallClients } = receiving;
  const { logRefusedCertificate } = await import('./plugins/receiving/refused-certificate.ts');

  tlsSocket.cfg = { main: { requireAuthorized: [] } };
  // One context for all sessions; Haraka creates one for each.
  const use = ({ context: secureContext, options }: TlsContext) => {
    // The listener with TLS from the start makes its context from the options.
    const shared = { handshakeTimeout: HANDSHAKE_LIMIT_MS, requestCert: false, rejectUnauthorized: false };
    tlsSocket.certsByHost.set('*', { isServer: true, secureContext, ...options, ...shared });
    for (const listener of server.listeners)
      if (listener.has_tls === true) (listener.tlsServer ?? (listener as TlsServer)).setSecureContext(options);
  };
  const stopServingTls = await serveTls({ settings, log, use });

  const bus = await connectBus(settings, log, forgetReplies);
  const { openSpoolSpace } = await import('./plugins/receiving/spool.ts');
  const spools = await openSpoolSpace(path.join(settings.dataDirectory, 'spool'), settings.limits.spooledBytes, log);
  equip({ bus, settings, log, spools });
  expectProxyLines(settings.proxies);
  // Only then does the listener with TLS from the start look for the line, which comes before TLS.
  server.connection.cfg.haproxy.enabled = settings.proxies.length > 0;
  const { main } = server.cfg;
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const ports = [settings.port, settings.submissionPort, settings.submissionsPort].filter((port) => port !== null);
  main.listen = ports.map((port) => `${host}:${port}`).join(',');
  main.smtps_port = settings.submissionsPort ?? NO_PORT;
  server.notes = {};
  server.plugins.server = server;
  // Haraka would load the file again that haraka-plugins/plugins/receiving/package.json names: built code has another one.
  server.plugins.Plugin.prototype._compile = function () {
    Object.assign(this, receiving);
  };
  server.plugins.load_plugins();
  // As a child: a cluster master would open the queue of Haraka's own outbound part, which we do not use.
  await server.setup_smtp_listeners(server.plugins, 'child', main.inactivity_timeout * 1000).catch((error: unknown) => {
    throw new Error(`cannot listen on ${main.listen}`, { cause: error });
  });
  if (server.listeners.length === 0 || !server.listeners.every((listener) => listener.listening))
    throw new Error(`cannot listen on ${main.listen}`);
  for (const listener of server.listeners) {
    if (listener.has_tls !== true) continue;
    listener.maxConnections = settings.limits.connections;
    // Before a session begins.
    const tlsServer = listener.tlsServer ?? (listener as TlsServer);
    tlsServer.on('tlsClientError', (error, socket) => logRefusedCertificate(log, error, socket.remoteAddress));
  }
  log.info({ event: 'smtp.listening', address: main.listen });
  recallClients();

  return {
    isConnected: () => bus.isConnected(),
    async stop() {
      stopServingTls();
      server.stopListeners();
      await drain(DRAIN_LIMIT_MS);
      if (settings.bus.kind !== 'own') await bus.close();
    },
  };
}

/**
 * Haraka's own outbound part, which we do not use, loads the client of Redis: more than half of all modules of this process. From now on
 * it gets an empty module instead, until the returned function is called.
 */
function leaveOutRedis(): () => void {
  const nothing = 'postroom:no-redis';
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'haraka-plugin-redis'
        ? { url: nothing, format: 'commonjs', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url === nothing ? { format: 'commonjs', source: '', shortCircuit: true } : next(url, context),
  });
  return () => hooks.deregister();
}

/** Broadcasts were lost while the connection was down: cached verdicts may be outdated. */
async function connectBus({ bus }: SmtpSettings, log: Logger, onConnection: () => void): Promise<Bus> {
  if (bus.kind === 'own') return bus.bus;
  if (bus.kind === 'socket') return measured(connectSocketBus({ path: bus.path, log, onConnection }));
  const { connectNatsBus } = await import('../actors/bus/nats.ts');
  return measured(connectNatsBus({ url: bus.url, log, name: 'smtp', onConnection }));
}
