import { createHash } from 'node:crypto';
import pg from 'pg';
import type { SinkMessage } from '../servers/sink-mta.ts';
import { readMessageId } from './sending-stage.ts';

/** One request to send, and what was answered; null when the response never came. */
export interface ApiSend {
  status: number | null;
  id: string | null;
  messageId: string | null;
  /** addresses outside the service */
  recipients: string[];
}

export interface SendingLedgerOrder {
  /** the owner's URL; the ledger sees every row */
  databaseUrl: string;
  sends: readonly ApiSend[];
  /** what the recipients' server took */
  messages: readonly SinkMessage[];
  /** Message-IDs that were in hand at a kill, once for each: their attempt was written and its outcome not */
  inHand: readonly string[];
}

/** Counts of a run, and every breach of I4; no violations mean that it holds. */
export interface SendingLedgerReport {
  accepted: number;
  refused: number;
  unanswered: number;
  /** copies at the sink beyond the first of each message */
  doubled: number;
  violations: string[];
}

/**
 * Checks I4 after a run: every send that was answered 2xx is at the sink for each recipient, with one content; more often than once
 * only where a kill came between the sink's 250 and our commit, and then once more per kill. Nothing is there that nobody sent, and the
 * rows say of each recipient what the sink knows.
 */
export async function checkSendingLedger(order: SendingLedgerOrder): Promise<SendingLedgerReport> {
  const violations: string[] = [];
  const copies = new Map<string, number>();
  const contents = new Map<string, string>();
  for (const message of order.messages) {
    const messageId = readMessageId(message) ?? '(none)';
    for (const recipient of message.recipients) {
      const key = `${messageId} ${recipient}`;
      copies.set(key, (copies.get(key) ?? 0) + 1);
    }
    const content = readContent(message.bytes);
    if ((contents.get(messageId) ?? content) !== content) violations.push(`${messageId} came with another content`);
    contents.set(messageId, content);
  }
  for (const send of order.sends) {
    if (!isAccepted(send)) continue;
    for (const recipient of send.recipients)
      if (!copies.has(`${send.messageId} ${recipient}`))
        violations.push(`${send.id} was answered ${send.status} and never came to ${recipient}`);
  }
  const most = new Map<string, number>();
  for (const [key, count] of copies) {
    const messageId = key.slice(0, key.indexOf(' '));
    most.set(messageId, Math.max(count, most.get(messageId) ?? 0));
  }
  let doubled = 0;
  for (const [messageId, count] of most) {
    const kills = order.inHand.filter((each) => each === messageId).length;
    doubled += count - 1;
    if (count - 1 > kills) violations.push(`${messageId} came ${count} times, in hand at ${kills} kills`);
  }
  violations.push(...(await compareRows(order.databaseUrl, copies)));
  return {
    accepted: order.sends.filter(isAccepted).length,
    refused: order.sends.filter((send) => send.status !== null && !isAccepted(send)).length,
    unanswered: order.sends.filter((send) => send.status === null).length,
    doubled,
    violations,
  };
}

/** Resolves when no recipient waits in the queue any more; throws with what is left after the limit. */
export async function awaitSettled(databaseUrl: string, limitMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const { rows } = await client.query<{ waiting: number; deferred: number; claimed: number }>(
        `select count(*)::int as waiting, count(*) filter (where attempts > 0)::int as deferred,
                count(*) filter (where claimed_by is not null)::int as claimed
         from recipient where status = 'pending' and next_attempt_at is not null`,
      );
      if (rows[0]?.waiting === 0) return;
      if (Date.now() > deadline) throw new Error(`not settled within ${limitMs} ms: ${JSON.stringify(rows[0])}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await client.end();
  }
}

function isAccepted(send: ApiSend): boolean {
  return send.status !== null && send.status >= 200 && send.status < 300;
}

/** Our signature bears the time of its making: all else must stay as it was composed. */
function readContent(bytes: Buffer): string {
  const text = bytes.toString('latin1').replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/im, '');
  return createHash('sha256').update(text, 'latin1').digest('hex');
}

async function compareRows(databaseUrl: string, copies: ReadonlyMap<string, number>): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ key: string; email: string; recipient: string; taken: number }>(
      `select e.message_id || ' ' || r.address as key, e.status as email, r.status as recipient,
              (select count(*)::int from sending_attempt a
               where a.workspace_id = r.workspace_id and a.recipient_id = r.id and a.outcome = 'delivered') as taken
       from recipient r join email e on e.workspace_id = r.workspace_id and e.id = r.email_id
       where e.type = 'sent'`,
    );
    const violations = rows.flatMap(({ key, email, recipient, taken }) => {
      const came = copies.get(key) ?? 0;
      if (recipient === 'delivered' && came === 0) return [`${key} is called delivered and never came`];
      if (recipient !== 'delivered') return [`${key} is ${recipient}`];
      if (email !== 'delivered') return [`the email of ${key} is ${email}`];
      // A copy of which we learnt nothing is an attempt that was interrupted.
      return taken >= 1 && taken <= came
        ? []
        : [`${key} came ${came} times and has ${taken} attempts that are called delivered`];
    });
    const known = new Set(rows.map(({ key }) => key));
    for (const key of copies.keys()) if (!known.has(key)) violations.push(`${key} came, and nobody sent it`);
    return violations;
  } finally {
    await client.end();
  }
}
