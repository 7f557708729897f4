import { hash } from 'node:crypto';
import {
  type ForwardConfig,
  type ForwardSender,
  forwardSender,
  readForwardConfig,
} from '../../core/endpoints/forward.ts';
import { makeSampleMessage, SAMPLE_SENDER } from '../../core/endpoints/sample-message.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { baseSubject } from '../../core/mime/subject.ts';
import { emailParties } from '../../core/search/email-parties.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { inWorkspaceTransaction } from '../../db/connection/transaction.ts';
import { keepSystemDomain } from '../../db/queries/domains/domain-owner.ts';
import {
  findSampleRecipient,
  readTestedForwardSql,
  type TestedForwardRow,
} from '../../db/queries/endpoints/sample-recipient.ts';
import { readPolicy } from '../../db/queries/sending/outgoing-policy.ts';
import { type OutgoingContent, writeOutgoingWithoutEvents } from '../../db/queries/sending/outgoing-write.ts';
import { claimUnthreaded, THREADS_LOCK } from '../../db/queries/threads/thread-claim.ts';
import { joinThreads } from '../../operations/threads/join-threads.ts';
import type { ActorContext } from '../actor.ts';
import { traceParentToKeep } from '../bus/tracing.ts';
import type { ForwardThreads } from './forward-thread.ts';

export interface ForwardTesterOptions {
  context: ActorContext;
  threads: Pick<ForwardThreads, 'run'>;
  /** sends the sample for users without a verified domain */
  systemMailFrom: string;
}

export interface ForwardTest {
  workspaceId: string;
  endpointId: string;
  type: 'email' | 'email_group';
}

/** `message` is for the user. */
export interface ForwardTestOutcome {
  success: boolean;
  message: string;
  responseTimeMs: number;
}

const LOCK_TIMEOUT_MS = 2_000;

/**
 * Composes the copy of a sample like that of received mail and queues it for sending, as a sent email of the user, who can follow it there.
 * Success means that it was queued.
 */
export async function testForward(options: ForwardTesterOptions, test: ForwardTest): Promise<ForwardTestOutcome> {
  const startedTick = performance.now();
  const told = (success: boolean, message: string): ForwardTestOutcome => {
    return { success, message, responseTimeMs: Math.round(performance.now() - startedTick) };
  };
  const { pool } = options.context.database;
  const { rows } = await pool.query<TestedForwardRow>({
    name: 'tested-forward',
    text: readTestedForwardSql,
    values: [test.workspaceId, test.endpointId],
  });
  const [row] = rows;
  const config = row === undefined ? null : findConfig(row.config);
  if (row === undefined || config === null) return told(false, 'Endpoint configuration cannot be used');
  if (config.addresses.length === 0) return told(false, 'The endpoint has no address that mail can be sent to');
  const recipient = await findSampleRecipient(pool, test);
  const sender = forwardSender(config, {
    isFromVerified: row.is_from_verified,
    ownAddress: recipient?.isVerified === true ? recipient.address : null,
    verifiedDomain: row.verified_domain,
    systemAddress: options.systemMailFrom,
  });
  const ownAddress = recipient?.address ?? sender.address;
  const email = await composeSample(options, test, { config, ownAddress, from: sender.address });
  const refusal = await store(options.context, test.workspaceId, { email, sender });
  if (refusal !== null) return told(false, refusal);
  return told(true, `A sample is on its way to ${config.addresses.join(', ')} (email ${email.row.id})`);
}

function findConfig(stored: unknown): ForwardConfig | null {
  try {
    return readForwardConfig(stored);
  } catch {
    return null;
  }
}

interface SampleCopy {
  config: ForwardConfig;
  /** the address that received the sample */
  ownAddress: string;
  /** see forwardSender */
  from: string;
}

