import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import DKIM from 'nodemailer/lib/dkim';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { decodeAttachment } from '../../core/mime/attachment.ts';
import { type ParsedMessage, parseMessage } from '../../core/mime/parse-message.ts';
import { corporaDirectory, hasCorpora, readEmlMessages } from '../support/mail/corpora.ts';
import { bouncedRecipient, deliveryReport } from '../support/mail/reports.ts';
import { until } from '../support/servers/service.ts';
import type { SinkMessage } from '../support/servers/sink-mta.ts';
import { toWireForm } from '../support/servers/smtp-load.ts';
import { ForwardingStage } from '../support/stages/forwarding-stage.ts';
import { listFields, readField, type SharedGround } from '../support/stages/sending-stage.ts';

let stage: ForwardingStage<SharedGround>;
let people = 0;
/** an address that no test had before */
let joe: string;

beforeAll(async () => {
  stage = await ForwardingStage.share('single', 'forwarding-peer.test');
}, 300_000);
afterAll(() => stage?.stop());
afterEach(() => stage.sending.sink.respond({}));

function newPerson(): string {
  joe = `joe${people++}@forwarding-peer.test`;
  return joe;
}

const message = (subject: string, lines: readonly string[] = [], body: readonly string[] = ['Hello']) =>
  [
    'From: Ann Peer <ann@peer.test>',
    'To: somebody@box.test',
    `Subject: ${subject}`,
    'Message-ID: <1@peer.test>',
    ...lines,
    '',
    ...body,
    '',
  ].join('\r\n');

