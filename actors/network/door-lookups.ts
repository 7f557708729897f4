import { Resolver } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { type ListReply, makeListName, readListReply, UNLISTED_ADDRESS } from '../../core/screening/door/dns-list.ts';
import { readSenderDomain, type SenderDomainState } from '../../core/screening/door/sender-domain.ts';
import { createCountedCache } from '../../core/shared/sized-cache.ts';
import { smtpMetrics } from '../../schema/metrics.ts';
import { createDnsResolver, type LookUp } from './dns-resolver.ts';

/** Questions to DNS about a client and its sender, before mail is accepted. They never reject. */
export interface DoorLookups {
  /** Returns the first of the lists that has an address; null: none has, as far as they reply in time. */
  findListing(address: string, lists: readonly string[]): Promise<string | null>;
  /** Returns whether an address is one of a host name's; null: DNS did not respond. */
  isAddressAmong(hostname: string, address: string): Promise<boolean | null>;
  /** Returns whether a domain can receive replies. */
  checkSenderDomain(domain: string): Promise<SenderDomainState>;
}

/** Time limit of all lists together, and of a sender's domain; milliseconds. */
const LISTS_MS = 2_000;
const SENDER_MS = 3_000;
/** Time of one try of a server; milliseconds. */
const TRY_MS = 900;
/** Replies that are kept, and how long; milliseconds. */
const MAX_REPLIES = 20_000;
const MIN_KEPT_MS = 60_000;
const MAX_KEPT_MS = 3_600_000;
const NOT_LISTED_MS = 300_000;
const FAILED_MS = 30_000;
/** A list that did not respond so often in a row is not asked for a while. */
const FAILURES_UNTIL_PAUSE = 3;
const PAUSE_MS = 60_000;

/** Creates the lookups of one process. */
export function createDoorLookups(servers: readonly string[]): DoorLookups {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 });
  if (servers.length > 0) resolver.setServers(servers);
  const domains = createDnsResolver({ servers });
  const replies = createCountedCache<Promise<ListReply>>(MAX_REPLIES);
  const failures = new Map<string, { count: number; pausedUntil: number }>();

  const ask = async (name: string, list: string): Promise<{ reply: ListReply; keptMs: number }> => {
    try {
      const records = await resolver.resolve4(name, { ttl: true });
      failures.delete(list);
      const ttlMs = Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
      const reply = readListReply(records.map(({ address }) => address));
      return { reply, keptMs: Math.min(MAX_KEPT_MS, Math.max(MIN_KEPT_MS, ttlMs)) };
    } catch (error) {
      if (isNegative(error)) {
        failures.delete(list);
        return { reply: 'not_listed', keptMs: NOT_LISTED_MS };
      }
      const count = (failures.get(list)?.count ?? 0) + 1;
      const isPaused = count >= FAILURES_UNTIL_PAUSE;
      failures.set(list, { count, pausedUntil: isPaused ? performance.now() + PAUSE_MS : 0 });
      return { reply: 'refused', keptMs: FAILED_MS };
    }
  };

  const lookUp = (address: string, list: string): Promise<ListReply> => {
    const name = makeListName(address, list);
    if (name === null) return Promise.resolve('not_listed');
    const known = replies.get(name);
    if (known !== undefined) return known;
    if ((failures.get(list)?.pausedUntil ?? 0) > performance.now()) return Promise.resolve('refused');
    const asked = ask(name, list).then(({ reply, keptMs }) => {
      smtpMetrics.listLookups.inc({ outcome: reply });
      replies.set(name, Promise.resolve(reply), { ttl: keptMs });
      return reply;
    });
    // Sessions of one client ask together.
    replies.set(name, asked, { ttl: LISTS_MS * 2 });
    return asked;
  };

  /** A list that has the address which no list has, lists everything. */
  const isListed = async (address: string, list: string): Promise<boolean> =>
    (await lookUp(address, list)) === 'listed' && (await lookUp(UNLISTED_ADDRESS, list)) === 'not_listed';

  return {
    async findListing(address, lists) {
      const found = lists.map(async (list) => ((await isListed(address, list)) ? list : null));
      const { promise: end, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(() => resolve(null), LISTS_MS);
      // One that hangs does not hide what another has found.
      const all = await Promise.all(found.map((one) => Promise.race([one, end])));
      clearTimeout(timer);
      return all.find((list) => list !== null) ?? null;
    },
    async isAddressAmong(hostname, address) {
      const within = domains.within(SENDER_MS);
      const records = await Promise.all(['A', 'AAAA'].map((type) => readRecords<string>(within, hostname, type)));
      const wanted = clientText(address);
      if (records.some((some) => Array.isArray(some) && some.some((one) => clientText(one) === wanted))) return true;
      return records.includes('unclear') ? null : false;
    },
    async checkSenderDomain(domain) {
      const within = domains.within(SENDER_MS);
      const mx = await readRecords<{ exchange: string }>(within, domain, 'MX');
      if (mx === 'unclear') return 'unclear';
      if (mx === null || mx.length > 0) return readSenderDomain({ mx, a: [], aaaa: [] });
      const [a, aaaa] = await Promise.all([
        readRecords<string>(within, domain, 'A'),
        readRecords<string>(within, domain, 'AAAA'),
      ]);
      if (Array.isArray(a) && a.length > 0) return 'receives';
      if (Array.isArray(aaaa) && aaaa.length > 0) return 'receives';
      if (a === 'unclear' || aaaa === 'unclear') return 'unclear';
      return readSenderDomain({ mx, a, aaaa });
    },
  };
}

/** Returns the records, empty if the name has none of that type; null: there is no such name. */
async function readRecords<Value>(lookUp: LookUp, name: string, type: string): Promise<Value[] | null | 'unclear'> {
  try {
    return (await lookUp(name, type)) as Value[];
  } catch (error) {
    const code = readCode(error);
    if (code === 'ENODATA') return [];
    return code === 'ENOTFOUND' ? null : 'unclear';
  }
}

function clientText(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : address;
}

function isNegative(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA'].includes(readCode(error));
}

function readCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
