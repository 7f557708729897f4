import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { dkimVerify } from 'mailauth';
import { describe, expect, test } from 'vitest';
import { makeDkimSignature } from '../../../core/sending/dkim-signature.ts';
import { TEST_DKIM_PRIVATE_KEY, TEST_DKIM_PUBLIC_KEY, TEST_DKIM_SELECTOR } from '../../support/mail/dkim-test-key.ts';

const signer = {
  domain: 'example.com',
  selector: TEST_DKIM_SELECTOR,
  privateKey: createPrivateKey(TEST_DKIM_PRIVATE_KEY),
};
const EVERY_FIELD =
  'From: ann@example.com\r\nTo: b@c.test\r\nCc: d@e.test\r\nSubject: s\r\nDate: Mon, 23 Nov 2026 10:00:00 +0000\r\nMessage-ID: <a@b.test>\r\nReply-To: r@s.test\r\nIn-Reply-To: <c@d.test>\r\nReferences: <e@f.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: 7bit\r\nList-Id: l\r\nList-Unsubscribe: <https://x.test>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\nFeedback-ID: f\r\n\r\n';
const HEADER = 'From: Ann <ann@example.com>\r\nTo: bob@example.org\r\nSubject: Hello\r\n';

describe('another implementation accepts the signature of', () => {
  const bodies: Record<string, string> = {
    'plain lines': 'one\r\ntwo\r\n',
    'an empty body': '',
    'a body of empty lines': '\r\n\r\n\r\n',
    'a body of white space': ' \t \r\n\t\r\n',
    'empty lines at the start and the end': '\r\n\r\none\r\n\r\ntwo\r\n\r\n\r\n',
    'a last line without an end': 'one\r\ntwo',
    'white space within lines and at their ends': 'a  b\t c \r\n \td\t\r\n\te f  \r\n',
    'bytes that are no ASCII': 'Gr\xfc\xdfe\xa0\r\n\xa0\x85\r\n',
    'lines that end in LF': 'one \ntwo\n\nthree\n\n',
    'lines that look like a header': 'Subject: other\r\n\r\nFrom: x\r\n',
    'one empty line in front of many slices': `\r\n${'x '.repeat(450)}\r\n`.repeat(1_200),
    'slices of empty lines only': `one\r\n${'\r\n'.repeat(400_000)}two \r\n${'\r\n'.repeat(400_000)}`,
    'a long line across slices': `${'a b  '.repeat(200_000)}\r\nend\r\n`,
  };
  for (const [name, body] of Object.entries(bodies))
    test(name, async () => {
      expect(await readVerdict(`${HEADER}\r\n${body}`)).toBe('pass');
    });

  const headers: Record<string, string> = {
    'folded fields':
      'From: Ann\r\n <ann@example.com>\r\nTo:\r\n\tbob@example.org,\r\n  eve@example.org\r\nSubject: a\r\n\r\n',
    'empty fields and odd white space': 'From : ann@example.com \r\nTo:  \r\nSubject:\t\ta \t b\t\r\n\r\n',
    'fields that occur twice': 'Subject: first\r\nFrom: ann@example.com\r\nSubject: last\r\nX-Other: x\r\n\r\n',
    'bytes that are no ASCII': 'From: ann@example.com\r\nSubject: gr\xfc\xdfe\xa0a\r\n\r\n',
    'lines that end in LF': 'From: ann@example.com\nSubject: a\n b\nTo: c@example.org\n\n',
    'a header section alone': 'From: ann@example.com\r\nSubject: a\r\n',
    'every field that is signed': EVERY_FIELD,
  };
  for (const [name, header] of Object.entries(headers))
    test(`a message with ${name}`, async () => {
      expect(
        await readVerdict(`${header}${header.endsWith('\n\n') || header.endsWith('\r\n\r\n') ? 'body\r\n' : ''}`),
      ).toBe('pass');
    });
});

test('the signature covers the last field of each name, and every name of the list that occurs', async () => {
  const field = await makeDkimSignature(
    Buffer.from(`${HEADER}List-Unsubscribe: <https://example.com>\r\nX-Other: x\r\n\r\nbody\r\n`),
    signer,
    otherWork,
  );
  expect(field.replace(/\r\n /g, ' ')).toContain(' h=from:to:subject:list-unsubscribe;');
  for (const changed of ['Subject: Hello', 'ann@example.com', 'https://example.com', 'body'])
    expect(
      await readVerdict(`${HEADER}List-Unsubscribe: <https://example.com>\r\n\r\nbody\r\n`, (text) =>
        text.replace(changed, `${changed}x`),
      ),
      changed,
    ).not.toBe('pass');
  expect(
    await readVerdict(`Subject: a\r\n${HEADER}\r\nbody\r\n`, (text) => text.replace('Subject: a', 'Subject: c')),
  ).toBe('pass');
});

test('the field is folded in short lines that begin with a space', async () => {
  const field = await makeDkimSignature(Buffer.from(`${EVERY_FIELD}body\r\n`), signer, otherWork);
  const lines = field.split('\r\n');
  expect(lines.pop()).toBe('');
  expect(lines.every((line) => line.length <= 78)).toBe(true);
  expect(lines.slice(1).every((line) => line.startsWith(' '))).toBe(true);
});

test('a key that cannot sign rejects', async () => {
  const { privateKey } = generateKeyPairSync('x25519');
  await expect(makeDkimSignature(Buffer.from(HEADER), { ...signer, privateKey }, otherWork)).rejects.toThrow();
});

/** The verdict of mailauth on the signed message, after `change`. */
async function readVerdict(message: string, change: (signed: string) => string = (signed) => signed): Promise<string> {
  const bytes = Buffer.from(message, 'latin1');
  const signed = `${await makeDkimSignature(bytes, signer, otherWork)}${message}`;
  const resolver = async (name: string) => {
    expect(name).toBe(`${TEST_DKIM_SELECTOR}._domainkey.example.com`);
    return [[`v=DKIM1; k=rsa; p=${TEST_DKIM_PUBLIC_KEY}`]];
  };
  const { results } = await dkimVerify(Buffer.from(change(signed), 'latin1'), { resolver });
  return results.map(({ status }) => status.result).join();
}
