import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { dkimVerify } from 'mailauth';
import { expect, test } from 'vitest';
import { prepareDkimSignature, relaxedBody } from '../../core/dkim-signature.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
const record = `v=DKIM1; k=rsa; p=${pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;
const IDENTITY = { domain: 'box.test', selector: 'sel' };
const SIGNED_AT = new Date('2026-11-21T20:00:00Z');

function signed(message: string): Buffer {
  const octets = Buffer.from(message, 'latin1');
  const hash = createHash('sha256');
  for (const piece of relaxedBody(octets)) hash.update(piece, 'latin1');
  const field = prepareDkimSignature(octets, hash.digest('base64'), IDENTITY, SIGNED_AT);
  return Buffer.concat([field.complete(sign('sha256', field.input, pair.privateKey)), octets]);
}

async function verdictOn(message: Buffer): Promise<string | undefined> {
  const { results } = await dkimVerify(message, {
    resolver: (name, type) =>
      name === 'sel._domainkey.box.test' && type === 'TXT'
        ? Promise.resolve([[record]])
        : Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
  });
  return results[0]?.status.result;
}

const HEADER = 'From: Ann <ann@box.test>\r\nTo: ben@peer.test\r\nSubject: hello\r\n';

test.each([
  ['plain', `${HEADER}\r\nGood day.\r\n`],
  ['blanks in lines, at their ends, and empty lines at the end', `${HEADER}\r\na  b\t c \t\r\n \r\n.\r\n\r\n \r\n\r\n`],
  ['no line end at the end', `${HEADER}\r\nno end`],
  ['no body', `${HEADER}\r\n`],
  ['nothing but empty lines', `${HEADER}\r\n\r\n\r\n`],
  ['no empty line at all', HEADER],
  [
    'folded fields',
    `From:\r\n Ann\r\n\t<ann@box.test>\r\nSubject:   a  \t b\r\n  c \r\nReferences: <a@x>\r\n <b@x>\r\n\r\nx\r\n`,
  ],
  ['every field that is signed', `${HEADER}${everyField()}\r\nx\r\n`],
  ['octets beyond ASCII', `${HEADER}X-Other: \xe4\r\n\r\nGr\xfc\xdfe \xa0 \x00\r\n`],
  ['a colon behind blanks', `From : ann@box.test\r\nSubject:x\r\n\r\ny\r\n`],
  ['a field twice', `${HEADER}List-Id: <a.box.test>\r\nList-Id: <b.box.test>\r\n\r\nx\r\n`],
  ['a large body', `${HEADER}\r\n${'some  words and a line end \r\n'.repeat(30_000)}`],
  ['a large body in one line', `${HEADER}\r\n${'x y  '.repeat(120_000)}`],
])('another implementation finds the signature good: %s', async (_, message) => {
  expect(await verdictOn(signed(message))).toBe('pass');
});

const sealed = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Date',
  'Message-ID',
  'Reply-To',
  'In-Reply-To',
  'References',
  'MIME-Version',
  'Content-Type',
];
test.each(sealed)('a %s that somebody adds spoils the signature', async (name) => {
  const message = signed(`${HEADER}${everyField()}\r\nGood day.\r\n`);
  const value = name === 'From' ? 'eve@evil.test' : 'anything';
  expect(await verdictOn(Buffer.concat([Buffer.from(`${name}: ${value}\r\n`), message]))).not.toBe('pass');
});

test('a changed body, subject or signature spoils it', async () => {
  const message = signed(`${HEADER}\r\nGood day.\r\n`).toString('latin1');
  for (const [from, to] of [
    ['Good day', 'Bad day'],
    ['hello', 'hullo'],
    ['t=1795291200', 't=1795291201'],
  ] as const) {
    expect(message).toContain(from);
    expect(await verdictOn(Buffer.from(message.replace(from, to), 'latin1'))).not.toBe('pass');
  }
});

test('the field is folded in lines of at most 76 characters, and says when', () => {
  const message = signed(`${HEADER}${everyField()}\r\nx\r\n`).toString('latin1');
  const field = message.slice(0, message.indexOf('From: Ann'));
  expect(field.split('\r\n').every((line) => line.length <= 76)).toBe(true);
  expect(field.replace(/\r\n /g, ' ')).toMatch(
    /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed; d=box.test; s=sel; t=1795291200; bh=[^;]+; h=/,
  );
});

test('the body does not have to be held in memory twice', () => {
  const octets = Buffer.from(`${HEADER}\r\n${'a line of text\r\n'.repeat(100_000)}`);
  const pieces = [...relaxedBody(octets)];
  expect(pieces.length).toBeGreaterThan(4);
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(300_000);
});

function everyField(): string {
  const names = ['Cc', 'Date', 'Message-ID', 'Reply-To', 'In-Reply-To', 'References', 'MIME-Version', 'Content-Type'];
  const others = ['Content-Transfer-Encoding', 'List-Id', 'List-Unsubscribe', 'List-Unsubscribe-Post', 'Feedback-ID'];
  return [...names, ...others].map((name) => `${name}: value of ${name}\r\n`).join('');
}
