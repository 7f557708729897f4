import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { simpleParser } from 'mailparser';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { corporaDirectory, hasCorpora } from '../support/mail/corpora.ts';
import { insertMail } from '../support/rows/mail-rows.ts';
import type { TestMailbox } from '../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../support/servers/gateway.ts';

interface Step {
  body: Record<string, unknown> & { text: string; html?: string };
  want?: number | string;
  want_from?: string;
}

describe.skipIf(!hasCorpora)('of the public reports about requests', () => {
  let gateway: TestGateway;
  let box: TestMailbox;
  beforeAll(async () => {
    gateway = await openTestGateway();
  });
  beforeEach(async () => {
    box = await gateway.mailbox();
  });
  afterAll(() => gateway.close());

  async function listSteps(name: string): Promise<Step[]> {
    const file = await readFile(path.join(corporaDirectory, 'public-reports', `${name}.json`), 'utf8');
    return JSON.parse(file.replaceAll('hello@inbox.test', box.address)).steps;
  }
  const post = (body: unknown) => gateway.call(box.apiKey, 'POST', '/emails', body);
  async function sentBytes(body: unknown): Promise<Buffer> {
    const sent = await post(body);
    expect(sent.statusCode, sent.body).toBe(200);
    return (await gateway.call(box.apiKey, 'GET', `/emails/${sent.json().id}/raw`)).rawPayload;
  }

  test('90: contents of attachments are decoded or refused, never corrupted', async () => {
    for (const { body, want } of await listSteps('90-attachment-content-forms')) {
      if (want === 400) {
        const refused = await post(body);
        expect([refused.statusCode, refused.json().name]).toEqual([400, 'validation_error']);
        continue;
      }
      const parsed = await simpleParser(await sentBytes(body));
      const size = /(\d+) bytes/.exec(String(want))?.[1];
      const [given] = body['attachments'] as { content: string }[];
      const base64 = given?.content.replace(/^data:[^,]*,/, '') ?? '';
      expect(parsed.attachments[0]?.content).toEqual(Buffer.from(base64, 'base64'));
      if (size !== undefined) expect(parsed.attachments[0]?.size).toBe(Number(size));
    }
  });

  test('91: display names reach the reader', async () => {
    for (const { body, want_from: name } of await listSteps('91-display-names-sent'))
      expect((await simpleParser(await sentBytes(body))).from?.value[0]?.name).toBe(name);
  });

  test('92: lines keep their text and RFC 5321 limits', async () => {
    for (const { body } of await listSteps('92-line-ends-and-long-lines')) {
      const bytes = await sentBytes(body);
      const raw = bytes.toString('latin1');
      expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
      expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
      const parsed = await simpleParser(bytes);
      const unified = (text: string) => text.replaceAll(/\r\n?/g, '\n').replace(/\n+$/, '');
      expect(unified(parsed.text ?? '')).toBe(unified(body.text));
      if (body.html !== undefined) expect(unified(parsed.html || '')).toBe(unified(body.html));
    }
  });

  test('99: Content-IDs without @ and unusual types are sent', async () => {
    const [inline, odd] = await listSteps('99-content-ids-sent');
    const first = (await simpleParser(await sentBytes(inline?.body))).attachments[0];
    expect([first?.contentId, first?.contentDisposition]).toEqual(['<logo.png>', 'inline']);
    const second = (await simpleParser(await sentBytes(odd?.body))).attachments[0];
    expect([second?.filename, second?.contentType]).toEqual(['x.png', 'application/pdf']);
  });

  test('102: a reply to an address beyond ASCII says that mail cannot be sent to it', async () => {
    const sender = 'grå@grå.example';
    const [from, to] = [sender, box.address].map((address) => ({
      text: address,
      addresses: [{ name: null, address }],
    }));
    const addresses = { from: from ?? null, to: to ?? null, cc: null, bcc: null, replyTo: null };
    const mail = { workspaceId: box.workspaceId, ownAddress: box.address, addresses };
    const [id = ''] = await insertMail(gateway.actor, [mail]);
    const body = { from: box.address, text: 'Hej' };
    const refused = await gateway.call(box.apiKey, 'POST', `/emails/${id}/reply`, body);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message).toContain(`Mail cannot be sent to \`${sender}\``);
  });

  test('103: a Buffer as JSON is sent as its bytes', async () => {
    const [step] = await listSteps('103-buffer-as-json');
    expect((await simpleParser(await sentBytes(step?.body))).attachments[0]?.content.toString()).toBe('hi');
  });
});
