import { isIP } from 'node:net';
import { makeNetworkTriplet, makePool, makeTriplet } from '../../core/screening/door/greylist.ts';
import { loadOnce } from '../../core/shared/load-once.ts';
import { registrableDomain } from '../../core/shared/registrable-domain.ts';
import type { Database } from '../../db/connection/database.ts';
import { noteGreylist } from '../../db/queries/screening/greylist.ts';
import { publicSuffixes } from '../../operations/emails/public-suffixes.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import { createDnsResolver, type DnsResolver } from '../network/dns-resolver.ts';

type GreylistRequest = Request<'receiving.greylist.check'>;
type GreylistReply = Reply<'receiving.greylist.check'>;

/** Time for the lookups of SPF, after which a sender counts as not checked; milliseconds. */
const SPF_MS = 2_000;
/** Senders that are checked at the same time. The others count as not checked: their servers wait as those of unknown pools. */
const MAX_CHECKS = 50;

const loadSpf = loadOnce(() => import('mailauth/lib/spf/index.js'));

/** Notes attempts of clients, and says which pass the greylist. */
export function createGreylist(
  database: Database,
  { dnsServers, mailHostname }: { dnsServers: readonly string[]; mailHostname: string },
): (request: GreylistRequest) => Promise<GreylistReply> {
  let dns: DnsResolver | null = null;
  let checks = 0;

  /** Returns the domain for which SPF passes; null: it does not, or cannot be checked now. */
  const findSpfDomain = async ({ address, helo, sender }: GreylistRequest): Promise<string | null> => {
    if (checks >= MAX_CHECKS) return null;
    checks++;
    try {
      dns ??= createDnsResolver({ servers: dnsServers });
      const { spf } = await loadSpf();
      const resolver = dns.within(SPF_MS);
      const { status, domain } = await spf({ resolver, strict: true, sender, ip: address, helo, mta: 'postroom' });
      return status.result === 'pass' && typeof domain === 'string' ? domain.toLowerCase() : null;
    } catch {
      return null;
    } finally {
      checks--;
    }
  };

  /**
   * Committed before it returns: a client that gets no reply has waited, too. A client of an unknown network is of a known pool if SPF passes
   * for its sender, or if a client of the same HELO domain has offered the same before.
   */
  return async (request) => {
    const { workspaceId, network, sender, recipient, waitSeconds } = request;
    const ids = { id: makeTriplet(network, sender, recipient), networkId: makeNetworkTriplet(network) };
    const { isShared, ...own } = await noteGreylist(database, { workspaceId, ...ids, network, waitSeconds });
    if (own.isPassed) return own;
    const spfDomain = await findSpfDomain(request);
    if (spfDomain !== null) {
      const pool = makePool('spf', spfDomain);
      const poolIds = { id: makeTriplet(pool, sender, recipient), networkId: makeNetworkTriplet(pool) };
      const { isPassed } = await noteGreylist(database, { workspaceId, ...poolIds, network: pool, waitSeconds });
      return { ...own, isPassed };
    }
    const heloDomain = isShared ? null : findHeloDomain(request.helo, mailHostname);
    if (heloDomain === null) return own;
    // Clients choose what they say in HELO, so that it makes known only what is offered again.
    const id = makeTriplet(makePool('helo', heloDomain), sender, recipient);
    const { isPassed } = await noteGreylist(database, { workspaceId, id, networkId: id, network: id, waitSeconds });
    return { ...own, isPassed };
  };
}

/** Returns the registered domain of a name that a client introduces itself with; null for addresses, incomplete names, and ours. */
function findHeloDomain(helo: string, mailHostname: string): string | null {
  const name = helo.toLowerCase().replace(/\.$/, '');
  if (isIP(name) !== 0 || !/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/.test(name)) return null;
  const domain = registrableDomain(name, publicSuffixes());
  return domain === registrableDomain(mailHostname.toLowerCase(), publicSuffixes()) ? null : domain;
}
