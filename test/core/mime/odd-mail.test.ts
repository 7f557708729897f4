import { describe, expect, test } from 'vitest';
import { decodeAttachment } from '../../../core/mime/attachment.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import type { OddCase } from './odd/odd-case.ts';
import { oddCharsets } from './odd/odd-charsets.ts';
import { oddFields } from './odd/odd-fields.ts';
import { oddFresh } from './odd/odd-fresh.ts';
import { oddStructures } from './odd/odd-structures.ts';
import { oddTemplates } from './odd/odd-templates.ts';
import { oddWorld } from './odd/odd-world.ts';

describe.each([
  ['structures', oddStructures],
  ['charsets', oddCharsets],
  ['fields', oddFields],
  ['kinds of further mail', oddFresh],
  ['parts and fields of public reports', oddWorld],
  ['structures of usual programs', oddTemplates],
])('odd %s are read as mail programs read them', (_kind, cases) => {
  test.each(cases)('$name', async ({ raw, is }) => expectFacts(raw, is));
});

async function expectFacts(raw: Buffer, is: OddCase['is']): Promise<void> {
  const message = await parseMessage(raw);
  const text = trimmed(message.textBody);
  const html = trimmed(message.htmlBody);
  if (is.subject !== undefined) expect(message.subject).toBe(is.subject);
  if (is.fromName !== undefined) expect(message.addresses.from?.addresses[0]?.name).toBe(is.fromName);
  if (is.date !== undefined) expect(message.date?.toISOString().slice(0, 19) ?? null).toBe(is.date);
  if (is.text !== undefined) expect(text).toBe(is.text);
  for (const part of is.textHas ?? []) expect(text).toContain(part);
  for (const part of is.textLacks ?? []) expect(text).not.toContain(part);
  if (is.html !== undefined) expect(html).toBe(is.html);
  for (const part of is.htmlHas ?? []) expect(html).toContain(part);
  if (is.contentIds !== undefined) expect(message.attachments.map(({ contentId }) => contentId)).toEqual(is.contentIds);
  if (is.to !== undefined)
    expect(message.addresses.to?.addresses.map(({ name, address }) => [name, address])).toEqual(is.to);
  if (is.attachments === undefined) return;
  const attachments = message.attachments.map(({ filename, contentType, start, length, transferEncoding }) => {
    const content = decodeAttachment(raw.subarray(start, start + length), transferEncoding);
    return `${filename} ${contentType}: ${Buffer.from(content).toString('latin1')}`;
  });
  expect(attachments).toEqual(is.attachments);
}

function trimmed(text: string | null): string | null {
  return text?.trim() ?? null;
}
