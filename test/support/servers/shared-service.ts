import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { freePort } from '../cluster/cluster.ts';
import { sharedFolder } from '../shared-folder.ts';
import { makeServiceDirectory } from './orphans.ts';
import { createDomainAccount, Service, type ServiceMode } from './service.ts';
import { openSharedZone, type SharedZone, startSharedDns } from './shared-dns.ts';
import { noteSharedServer, sharedOutput } from './shared-server.ts';

/** MAIL_HOSTNAME of a shared service. */
const MAIL_HOST = 'mx.postroom.test';

/** Domain of SYSTEM_MAIL_FROM of a shared service, for the one file that has an account with it. */
export const SYSTEM_DOMAIN = 'system.test';

/** Domains that accounts of a shared service may add without DNS: one per account of all files of a run. */
const trustedDomains = Array.from({ length: 300 }, (_, n) => `shared${n}.test`);

/** What of a service files can use that share it. */
export interface SharedService
  extends Pick<
    Service,
    | 'mode'
    | 'directory'
    | 'url'
    | 'httpPort'
    | 'smtpPort'
    | 'environment'
    | 'ownerEnvironment'
    | 'databaseUrl'
    | 'createAccount'
  > {
  /** everything that its processes wrote so far, for all files; at most for a message about a failure */
  readonly output: string;
  /** OUTBOUND_PORT: a file that receives mail starts its sink on this port, at its own loopback address */
  outboundPort: number;
  /** Claims a DNS name and those below it for this file. Names that no file claimed get SERVFAIL. */
  openZone(apex: string): SharedZone;
}

type Facts = Pick<Service, 'directory' | 'url' | 'httpPort' | 'smtpPort' | 'environment' | 'ownerEnvironment'> & {
  databaseUrl: string;
  dnsDirectory: string;
  outboundPort: number;
};

const FACTS = 'facts.json';

/**
 * Returns the service that the test files of this run share, one per mode, with these settings: those of Service, and DNS, OUTBOUND_PORT,
 * SYSTEM_MAIL_FROM and TRUSTED_DOMAINS as above, MAIL_HOSTNAME, and no limit of forwards. The first file that needs it starts it; it ends after the last file of the run.
 *
 * A file that uses it has its own accounts, domains, webhook receivers and sinks, and sees only what belongs to them. It may not
 * - stop, restart, signal or reconfigure a process, or take its database away;
 * - assert anything on rows, metrics, logs, events, counts or limits of the whole service, or on what the first account has;
 * - change rows of the whole service: truncate, delete or update without its own user ids, or move all due times;
 * - use up the attempts of 127.0.0.1 to sign in, sign up or the like: a client that has too many is stopped at all accounts;
 * - count on a name being unused (email addresses of accounts, domains, Message-IDs at large) that another file may use too;
 * - leave work behind that goes on: endpoints that are retried for minutes, mail that is sent to a sink that has stopped.
 */
export async function sharedService(mode: ServiceMode): Promise<SharedService> {
  const name = `service-${mode}`;
  const folder = await sharedFolder(name, (draft) => startService(mode, draft));
  const facts = JSON.parse(await readFile(path.join(folder, FACTS), 'utf8')) as Facts;
  return {
    ...facts,
    mode,
    databaseUrl: () => Promise.resolve(facts.databaseUrl),
    get output() {
      return sharedOutput(facts.directory);
    },
    createAccount: async () => createDomainAccount(facts.url, facts.databaseUrl, await takeDomain(folder)),
    openZone: (apex) => openSharedZone(facts.dnsDirectory, apex),
  };
}

async function startService(mode: ServiceMode, draft: string): Promise<void> {
  const dnsDirectory = await makeServiceDirectory(inject('runDirectory'), 'postroom-dns-');
  const dns = await startSharedDns(dnsDirectory);
  openSharedZone(dnsDirectory, MAIL_HOST).set(MAIL_HOST, 'A', ['127.0.0.1']);
  const outboundPort = await freePort();
  const service = await Service.start(mode, {
    isShared: true,
    environment: {
      DNS_SERVERS: dns.address,
      OUTBOUND_PORT: String(outboundPort),
      MAIL_HOSTNAME: MAIL_HOST,
      FORWARD_LIMIT_PER_HOUR: '0',
      SYSTEM_MAIL_FROM: `postroom@${SYSTEM_DOMAIN}`,
      TRUSTED_DOMAINS: ['inbox.test', SYSTEM_DOMAIN, ...trustedDomains].join(','),
    },
  });
  const { directory, url, httpPort, smtpPort, environment, ownerEnvironment } = service;
  const facts: Facts = {
    directory,
    url,
    httpPort,
    smtpPort,
    environment,
    ownerEnvironment,
    databaseUrl: await service.databaseUrl(),
    dnsDirectory,
    outboundPort,
  };
  await writeFile(path.join(draft, FACTS), JSON.stringify(facts));
  await mkdir(path.join(draft, 'domains'));
  const processes = [...service.processes].map(([process, { pid = 0 }]) => ({
    name: process,
    pid,
    program: process === 'runner' ? 'start' : process,
  }));
  const listNamed = (...names: string[]) => processes.filter(({ name }) => names.includes(name));
  const others = processes.filter(({ name }) => !['smtp', 'nats'].includes(name));
  await noteSharedServer(draft, {
    directory,
    processes: [listNamed('smtp'), others, [...listNamed('nats'), dns.process]],
  });
}

/** A trusted domain that no other account of the run has. */
async function takeDomain(folder: string): Promise<string> {
  for (const domain of trustedDomains) {
    const isOurs = await mkdir(path.join(folder, 'domains', domain)).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false;
        throw error;
      },
    );
    if (isOurs) return domain;
  }
  throw new Error('the shared service has no trusted domain left');
}
