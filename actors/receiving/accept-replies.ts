import { readAddressFields } from '../../core/mime/address.ts';
import { readHeaderSection } from '../../core/mime/header-fields.ts';
import { isSenderAllowed } from '../../core/smtp/reply-address.ts';
import type { Database } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import {
  countReplies,
  findRepeatedOffers,
  lockReplyAddresses,
  offerKey,
  type ReplyAddressKey,
  type ReplyAddressState,
  replyKeyText,
} from '../../db/queries/domains/reply-address-state.ts';
import { type AcceptOutcome, acceptGroup, type Offer } from '../../db/queries/emails/accept-group.ts';

/** The outcome of an offer: what was stored, and whether a recipient was refused. */
export interface ReplyOutcome extends AcceptOutcome {
  refused: 'none' | 'some' | 'all';
}

/** Bytes of a message in which its From field is looked for. */
const HEAD_BYTES = 65_536;

/**
 * Stores a group of messages of which each has a reply address among its recipients, in one transaction that holds the rows of these
 * addresses, so that no address accepts more than its maximum, whatever arrives at the same time. A repeated message counts once, and is
 * accepted even if the address has ended since. Of a message with other recipients, those are stored although the reply address refuses.
 */
export async function acceptReplies(
  database: Database,
  offers: readonly Offer[],
  { claimant, beforeCommit }: { claimant: string | null; beforeCommit: () => void },
): Promise<ReplyOutcome[]> {
  const senders = offers.map(({ bytes }) => fromAddresses(bytes));
  return inTransaction(database, async (client) => {
    const states = await lockReplyAddresses(client, replyAddressesOf(offers));
    const repeated = await findRepeatedOffers(client, offers);
    const parts = offers.map((offer, at) => acceptedPart(offer, { states, repeated, from: senders[at] ?? [] }));
    const present = parts.filter(({ envelope }) => envelope.recipients.length > 0);
    const outcomes = present.length === 0 ? [] : await acceptGroup(client, present, claimant);
    await countReplies(client, countsOf(outcomes));
    beforeCommit();
    return offers.map((offer, at): ReplyOutcome => {
      const part = parts[at];
      const outcome = outcomes[present.findIndex((one) => one === part)];
      if (part === undefined || outcome === undefined) return { emailIds: [], accepted: [], refused: 'all' };
      const isWhole = part.envelope.recipients.length === offer.envelope.recipients.length;
      return { ...outcome, refused: isWhole ? 'none' : 'some' };
    });
  });
}

interface Known {
  /** by replyKeyText; grows by what is accepted here */
  states: Map<string, ReplyAddressState>;
  /** by offerKey; grows by what is accepted here */
  repeated: Set<string>;
  /** the addresses of the From field */
  from: readonly string[];
}

/** Returns the offer without the recipients that refuse it. */
function acceptedPart(offer: Offer, { states, repeated, from }: Known): Offer {
  const { envelope, emailIds } = offer;
  const places = envelope.recipients.flatMap((recipient, at) => {
    if (recipient.replyAddressId === undefined || repeated.has(offerKey(offer, at))) return [at];
    const key = replyKeyText({ workspaceId: recipient.workspaceId, id: recipient.replyAddressId });
    const state = states.get(key);
    if (state === undefined || state.isEnded || isUsedUp(state)) return [];
    if (!isEnvelopeAllowed(state, envelope.reversePath) || !isFromAllowed(state, from)) return [];
    states.set(key, { ...state, messageCount: state.messageCount + 1 });
    repeated.add(offerKey(offer, at));
    return [at];
  });
  if (places.length === envelope.recipients.length) return offer;
  return {
    ...offer,
    envelope: { ...envelope, recipients: envelope.recipients.filter((_, at) => places.includes(at)) },
    emailIds: emailIds.filter((_, at) => places.includes(at)),
  };
}

export function isUsedUp({ maxMessages, messageCount }: ReplyAddressState): boolean {
  return maxMessages !== null && messageCount >= maxMessages;
}

/** The null reverse-path names no sender (RFC 5321 §4.5.5): for automatic replies, the From field decides. */
export function isEnvelopeAllowed({ senders }: Pick<ReplyAddressState, 'senders'>, reversePath: string): boolean {
  return reversePath === '' || isSenderAllowed(senders, reversePath);
}

function isFromAllowed({ senders }: ReplyAddressState, from: readonly string[]): boolean {
  return senders.length === 0 || (from.length > 0 && from.every((address) => isSenderAllowed(senders, address)));
}

function fromAddresses(bytes: Buffer): string[] {
  const { from } = readAddressFields(readHeaderSection(bytes, HEAD_BYTES));
  return from?.addresses.map(({ address }) => address) ?? [];
}

function replyAddressesOf(offers: readonly Offer[]): ReplyAddressKey[] {
  const keys = offers.flatMap(({ envelope }) =>
    envelope.recipients.flatMap(({ workspaceId, replyAddressId: id }) =>
      id === undefined ? [] : [{ workspaceId, id }],
    ),
  );
  return [...new Map(keys.map((key) => [replyKeyText(key), key])).values()];
}

function countsOf(outcomes: readonly AcceptOutcome[]): (ReplyAddressKey & { count: number })[] {
  const keys = outcomes.flatMap(({ accepted }) =>
    accepted.flatMap(({ workspaceId, replyAddressId: id }) => (id === null ? [] : [{ workspaceId, id }])),
  );
  return [...Map.groupBy(keys, replyKeyText).values()].flatMap((same) =>
    same[0] === undefined ? [] : [{ ...same[0], count: same.length }],
  );
}
