import { createHash } from 'node:crypto';
import pg from 'pg';
import { unpackSmall } from '../../../db/packed-message.ts';
import { MESSAGE_COLUMNS, type MessageColumns } from '../rows/stored-message.ts';
import type { SmtpLoadResult } from '../servers/smtp-load.ts';

/** One message that was offered by SMTP, and what was said to it. */
export interface Offer {
  /** the bytes after dot-stuffing was undone, without the end of data */
  bytes: Uint8Array;
  recipients: string[];
  result: Pick<SmtpLoadResult, 'code' | 'isDataSent' | 'reply'>;
}

/** A webhook as it was received: its `webhook-id` and its body. */
interface ReceivedWebhook {
  webhookId: string;
  body: string;
}

export interface LedgerOrder {
  /** the owner's URL; the ledger sees every row */
  databaseUrl: string;
  offers: Offer[];
  webhooks: ReceivedWebhook[];
}

/** Counts of a run, and every breach of the invariants I1 to I3 of the guarantees; empty violations mean that they hold. */
export interface LedgerReport {
  accepted: number;
  refused: number;
  unanswered: number;
  storedRows: number;
  deliveries: number;
  webhooks: number;
  repeatedWebhooks: number;
  violations: string[];
}

/**
 * Checks, after a run and its drain, that
 * I1 every message that got 250 is stored once per accepted recipient, its bytes equal by sha256;
 * I2 every other offer has no row, or at most one per recipient when the client vanished after the final dot;
 * I3 every delivery is settled, and the webhook ids received are those of the deliveries, repeats with equal bodies.
 */
export async function checkLedger(order: LedgerOrder): Promise<LedgerReport> {
  const client = new pg.Client({ connectionString: order.databaseUrl });
  await client.connect();
  try {
    const violations: string[] = [];
    const rows = await client.query<
      MessageColumns & { hex: string; recipient: string; email_id: string; is_listed: boolean }
    >(
      `select ${MESSAGE_COLUMNS}, encode(m.sha256, 'hex') as hex, p.recipient, p.email_id, e.id is not null as is_listed
       from reception p join raw_message m on m.id = p.raw_id left join email e on e.workspace_id = p.workspace_id and e.id = p.email_id`,
    );
    const stored = new Map<string, number>();
    for (const row of rows.rows) {
      if (unpackSmall({ ...row, sizeBytes: row.size_bytes }) === null)
        violations.push(`I1 bytes of ${row.email_id} do not match their sha256`);
      if (!row.is_listed) violations.push(`I1 ${row.email_id} was accepted and never parsed`);
      const key = `${row.hex} ${row.recipient.toLowerCase()}`;
      stored.set(key, (stored.get(key) ?? 0) + 1);
    }
    const expected = new Set<string>();
    for (const offer of order.offers) checkOffer(offer, stored, expected, violations);
    for (const key of stored.keys()) if (!expected.has(key)) violations.push(`I1 a row that nobody offered: ${key}`);
    const deliveries = await client.query<{ id: string; status: string; attempts: number }>(
      'select id, status, attempts from delivery',
    );
    checkWebhooks(order.webhooks, deliveries.rows, violations);
    const unrouted = await client.query<{ count: string }>(
      `select count(*) from email e where e.type = 'received' and not exists (select from route r where r.workspace_id = e.workspace_id and r.email_id = e.id and r.decided_at is not null)`,
    );
    if (Number(unrouted.rows[0]?.count) > 0)
      violations.push(`I3 ${unrouted.rows[0]?.count} emails without thread or route`);
    return {
      accepted: order.offers.filter((offer) => offer.result.code === 250).length,
      refused: order.offers.filter((offer) => offer.result.code !== null && offer.result.code !== 250).length,
      unanswered: order.offers.filter((offer) => offer.result.code === null).length,
      storedRows: rows.rows.length,
      deliveries: deliveries.rows.length,
      webhooks: new Set(order.webhooks.map((webhook) => webhook.webhookId)).size,
      repeatedWebhooks: order.webhooks.length - new Set(order.webhooks.map((webhook) => webhook.webhookId)).size,
      violations,
    };
  } finally {
    await client.end();
  }
}

