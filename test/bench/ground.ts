import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type DnsServer, startDnsServer } from '../support/servers/dns.ts';
import { BenchChild, stopServers } from './child.ts';
import { SINK_DOMAIN } from './messages.ts';

/** What a benchmark stands on: a folder, a DNS server, and everything that it starts. All of it ends with the benchmark. */
export interface Ground {
  directory: string;
  /** has `load.test`, from which mail comes with SPF and DMARC that pass, and the MX of the sink's domain at 127.0.0.1 */
  dns: DnsServer;
  /** Starts a script of this folder as a process. */
  child(script: string): BenchChild;
  /** Keeps a server until the ground ends. The function that is returned stops it earlier. */
  keep(server: { stop(): Promise<void> }): () => Promise<void>;
}

/** Runs a benchmark and ends everything it started, in reverse order, also after a failure and after SIGINT and SIGTERM. */
export async function onGround<T>(work: (ground: Ground) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'postroom-bench-'));
  // PostgreSQL and Postfix drop root, and pass through it.
  await chmod(directory, 0o755);
  const dns = await startDnsServer();
  dns.set('load.test', 'TXT', ['v=spf1 ip4:127.0.0.0/8 -all']);
  dns.set('_dmarc.load.test', 'TXT', ['v=DMARC1; p=none']);
  dns.set(SINK_DOMAIN, 'MX', [{ preference: 10, exchange: `mx.${SINK_DOMAIN}` }]);
  dns.set(`mx.${SINK_DOMAIN}`, 'A', ['127.0.0.1']);
  const stops = new Set<() => Promise<void>>();
  const keep: Ground['keep'] = (server) => {
    const stop = async () => {
      if (stops.delete(stop)) await server.stop();
    };
    stops.add(stop);
    return stop;
  };
  const endAll = async () => {
    for (const stop of [...stops].toReversed())
      await stop().catch((error: unknown) => console.error(`could not stop a server: ${String(error)}`));
    // Those that were still starting.
    await stopServers();
    await dns.stop();
    await rm(directory, { recursive: true, force: true, maxRetries: 3 });
  };
  let ending: Promise<void> | undefined;
  const end = () => (ending ??= endAll());
  const onSignal = (signal: NodeJS.Signals) => {
    console.error(`${signal}: stopping what runs`);
    void end().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143));
  };
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    return await work({
      directory,
      dns,
      child(script) {
        const child = new BenchChild(script);
        keep({ stop: () => Promise.resolve(child.stop()) });
        return child;
      },
      keep,
    });
  } finally {
    await end();
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
