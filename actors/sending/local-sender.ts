import { makeMailFromDomain } from '../../core/domains/dns-records.ts';
import type { OutgoingContent } from '../../db/queries/sending/outgoing-write.ts';
import type { ClaimFacts, LocalSender } from '../../operations/sending/local-sender.ts';
import type { ActorContext } from '../actor.ts';
import type { Lane } from '../work/in-hand.ts';
import { leaseEnd } from '../work/leases.ts';
import type { Transaction } from './sending-job.ts';
import type { DueTaker } from './take-due.ts';

export interface LocalSenderOptions {
  context: ActorContext;
  taker: Pick<DueTaker, 'keepPlaces' | 'giveBack'>;
  /** accepts claimed transactions */
  add: (transactions: Transaction[]) => void;
}

/** Takes emails over from a gateway of this process that stored and claimed them with one statement. */
export function createLocalSender({ context, taker, add }: LocalSenderOptions): LocalSender {
  return {
    claimant: context.name,
    keepPlaces(workspaceId, emails) {
      const claimable = new Set(emails.filter((email) => taker.keepPlaces(listLanes(workspaceId, email))));
      const giveBack = () => {
        for (const email of claimable) taker.giveBack(listLanes(workspaceId, email));
      };
      return {
        claimable,
        fill(stored, facts) {
          // Places are given back in the same turn in which the recipients are in hand.
          giveBack();
          for (const { row, bytes } of stored) context.bytes.keep(row.raw_id, bytes);
          const claimed = stored.filter((email) => claimable.has(email));
          if (claimed.length > 0) add(claimed.flatMap((email) => listTransactions(workspaceId, email, facts)));
        },
        giveBack,
      };
    },
  };
}

/** Returns the lane of each recipient. */
function listLanes(workspaceId: string, { row }: OutgoingContent): Lane[] {
  return row.recipients.map(({ domain }) => ({ workspaceId, key: domain }));
}

/** Returns the transactions of an email whose recipients were claimed as they were stored: one for each domain, as a later claim makes them. */
function listTransactions(workspaceId: string, { row, bytes }: OutgoingContent, facts: ClaimFacts): Transaction[] {
  const { askedAt, mailFromDomains, hostedDomains } = facts;
  const senderDomain = row.own_domain;
  const byDomain = Map.groupBy(row.recipients, ({ domain }) => domain);
  return [...byDomain].map(([domain, recipients]) => ({
    workspaceId,
    emailId: row.id,
    rawId: row.raw_id,
    bytes: bytes.length,
    domain,
    senderDomain,
    isSenderVerified: true,
    isSystemSender: false,
    returnDomain: mailFromDomains.has(senderDomain) ? makeMailFromDomain(senderDomain) : senderDomain,
    isHosted: hostedDomains.has(domain),
    jobs: recipients
      .toSorted((one, other) => (one.id < other.id ? -1 : 1))
      .map(({ id, address }) => ({
        workspaceId,
        recipientId: id,
        emailId: row.id,
        address,
        domain,
        attempts: 0,
        number: 1,
        ageSeconds: 0,
        isSuppressed: false,
        isForwarded: false,
        leaseUntil: leaseEnd(askedAt),
        claimedAt: askedAt,
      })),
  }));
}
