import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { sendEmail } from '../../operations/sending/send-email.ts';
import { createMailbox, type TestMailbox } from '../support/rows/routing-rows.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { type MailStage, openMailStage } from '../support/stages/mail-stage.ts';

describe.each([
  ['stored by one statement', 60_000],
  ['stored after its commit', 0],
])('a reply that is %s', (_, readAheadMs) => {
  let stage: MailStage;
  let receiver: WebhookReceiver;
  let mailbox: TestMailbox;

  beforeAll(async () => {
    stage = await openMailStage({ readAheadMs });
  });
  afterAll(() => stage?.close());
  beforeEach(async () => {
    receiver = await startWebhookReceiver();
    mailbox = await stage.mailbox({ endpointUrl: receiver.url });
  });
  afterEach(() => receiver.stop());

  /** Sends an email with metadata; returns its Message-ID. */
  async function send(metadata: Record<string, unknown> | null, from = mailbox): Promise<string> {
    const email = { from: from.address, to: 'ann@elsewhere.test', subject: 'Your order', text: 'Fine?', metadata };
    const { receipt } = await sendEmail(stage.makeContext(from.workspaceId), email, null);
    return receipt.emails[0]?.messageId ?? '';
  }

  let count = 0;
  async function receive(lines: readonly string[], at = mailbox): Promise<{ stored: unknown; posted: unknown }> {
    const before = receiver.requests.length;
    const head = ['From: Ann <ann@elsewhere.test>', `Message-ID: <${++count}.${readAheadMs}@elsewhere.test>`, ...lines];
    const emailId = await stage.deliver(Buffer.from([...head, '', 'Yes', ''].join('\r\n')), at.address);
    await stage.settled();
    await vi.waitUntil(() => receiver.requests.length > before, { timeout: 60_000 });
    const { rows } = await stage.database.pool.query('select metadata from email where id = $1', [emailId]);
    return { stored: rows[0].metadata, posted: JSON.parse(receiver.requests.at(-1)?.body ?? '').email.metadata };
  }

  const both = (metadata: unknown) => ({ stored: metadata, posted: metadata });

  test('carries the metadata of the email that it replies to', async () => {
    const id = await send({ order: 4711, ключ: ['"', '\\', '\u2028'] });
    expect(await receive([`In-Reply-To: ${id}`])).toEqual(both({ order: 4711, ключ: ['"', '\\', '\u2028'] }));
  });

  test('to a reply to the email carries its metadata, too', async () => {
    const id = await send({ order: 1 });
    expect(
      await receive([`References: <x@elsewhere.test> ${id} <y@elsewhere.test>`, 'In-Reply-To: <y@elsewhere.test>']),
    ).toEqual(both({ order: 1 }));
  });

  test('carries that of the nearest email that has some', async () => {
    const [first, second, third] = [await send({ n: 1 }), await send({ n: 2 }), await send(null)];
    expect(await receive([`References: ${first} ${second} ${third}`])).toEqual(both({ n: 2 }));
    expect(await receive([`References: ${second}`, `In-Reply-To: ${first}`])).toEqual(both({ n: 1 }));
  });

  test('to an email without metadata, or to none of the account, carries none', async () => {
    const stranger = await stage.mailbox();
    const foreign = await send({ secret: true }, stranger);
    for (const lines of [[], [`In-Reply-To: ${await send(null)}`], [`In-Reply-To: ${foreign}`]])
      expect(await receive(lines)).toEqual(both(null));
  });

  test('at another domain of the account carries none: a key of that domain reads it', async () => {
    const domain = `other-${mailbox.address.split('@')[1] ?? ''}`;
    const { workspaceId } = mailbox;
    const other = await createMailbox(stage.database, {
      workspaceId,
      domain,
      address: `hello@${domain}`,
      endpointUrl: receiver.url,
    });
    const id = await send({ order: 4711 });
    expect(await receive([`In-Reply-To: ${id}`], other)).toEqual(both(null));
  });

  test('with very many references is stored, and carries what the last ones name', async () => {
    const id = await send({ order: 5 });
    const many = Array.from({ length: 300 }, (__, n) => `<${n}@elsewhere.test>`);
    expect(await receive([`References: ${[id, ...many].join('\r\n ')}`])).toEqual(both(null));
    expect(await receive([`References: ${[...many, id].join('\r\n ')}`])).toEqual(both({ order: 5 }));
  });

  test('carries nothing of received mail that claims an ID', async () => {
    await receive(['X-Order: 1']);
    expect(await receive([`In-Reply-To: <${count}.${readAheadMs}@elsewhere.test>`])).toEqual(both(null));
  });
});
