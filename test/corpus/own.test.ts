import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { AddressList } from '../../core/mime/address.ts';
import { decodeAttachment } from '../../core/mime/attachment.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';

/** What a message of `own/` says. Absent: the fact is left open. */
interface OwnFacts {
  file: string;
  subject: string;
  from: Mailbox[];
  to: Mailbox[];
  cc: Mailbox[];
  text?: string | null;
  html?: string | null;
  attachments: { filename: string; contentType: string; sha256?: string }[];
}

interface Mailbox {
  name: string | null;
  address: string;
}

const folder = path.join(import.meta.dirname, 'own');
const facts = JSON.parse(readFileSync(path.join(folder, 'facts.json'), 'utf8')) as OwnFacts[];

test('each message of test/corpus/own has its facts', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.eml'));
  expect(facts.map(({ file }) => file).toSorted()).toEqual(files.toSorted());
  expect(files).toHaveLength(20);
});

test.each(facts)('$file is parsed as it was written', async ({ file, ...expected }) => {
  const raw = readFileSync(path.join(folder, file));
  const message = await parseMessage(raw);
  expect(message.parseError).toBeNull();
  const { from, to, cc } = message.addresses;
  expect({
    subject: message.subject,
    from: mailboxes(from),
    to: mailboxes(to),
    cc: mailboxes(cc),
    text: message.textBody,
    html: message.htmlBody,
    attachments: message.attachments.map(({ filename, contentType, start, length, transferEncoding }) => ({
      filename,
      contentType,
      sha256: sha256(decodeAttachment(raw.subarray(start, start + length), transferEncoding)),
    })),
  }).toMatchObject(expected);
});

function mailboxes(list: AddressList | null): Mailbox[] {
  return (list?.addresses ?? []).map(({ name, address }) => ({ name, address: address ?? '' }));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
