import { describe, expect, test } from 'vitest';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { readParts } from '../../../core/mime/message-parts.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { isTransferable, repairHeader, toQuotedPrintable, toTransferable } from '../../../core/mime/transfer-form.ts';
import { expectLinearGrowth } from '../../support/growth.ts';

const makeBytes = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`);
const latin1 = (...lines: string[]) => Buffer.from(`${lines.join('\r\n')}\r\n`, 'latin1');

/** What the parts of a message decode to. */
async function decoded(bytes: Buffer): Promise<string[]> {
  const { leaves } = await readParts(bytes);
  return leaves.map(({ start, length, transferEncoding }) =>
    Buffer.from(decodeAttachment(bytes.subarray(start, start + length), transferEncoding)).toString('latin1'),
  );
}

describe('what SMTP can carry', () => {
  test.each<[what: string, bytes: Buffer, sevenBit: boolean, eightBit: boolean]>([
    ['ASCII in lines', makeBytes('a', '', '.', '..b'), true, true],
    ['bytes beyond ASCII', makeBytes('ä'), false, true],
    ['NUL', makeBytes('a\0b'), false, false],
    ['a lone LF', Buffer.from('a\nb\r\n'), false, false],
    ['a lone CR', Buffer.from('a\rb\r\n'), false, false],
    ['a CR at the end', Buffer.from('a\r'), false, false],
    ['a line of 998 bytes', makeBytes('x'.repeat(998)), true, true],
    ['a line of 999 bytes', makeBytes('x'.repeat(999)), false, false],
    ['a last line of 999 bytes without end', Buffer.from('x'.repeat(999)), false, false],
  ])('%s', (_, bytes, sevenBit, eightBit) => {
    expect([isTransferable(bytes, '7bit'), isTransferable(bytes, '8bit')]).toEqual([sevenBit, eightBit]);
  });
});

describe('a message in another transfer form', () => {
  test('that already has the form is returned unchanged', async () => {
    const bytes = makeBytes('Subject: Hello', '', 'Hello');
    expect(await toTransferable(bytes, '7bit')).toBe(bytes);
    const eight = makeBytes('Subject: Grüße', '', 'Grüße');
    expect(await toTransferable(eight, '8bit')).toBe(eight);
  });

  test.each<[what: string, bytes: Buffer]>([
    [
      'text in UTF-8',
      makeBytes(
        'Content-Type: text/plain; charset=utf-8',
        'Content-Transfer-Encoding: 8bit',
        '',
        'Grüße ',
        '\ttab\t',
        '',
        '=3D',
      ),
    ],
    [
      'text in Latin 1 that says nothing of it',
      latin1('Content-Type: text/plain; charset=iso-8859-1', '', 'Gr\xfc\xdfe'),
    ],
    ['Japanese', makeBytes('Content-Type: text/plain; charset=utf-8', '', '日本語'.repeat(300))],
    ['a long line', makeBytes('', 'x'.repeat(3_000), 'y')],
    ['lone CR and LF and NUL', Buffer.from('Subject: a\r\n\r\na\rb\nc\0d\r\n')],
    [
      'quoted-printable with long lines',
      makeBytes('Content-Transfer-Encoding: quoted-printable', '', `=41${'b'.repeat(2_000)} =20`),
    ],
    [
      'base64 in one line',
      makeBytes(
        'Content-Type: image/png',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.alloc(3_000, 7).toString('base64'),
      ),
    ],
    [
      'binary',
      latin1('Content-Type: application/pdf', 'Content-Transfer-Encoding: binary', '', '\x00\x01\xff\xfe\r\n\r\n\xfd'),
    ],
  ])('%s decodes to the same', async (_, bytes) => {
    const repaired = await toTransferable(bytes, '7bit');
    expect(isTransferable(repaired, '7bit')).toBe(true);
    expect(await decoded(repaired)).toEqual(await decoded(bytes));
  });

  test('valid parts keep their bytes, and others are encoded in place', async () => {
    const bytes = makeBytes(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      'préambule',
      '--b',
      'Content-Type: text/plain; charset=utf-8',
      '',
      'Grüße',
      '--b',
      'Content-Type: application/pdf; name="Übersicht.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'AAAA',
      '--b--',
      'épilogue',
    );
    const repaired = await toTransferable(bytes, '7bit');
    expect(repaired.toString('latin1')).toContain('\r\n\r\nAAAA\r\n--b--\r\n');
    const [before, after] = [await parseMessage(bytes), await parseMessage(repaired)];
    expect(after.textBody).toBe(before.textBody);
    expect(after.attachments.map(({ filename }) => filename)).toEqual(['Übersicht.pdf']);
    expect(isTransferable(repaired, '7bit')).toBe(true);
  });

  test('a message within a message is not encoded, but its content is', async () => {
    const bytes = makeBytes(
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: message/rfc822',
      'Content-Transfer-Encoding: 8bit',
      '',
      'Subject: Grüße',
      '',
      'Grüße',
      '--b--',
    );
    const repaired = await toTransferable(bytes, '7bit');
    const [inner = ''] = await decoded(repaired);
    const message = await parseMessage(Buffer.from(inner, 'latin1'));
    expect([message.subject, message.textBody?.trim()]).toEqual(['Grüße', 'Grüße']);
    expect(repaired.toString('latin1')).toContain('Content-Transfer-Encoding: 7bit\r\n\r\nSubject: =?');
  });

  test('of deeply nested messages the innermost are encoded whole', async () => {
    const nested = (depth: number): Buffer =>
      depth === 0
        ? makeBytes('Subject: innermost', '', 'Grüße')
        : Buffer.concat([makeBytes(`X-Depth: ${depth}`, 'Content-Type: message/rfc822', ''), nested(depth - 1)]);
    const repaired = await toTransferable(nested(30), '7bit');
    expect(isTransferable(repaired, '7bit')).toBe(true);
    const [head = '', body = ''] = repaired.toString('latin1').split('Content-Transfer-Encoding: base64\r\n\r\n');
    expect(head.match(/X-Depth: \d+/g)?.at(-1)).toBe('X-Depth: 25');
    expect(Buffer.from(body, 'base64')).toEqual(nested(24));
    expect(await toTransferable(repaired, '7bit')).toBe(repaired);
  });
});

describe('header fields', () => {
  test('with non-ASCII bytes become encoded words, and encoded words stay whole', () => {
    const repaired = repairHeader(latin1('Subject: =?iso-8859-1?Q?Fr\xf6sche?=', 'X-A: plain'), '7bit').toString(
      'latin1',
    );
    expect(repaired).toBe('Subject: =?iso-8859-1?Q?Fr=f6sche?=\r\nX-A: plain\r\n');
  });

  test('that are too long are folded, at white space if possible', () => {
    const repaired = repairHeader(makeBytes(`A: ${'word '.repeat(500)}`, `B: ${'x'.repeat(2_500)}`), '8bit');
    expect(isTransferable(repaired, '8bit')).toBe(true);
    const unfolded = repaired.toString('latin1').replace(/\r\n(?=[ \t])/g, '');
    expect(unfolded).toContain(`A: ${'word '.repeat(500)}`);
  });
});

test('quoted-printable has lines of at most 76 characters without trailing white space', () => {
  const encoded = toQuotedPrintable(makeBytes('a'.repeat(200), 'end \t', 'ü'.repeat(100), '')).toString('latin1');
  for (const line of encoded.split('\r\n')) expect(line).toMatch(/^(?:.{0,75}[^ \t])?$/);
});

test('the longest accepted header field is repaired in linear time', () => {
  for (const [unit, end] of [
    ['x', ''],
    ['x=x ', '\xe4'],
    ['x\xe4', ''],
  ] as const)
    expectLinearGrowth(
      (length) => {
        const field = `A: ${unit.repeat(length / unit.length)}${end}`;
        expect(isTransferable(repairHeader(latin1(field), '7bit'), '7bit')).toBe(true);
      },
      250_000,
      unit,
    );
});