/** Text, HTML that shows an image, and a file. */
function withAttachments(): { bytes: string; image: Buffer; file: Buffer } {
  const [image, file] = [randomBytes(3_000), randomBytes(50_000)];
  const base64 = (bytes: Buffer) => bytes.toString('base64').match(/.{1,76}/g) ?? [];
  const bytes = message(
    'Files',
    ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary="outer"'],
    [
      '--outer',
      'Content-Type: multipart/related; boundary=inner',
      '',
      '--inner',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: 8bit',
      '',
      '<p>Grüße <img src="cid:logo@peer.test"></p>',
      '--inner',
      'Content-Type: image/png',
      'Content-Disposition: inline; filename=logo.png',
      'Content-ID: <logo@peer.test>',
      'Content-Transfer-Encoding: base64',
      '',
      ...base64(image),
      '--inner--',
      '--outer',
      'Content-Type: application/pdf',
      'Content-Disposition: attachment; filename="Rechnung 1.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      ...base64(file),
      '--outer--',
    ],
  );
  return { bytes, image, file };
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

function listAttachments(bytes: Buffer, { attachments }: ParsedMessage) {
  return attachments.map(({ filename, contentType, contentId, start, length, transferEncoding }) => ({
    filename,
    contentType,
    contentId,
    sha256: sha256(decodeAttachment(bytes.subarray(start, start + length), transferEncoding)),
  }));
}

describe('one address', () => {
  test('gets a new message from the user’s own domain that passes SPF, DKIM and DMARC, and replies go to the sender', async () => {
    const { address, endpointId } = await stage.forwarding({ forwardTo: newPerson(), subjectPrefix: '[box] ' });
    const emailId = await stage.offer(
      address,
      message('Grüße', ['In-Reply-To: <0@peer.test>', 'Auto-Submitted: auto-generated', 'X-Secret: 1']),
    );
    const copy = await stage.copyTo(joe);
    const { domain } = stage.sending.account;
    expect(await stage.sending.verify(copy)).toMatchObject({
      spf: { result: 'pass' },
      dkim: [{ result: 'pass', domain }],
      dmarc: 'pass',
    });
    expect(await parseMessage(copy.bytes)).toMatchObject({
      subject: '[box] Grüße',
      inReplyTo: ['<0@peer.test>'],
      references: ['<0@peer.test>', '<1@peer.test>'],
      textBody: 'Hello\n',
      addresses: {
        from: { addresses: [{ name: `Ann Peer via ${address}`, address }] },
        replyTo: { addresses: [{ name: 'Ann Peer', address: 'ann@peer.test' }] },
        to: { addresses: [{ address: joe }] },
      },
    });
    expect(readField(copy.bytes, 'Auto-Submitted')).toBe('auto-generated');
    expect(readField(copy.bytes, 'Delivered-To')).toBe(address);
    expect(readField(copy.bytes, 'X-Secret')).toBeNull();
    expect(copy.from).toMatch(/^bounce\+[a-z2-7]{52}@/);
    const delivery = await stage.settled(emailId);
    expect(delivery).toMatchObject({
      status: 'success',
      attempts: 1,
      error: null,
      status_code: 250,
      recipients: [{ address: joe, status: 'delivered', reported: true }],
    });
    expect(await stage.listEvents(delivery.id)).toEqual(['delivery.succeeded']);
    expect(await stage.readStats(endpointId)).toEqual({ total: 1, successful: 1, failed: 0 });
  });

  test('gets bodies and attachments unchanged', async () => {
    const { address } = await stage.forwarding({ forwardTo: newPerson() });
    const { bytes, image, file } = withAttachments();
    await stage.offer(address, bytes);
    const copy = await stage.copyTo(joe);
    const parsed = await parseMessage(copy.bytes);
    expect(parsed.htmlBody?.trim()).toBe('<p>Grüße <img src="cid:logo@peer.test"></p>');
    expect(listAttachments(copy.bytes, parsed)).toEqual([
      { filename: 'logo.png', contentType: 'image/png', contentId: '<logo@peer.test>', sha256: sha256(image) },
      { filename: 'Rechnung 1.pdf', contentType: 'application/pdf', contentId: null, sha256: sha256(file) },
    ]);
    expect(copy.bytes.toString('latin1')).toMatch(/^[\t\r\n\x20-\x7e]*$/);
  });

  test('gets no attachments when its endpoint leaves them out, but the images that the text shows', async () => {
    const { address } = await stage.forwarding({ forwardTo: newPerson(), includeAttachments: false });
    const { bytes, image } = withAttachments();
    await stage.offer(address, bytes);
    const copy = await stage.copyTo(joe);
    expect(listAttachments(copy.bytes, await parseMessage(copy.bytes)).map((each) => each.sha256)).toEqual([
      sha256(image),
    ]);
  });

  test('gets the original itself with preserveHeaders: its own signature is valid, and the return address is ours', async () => {
    const pair = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'der' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const zone = stage.sending.service.openZone('peer.test');
    zone.set('s1._domainkey.peer.test', 'TXT', [`v=DKIM1; k=rsa; p=${pair.publicKey.toString('base64')}`]);
    zone.set('_dmarc.peer.test', 'TXT', ['v=DMARC1; p=reject']);
    const signer = new DKIM({ domainName: 'peer.test', keySelector: 's1', privateKey: pair.privateKey });
    const body = ['Grüße,  mit Leerzeichen ', '.', '..punkte', '', ''];
    const plain = Buffer.from(
      message(
        'Signed',
        ['MIME-Version: 1.0', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: 8bit'],
        body,
      ),
    );
    const signed = await buffer(signer.sign(plain));
    const { address } = await stage.forwarding({ forwardTo: newPerson(), preserveHeaders: true, subjectPrefix: 'no ' });
    await stage.offer(address, signed);
    const copy = await stage.copyTo(joe);
    expect(copy.bytes.includes(signed)).toBe(true);
    const verdict = await stage.sending.verify(copy);
    expect(verdict.dkim).toContainEqual({ result: 'pass', domain: 'peer.test', selector: 's1' });
    expect(verdict).toMatchObject({ spf: { result: 'pass' }, dmarc: 'pass', arc: 'pass' });
    expect(readField(copy.bytes, 'ARC-Authentication-Results')).toMatch(
      /^i=1; .*dkim=pass header\.d=peer\.test header\.s=s1/s,
    );
    expect(readField(copy.bytes, 'From')).toBe('Ann Peer <ann@peer.test>');
    expect(readField(copy.bytes, 'Delivered-To')).toBe(address);
    expect(copy.from).toMatch(/^bounce\+/);
    expect(copy.parameters).toContain('BODY=8BITMIME');
  });

  test('gets mail with a null reverse-path under a null reverse-path', async () => {
    const { address } = await stage.forwarding({ forwardTo: newPerson() });
    const emailId = await stage.offer(address, message('Bounce'), '');
    const copy = await stage.copyTo(joe);
    expect(copy.from).toBe('');
    expect((await stage.sending.verify(copy)).dmarc).toBe('pass');
    expect(await stage.settled(emailId)).toMatchObject({ status: 'success', is_null_sender: true });
  });

  test('gets mail that was sent to another address and name of the user', async () => {
    const { domain } = stage.sending.account;
    const { address } = await stage.forwarding({
      forwardTo: newPerson(),
      fromAddress: `desk@${domain}`,
      senderName: 'The desk',
    });
    await stage.offer(address, message('Named'));
    const copy = await stage.copyTo(joe);
    expect(readField(copy.bytes, 'From')).toBe(`The desk <desk@${domain}>`);
    expect((await stage.sending.verify(copy)).dmarc).toBe('pass');
  });
});

describe('the outcome of a copy', () => {
  test('is one bounce and two deliveries for a group of three of which one is refused, and the delivery shows it', async () => {
    const emails = [newPerson(), newPerson(), newPerson()];
    const [, refused = ''] = emails;
    stage.sending.sink.respond({ rcpt: (address) => (address === refused ? '550 5.1.1 No such user' : undefined) });
    const { address, endpointId } = await stage.forwarding({ emails });
    const emailId = await stage.offer(address, message('All'));
    const delivery = await stage.settled(emailId);
    expect(delivery).toMatchObject({
      status: 'failed',
      attempts: 1,
      status_code: 550,
      error: `1 of 3 recipients were not reached. ${refused}: 550 5.1.1 No such user`,
    });
    expect(Object.fromEntries(delivery.recipients.map((each) => [each.address, each.status]))).toEqual({
      [emails[0] ?? '']: 'delivered',
      [refused]: 'bounced',
      [emails[2] ?? '']: 'delivered',
    });
    expect(await stage.listEvents(delivery.id)).toEqual(['delivery.failed']);
    expect(await stage.readStats(endpointId)).toEqual({ total: 1, successful: 0, failed: 1 });
    for (const each of [emails[0] ?? '', emails[2] ?? '']) await stage.copyTo(each);
    expect(readField((await stage.copyTo(emails[0] ?? '')).bytes, 'To')).toBe(address);
    // Nobody sent it, so nobody is told by a DSN, and the email itself is what it was.
    const { body } = await stage.sending.account.call('GET', `/emails/${emailId}`);
    expect(body).toMatchObject({ type: 'received', status: 'delivered' });
  });

  test('changes by a DSN, for the recipient and the delivery, and counts once', async () => {
    const { address, endpointId } = await stage.forwarding({ forwardTo: newPerson() });
    const emailId = await stage.offer(address, message('Late'));
    await stage.settled(emailId);
    const { from } = await stage.copyTo(joe);
    await stage.offer(from, deliveryReport(bouncedRecipient(joe)), '');
    const delivery = await stage.untilDelivery(emailId, ({ status }) => status === 'failed');
    expect(delivery).toMatchObject({ error: '5.1.1 550 5.1.1 No such user', recipients: [{ status: 'bounced' }] });
    expect(await stage.listEvents(delivery.id)).toEqual(['delivery.succeeded', 'delivery.failed']);
    expect(await stage.readStats(endpointId)).toEqual({ total: 1, successful: 0, failed: 1 });
    const received = await stage.sending.account.call('GET', '/emails?type=received&search=report');
    expect(received.body.data).toEqual([]);
  });

  test('is a failure with the reason when the endpoint is disabled meanwhile', async () => {
    const { address, endpointId } = await stage.forwarding({ forwardTo: newPerson() });
    stage.sending.sink.respond({ rcpt: () => '550 5.1.1 No such user' });
    const emailId = await stage.offer(address, message('Refused'));
    expect(await stage.settled(emailId)).toMatchObject({
      status: 'failed',
      status_code: 550,
      error: '550 5.1.1 No such user',
    });
    stage.sending.sink.respond({});
    await stage.sending.query('update endpoint set is_active = false where id = $1', [endpointId]);
    await stage.sending.query(
      `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, next_attempt_at, created_at)
       select workspace_id, id || 'b', email_id, endpoint_id, delivery_type, 1, postroom_now(), postroom_now() from delivery where email_id = $1`,
      [emailId],
    );
    await until(
      'the second delivery is settled',
      () => stage.sending.service.output.slice(-2000),
      async () => (await stage.listDeliveries(emailId))[1]?.status === 'failed',
    );
    expect((await stage.listDeliveries(emailId))[1]).toMatchObject({ error: 'Endpoint is inactive', recipients: [] });
  });
});

describe('loops', () => {
  test('end after one turn when A forwards to B and B to A', async () => {
    const { domain } = stage.sending.account;
    const a = await stage.forwarding({ forwardTo: `ring-b@${domain}` }, 'ring-a');
    const b = await stage.forwarding({ forwardTo: `ring-a@${domain}` }, 'ring-b');
    const first = await stage.offer(a.address, message('Ring'));
    expect(await stage.settled(first)).toMatchObject({ status: 'success' });
    const second = await receivedBy(b.address);
    expect(await stage.settled(second)).toMatchObject({
      status: 'failed',
      status_code: 554,
      error: '554 5.4.6 This message was delivered here before',
    });
    expect(await countReceived(a.address)).toBe(1);
    expect(await countReceived(b.address)).toBe(1);
  });

  test('are refused at once when an address forwards to itself', async () => {
    const { domain } = stage.sending.account;
    const { address } = await stage.forwarding({ forwardTo: `self@${domain}`, preserveHeaders: true }, 'self');
    const emailId = await stage.offer(address, message('Self'));
    expect(await stage.settled(emailId)).toMatchObject({ status: 'failed', status_code: 554 });
    expect(await countReceived(address)).toBe(1);
  });

  test('through a host that drops Delivered-To end with the fiftieth Received field', async () => {
    const { address } = await stage.forwarding({ forwardTo: newPerson() });
    await stage.offer(address, message('Ring'));
    let bytes = (await stage.copyTo(joe)).bytes;
    let turns = 0;
    let refusal = '';
    for (; turns < 60 && refusal === ''; turns++) {
      const lines = bytes.toString('latin1').replace(/^Delivered-To:.*\r\n/gm, '');
      try {
        await stage.offer(address, Buffer.from(lines, 'latin1'));
        const copies = await stage.copiesTo(joe, turns + 2);
        bytes = copies.at(-1)?.bytes ?? bytes;
      } catch (error) {
        refusal = String(error);
      }
    }
    expect(refusal).toContain('554 5.4.0 Too many hops');
    expect(turns).toBe(51);
  });

  test('do not arise from an automatic reply to a copy: it is stored, and not forwarded', async () => {
    const { address } = await stage.forwarding({ forwardTo: newPerson() });
    await stage.offer(address, message('Vacation'));
    const { from } = await stage.copyTo(joe);
    const emailId = await stage.offer(from, message('I am away'), joe);
    expect(await stage.settled(emailId)).toMatchObject({
      status: 'failed',
      error: 'Not forwarded: it answers a forwarded copy',
      recipients: [],
    });
    await stage.copyTo(joe);
  });
});

async function countReceived(address: string): Promise<number> {
  const [row] = await stage.sending.query<{ count: number }>(
    `select count(*)::int from email where own_address = $1 and type = 'received'`,
    [address],
  );
  return row?.count ?? 0;
}

async function receivedBy(address: string): Promise<string> {
  let id = '';
  await until(
    `mail came to ${address}`,
    () => stage.sending.service.output.slice(-2000),
    async () => {
      const [row] = await stage.sending.query<{ id: string }>('select id from email where own_address = $1', [address]);
      id = row?.id ?? '';
      return id !== '';
    },
  );
  return id;
}

/** What a reader sees of a message, without what a copy may change. */
async function readContent(bytes: Buffer) {
  const parsed = await parseMessage(bytes);
  const { subject, textBody, htmlBody } = parsed;
  return { subject, textBody, htmlBody, attachments: listAttachments(bytes, parsed) };
}

describe.skipIf(!hasCorpora)(`100 messages of ${corporaDirectory}`, () => {
  test('arrive with equal subject, bodies and attachments', async ({ annotate }) => {
    const { address } = await stage.forwarding({ forwardTo: newPerson() });
    const all = await readEmlMessages();
    const originals = new Map<string, { file: string; bytes: Buffer }>();
    for (let at = 0; at < all.length && originals.size < 100; at += 5) {
      const { file, bytes } = all[at] ?? { file: '', bytes: Buffer.alloc(0) };
      const wire = toWireForm(bytes);
      const id = await stage.offer(address, wire).catch(() => null);
      if (id !== null) originals.set(id, { file, bytes: wire });
    }
    const copies = await stage.copiesTo(joe, originals.size);
    const rows = await stage.sending.query<{ id: string; email_id: string }>(
      'select id, email_id from delivery where email_id = any($1)',
      [[...originals.keys()]],
    );
    const byDelivery = new Map(copies.map((copy) => [readDelivery(copy), copy]));
    let compared = 0;
    for (const { id, email_id: emailId } of rows) {
      const original = originals.get(emailId);
      const copy = byDelivery.get(id);
      if (original === undefined || copy === undefined) throw new Error(`no copy of ${emailId}`);
      expect(await readContent(copy.bytes), original.file).toEqual(await readContent(original.bytes));
      expect(copy.bytes.toString('latin1'), original.file).toMatch(/^[\t\r\n\x01-\x7f]*$/);
      compared++;
    }
    await annotate(`${compared} compared`);
    expect(compared).toBe(originals.size);
    expect(compared).toBeGreaterThan(90);
  });
});

function readDelivery({ bytes }: SinkMessage): string {
  const id = listFields(bytes).find(([name]) => name === 'Message-ID')?.[1] ?? '';
  return /dlv_[0-9a-f]{32}/.exec(id)?.[0] ?? '';
}