/**
 * Checks I2 before what was refused is offered again: no row where the refusal is certain, and at most one per recipient where the commit
 * may have come through (no reply after the final dot, or 451 4.3.0 to it). Returns the breaches.
 */
export async function checkRefused(databaseUrl: string, offers: readonly Offer[]): Promise<string[]> {
  const refused = offers.filter(({ result }) => result.code !== 250);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ sha256: string; count: number }>(
      `select encode(m.sha256, 'hex') as sha256, count(*)::int as count from reception r join raw_message m on m.id = r.raw_id
       where m.sha256 = any($1) group by 1`,
      [refused.map(({ bytes }) => createHash('sha256').update(bytes).digest())],
    );
    const stored = new Map(rows.map(({ sha256, count }) => [sha256, count]));
    return refused.flatMap(({ bytes, recipients, result }) => {
      const count = stored.get(createHash('sha256').update(bytes).digest('hex')) ?? 0;
      const isUncertain = result.isDataSent && (result.code === null || result.reply.startsWith('451 4.3.0'));
      return count > (isUncertain ? recipients.length : 0) ? [`I2 got ${result.reply} and has ${count} rows`] : [];
    });
  } finally {
    await client.end();
  }
}

/** Resolves when nothing is left to parse, thread, route or deliver; throws with what is left after the limit. */
export async function awaitDrained(databaseUrl: string, limitMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const { rows } = await client.query<{ unparsed: number; unthreaded: number; unrouted: number; pending: number }>(
        `select (select count(*)::int from reception where parsed_at is null) as unparsed,
                (select count(*)::int from email where thread_id is null and type <> 'scheduled') as unthreaded,
                (select count(*)::int from email e where e.type = 'received' and not exists (select from route r where r.workspace_id = e.workspace_id and r.email_id = e.id and r.decided_at is not null)) as unrouted,
                (select count(*)::int from delivery where status = 'pending') as pending`,
      );
      const left = rows[0];
      if (left !== undefined && left.unparsed + left.unthreaded + left.unrouted + left.pending === 0) return;
      if (Date.now() > deadline) throw new Error(`not drained within ${limitMs} ms: ${JSON.stringify(left)}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    await client.end();
  }
}

function checkOffer(offer: Offer, stored: Map<string, number>, expected: Set<string>, violations: string[]): void {
  const sha256 = createHash('sha256').update(offer.bytes).digest('hex');
  for (const recipient of offer.recipients) {
    const key = `${sha256} ${recipient.toLowerCase()}`;
    const count = stored.get(key) ?? 0;
    const mayBeStored = offer.result.code === 250 || (offer.result.code === null && offer.result.isDataSent);
    if (mayBeStored) expected.add(key);
    if (offer.result.code === 250 && count !== 1) violations.push(`I1 got 250 and has ${count} rows: ${key}`);
    if (offer.result.code !== 250 && !mayBeStored && count !== 0)
      violations.push(`I2 got ${offer.result.reply} and has ${count} rows: ${key}`);
    if (offer.result.code === null && count > 1) violations.push(`I2 got no reply and has ${count} rows: ${key}`);
  }
}

function checkWebhooks(
  webhooks: ReceivedWebhook[],
  deliveries: { id: string; status: string; attempts: number }[],
  violations: string[],
): void {
  const bodies = new Map<string, string>();
  for (const webhook of webhooks) {
    const first = bodies.get(webhook.webhookId);
    if (first !== undefined && first !== webhook.body)
      violations.push(`I3 webhook ${webhook.webhookId} came again with another body`);
    bodies.set(webhook.webhookId, first ?? webhook.body);
  }
  const ids = new Set(deliveries.map((delivery) => delivery.id));
  for (const id of bodies.keys()) if (!ids.has(id)) violations.push(`I3 webhook ${id} without a delivery`);
  for (const delivery of deliveries) {
    if (delivery.status === 'pending') violations.push(`I3 delivery ${delivery.id} is still pending`);
    if (delivery.status === 'success' && !bodies.has(delivery.id))
      violations.push(`I3 delivery ${delivery.id} succeeded without a webhook`);
    if (delivery.status === 'success' && delivery.attempts < 1)
      violations.push(`I3 delivery ${delivery.id} succeeded without an attempt`);
  }
}
