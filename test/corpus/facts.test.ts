import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { decodeAttachment } from '../../core/mime/attachment.ts';
import { parseMessage } from '../../core/mime/parse-message.ts';
import { hasCorpora, readEmlMessages, readThreadSet, threadSets } from '../support/mail/corpora.ts';
import { type FactScore, printScore, type ReadMessage, readFacts, scoreFacts } from '../support/mail/score-facts.ts';

const PARSER_AGREEMENT = 0.989;
/** What both parsers leave unread: the text of signed files, and the first field behind a byte order mark. */
const READ_FURTHER: ReadonlyMap<string, 'text' | 'from'> = new Map([
  ['mimekit__feedback-report.eml', 'from'],
  ['mimekit-mbox__content-length.mbox.txt_7.eml', 'text'],
  ['notmuch-misc__pkcs7_smime-onepart-signed.eml', 'text'],
  ['notmuch-misc__protected-headers_smime-onepart-signed.eml', 'text'],
]);

describe.skipIf(!hasCorpora)('the corpora', () => {
  let score: FactScore;

  beforeAll(async () => {
    const bytes = new Map((await readEmlMessages()).map((message) => [message.file, message.bytes]));
    const facts = await readFacts();
    expect(facts).toHaveLength(520);
    const comparable = facts.map((each) => {
      const field = READ_FURTHER.get(path.basename(each.file));
      return field === undefined ? each : { ...each, agreed: { ...each.agreed, [field]: false } };
    });
    score = await scoreFacts(comparable, async (file) => readByParser(bytes.get(file) ?? Buffer.alloc(0)));
    printScore('the parser', score);
  });

  test('agree with the parser in 98.9 of 100 fields at least', () => {
    for (const [name, { asserted }] of score.byName) expect(asserted, name).toBeGreaterThan(400);
    expect(score.agree / score.asserted).toBeGreaterThanOrEqual(PARSER_AGREEMENT);
  });

  test('are read where both parsers read nothing', async () => {
    const files = (await readEmlMessages()).filter(({ file }) => READ_FURTHER.has(path.basename(file)));
    expect(files).toHaveLength(READ_FURTHER.size);
    for (const { file, bytes } of files) {
      const { textBody, addresses } = await parseMessage(bytes);
      expect(
        READ_FURTHER.get(path.basename(file)) === 'text' ? textBody : addresses.from?.addresses[0],
        file,
      ).toBeTruthy();
    }
  });

  test('are parsed to the last message, into texts that PostgreSQL takes', async () => {
    const messages = await readEmlMessages();
    for (const name of threadSets) messages.push(...(await readThreadSet(name)).messages);
    expect(messages).toHaveLength(2_698);
    const times: number[] = [];
    for (const { file, bytes } of messages) {
      const start = performance.now();
      const message = await parseMessage(bytes);
      times.push(performance.now() - start);
      const json = JSON.stringify(message);
      if (/\\u0000|\\ud[89a-f]/.test(json)) expect.fail(`${file} has text that cannot be stored`);
      expect(message.parseError).toBeNull();
    }
    const slowest = times.toSorted((a, b) => b - a);
    process.stdout.write(`corpora: p99 ${slowest[27]?.toFixed(1)} ms, slowest ${slowest[0]?.toFixed(1)} ms\n`);
  });
});

async function readByParser(raw: Buffer): Promise<ReadMessage | null> {
  const message = await parseMessage(raw).catch(() => null);
  if (message === null) return null;
  const { from, to, cc } = message.addresses;
  return {
    subject: message.subject,
    from,
    to,
    cc,
    text: message.textBody,
    html: message.htmlBody,
    attachments: message.attachments.map(({ filename, contentType, size, start, length, transferEncoding }) => ({
      filename,
      contentType,
      size,
      bytes: decodeAttachment(raw.subarray(start, start + length), transferEncoding),
    })),
  };
}