async function composeSample(
  { context, threads }: ForwardTesterOptions,
  { type }: ForwardTest,
  { config, ownAddress, from }: SampleCopy,
): Promise<OutgoingContent> {
  const now = context.now();
  const identifier = (kind: 'email' | 'raw' | 'event' | 'recipient') => newIdentifier(context, kind, now);
  const id = identifier('email');
  const domain = readDomain(from);
  const original = makeSampleMessage({
    recipient: ownAddress,
    // Relayed unchanged, a sample of another domain would fail that domain's DMARC policy.
    sender: config.preserveHeaders ? from : SAMPLE_SENDER,
    messageId: `<${id}@${domain}>`,
    sentAt: now,
  });
  const { buffer } = await threads.run({
    original: { bytes: original, traceFields: '', ownAddress, receivedAt: now },
    config,
    facts: { messageId: `<${id}.copy@${domain}>`, from, isGroup: type === 'email_group', verified: null },
  });
  const bytes = Buffer.from(buffer);
  const message = await parseMessage(bytes);
  const sender = message.addresses.from?.addresses[0];
  const row = {
    id,
    raw_id: identifier('raw'),
    event_id: identifier('event'),
    own_address: from.toLowerCase(),
    own_domain: domain,
    message_id: message.messageId ?? `<${id}@${domain}>`,
    subject: message.subject,
    base_subject: baseSubject(message.subject),
    from_name: sender?.name ?? null,
    from_address: sender?.address ?? from,
    from_text: message.addresses.from?.text ?? from,
    to_addresses: config.addresses,
    cc_addresses: [],
    preview: message.preview,
    date: now.toISOString(),
    scheduled_at: null,
    timezone: null,
    headers: message.headers,
    addresses: message.addresses,
    in_reply_to: message.inReplyTo,
    reference_ids: message.references,
    attachments: message.attachments,
    attachment_count: message.attachments.length,
    tags: [],
    metadata: null,
    search_text: [message.subject, from, ...config.addresses].join('\n').toLowerCase(),
    parties: emailParties(config.addresses),
    sha256: hash('sha256', bytes, 'hex'),
    recipients: config.addresses.map((address) => ({
      id: identifier('recipient'),
      address,
      domain: readDomain(address),
      list: null,
    })),
  };
  return { row, bytes, text: message.textBody, html: message.htmlBody };
}

/** Queues the copy; returns null, or the reason why not. */
async function store(
  { database, bus, now, random }: ActorContext,
  workspaceId: string,
  { email, sender }: { email: OutgoingContent; sender: ForwardSender },
): Promise<string | null> {
  const { row } = email;
  const systemDomain = { id: newIdentifier({ now, random }, 'domain'), name: row.own_domain };
  const systemDomainId = sender.isSystem ? await keepSystemDomain(database, systemDomain) : null;
  const recipients = row.recipients.map(({ address }) => address.toLowerCase());
  const stored = await inWorkspaceTransaction(
    database,
    workspaceId,
    { locks: [{ name: THREADS_LOCK }], lockTimeoutMs: LOCK_TIMEOUT_MS },
    async (client) => {
      const policy = await readPolicy(client, workspaceId, {
        domains: [row.own_domain],
        senders: [row.own_address],
        requesters: [],
        recipients,
        idempotencyKeys: [],
        hourly: null,
      });
      const domain = policy.domains.get(row.own_domain);
      const domainId = systemDomainId ?? (domain?.isVerified === true ? domain.id : null);
      if (domainId === null) return `Nothing was sent: ${row.own_domain} is not verified`;
      if (policy.suppressed.size > 0)
        return `Nothing was sent: mail to ${[...policy.suppressed].join(', ')} came back earlier, and is suppressed`;
      const addressId = policy.addressIds.get(row.own_address) ?? null;
      const emails = [{ ...email, domainId, addressId }];
      const unit = { emails, batchId: null, traceParent: traceParentToKeep(), response: null };
      const { events } = await writeOutgoingWithoutEvents(client, workspaceId, [unit]);
      const claimed = await claimUnthreaded(client, workspaceId, [row.id]);
      return { lastSeq: await joinThreads({ now, random }, client, workspaceId, claimed, events) };
    },
  );
  if (typeof stored === 'string') return stored;
  bus.wake('sending.send.wake', { workspaceId, emailIds: [row.id] });
  if (stored.lastSeq !== null) bus.publish('event.appended', { workspaceId, lastSeq: stored.lastSeq });
  return null;
}

function readDomain(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1).toLowerCase();
}
