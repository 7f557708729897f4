import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { makePdf, makePdfBomb, makeTextPdf, makeUnmappedPdf } from '../../support/mail/pdf-files.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';

let gateway: TestGateway;
let box: TestMailbox;
let client: Client;

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox();
  client = await connectInjected(gateway, box.apiKey);
});
afterAll(async () => {
  await client?.close();
  await gateway?.close();
});

/** Returns an email with this file, whose type is what its sender says. */
async function mailWith(content: Buffer, contentType = 'application/pdf'): Promise<string> {
  const head = 'Subject: file\r\n\r\n';
  const encoded = content.toString('base64');
  const attachment: Attachment = {
    index: 0,
    filename: 'file.pdf',
    contentType,
    size: content.length,
    contentId: null,
    contentDisposition: 'attachment',
    start: head.length,
    length: encoded.length,
    transferEncoding: 'base64',
  };
  const raw = Buffer.from(`${head}${encoded}\r\n`);
  const [id = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId, attachments: [attachment], raw }]);
  return id;
}

async function read(emailId: string, more: object = {}) {
  const given = { email_id: emailId, index: 0, ...more };
  const { structuredContent, isError } = await client.callTool({ name: 'read_attachment', arguments: given });
  expect(isError ?? false).toBe(false);
  return structuredContent as {
    kind: string;
    note: string | null;
    next_offset: number | null;
    untrusted: { text: string };
  };
}

describe('the text of a PDF', () => {
  test('is returned page by page, in the order of its lines', async () => {
    const id = await mailWith(makeTextPdf([['Invoice 4711', 'Total: 129.90 (EUR)'], ['Größe: café']]));
    expect(await read(id)).toMatchObject({
      kind: 'text',
      note: null,
      next_offset: null,
      untrusted: { content_type: 'application/pdf', text: 'Invoice 4711\nTotal: 129.90 (EUR)\n\nGröße: café' },
    });
  });

  test('is found by the bytes of the file, and a text that mentions the header of a PDF stays a text', async () => {
    const pdf = await mailWith(makeTextPdf([['Called something else']]), 'application/octet-stream');
    expect(await read(pdf)).toMatchObject({ kind: 'text', untrusted: { text: 'Called something else' } });
    const text = await mailWith(Buffer.from('A file begins with %PDF-1.7.'), 'text/plain');
    expect(await read(text)).toMatchObject({ kind: 'text', untrusted: { text: 'A file begins with %PDF-1.7.' } });
  });

  test('is returned in parts', async () => {
    const lines = Array.from({ length: 30 }, (_, at) => `Line ${at} of a long document without end`);
    const pages = Array.from({ length: 60 }, () => lines);
    const id = await mailWith(makeTextPdf(pages));
    const first = await read(id);
    expect(first.next_offset).toBe(50_000);
    const second = await read(id, { offset: first.next_offset });
    expect(second.next_offset).toBeNull();
    expect(first.untrusted.text + second.untrusted.text).toBe(pages.map((page) => page.join('\n')).join('\n\n'));
  });

  test('ends after 200 pages', async () => {
    const id = await mailWith(makeTextPdf(Array.from({ length: 230 }, (_, at) => [`Page ${at + 1}`])));
    const { untrusted, note } = await read(id);
    expect(untrusted.text.endsWith('Page 200')).toBe(true);
    expect(note).toBe('The text is cut; the file has 230 pages.');
  });
});

describe('a PDF without text is a file, with the reason', () => {
  test.each([
    ['whose pages are pictures', makePdf([Buffer.from('0 0 100 100 re f')]), 'its pages are pictures'],
    ['whose fonts name no characters', makeUnmappedPdf(), 'or its fonts do not name their characters'],
    ['that is damaged', Buffer.from('%PDF-1.7 garbage'), 'This PDF is damaged'],
    ['that takes gigabytes', makePdfBomb(), 'takes too long or too much memory'],
  ])('%s', async (_what, content, note) => {
    const id = await mailWith(content);
    expect(await read(id)).toMatchObject({
      kind: 'file',
      next_offset: null,
      note: expect.stringContaining(note),
      untrusted: { text: null },
    });
    // The next file is read, in a new thread where the last one was ended.
    const next = await mailWith(makeTextPdf([['Next']]));
    expect(await read(next)).toMatchObject({ untrusted: { text: 'Next' } });
  });
});

test('an offset after the end of the text is refused', async () => {
  const id = await mailWith(makeTextPdf([['Short']]));
  const given = { email_id: id, index: 0, offset: 99 };
  const { isError, content } = await client.callTool({ name: 'read_attachment', arguments: given });
  expect([isError, JSON.stringify(content)]).toEqual([true, expect.stringContaining('has 5 characters')]);
});
