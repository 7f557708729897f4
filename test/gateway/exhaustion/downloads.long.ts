import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Attachment } from '../../../core/mime/attachment.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { expectBounded, expectServedOrRefused } from '../../support/stages/expect-bounded.ts';

const MB = 1_000_000;
const READERS = 100;
/** Bytes of a message, the largest that is received. */
const MESSAGE_BYTES = 15 * MB;

/** Each attack has a gateway of its own, because a peak of memory is that of all its life. */
let stage: ExhaustionStage;
beforeEach(async () => {
  stage = await openExhaustionStage('small', { messages: 1 });
});
afterEach(() => stage?.close());

/** Stores an email of the attacker whose message has attachments of these shares of its bytes. */
async function storeAttachments(
  count: number,
  transferEncoding: Attachment['transferEncoding'],
  line = 'QUFB',
): Promise<string> {
  const raw = Buffer.alloc(MESSAGE_BYTES, line);
  const length = Math.floor(MESSAGE_BYTES / count / 4) * 4;
  const attachments = Array.from({ length: count }, (_, index): Attachment => {
    const names = { filename: `${index}.bin`, contentType: 'application/octet-stream', contentId: null };
    return { ...names, index, size: length, contentDisposition: null, start: index * length, length, transferEncoding };
  });
  const [id = ''] = await insertMail(stage.owner, [{ workspaceId: stage.attacker.workspaceId, raw, attachments }]);
  return id;
}

/** Begins the downloads with clients that read nothing, and expects that some are served, and another account at the same time. */
async function expectBoundedDownloads(paths: readonly string[]): Promise<void> {
  expectServedOrRefused(await Promise.all(paths.map((path) => stage.hold(stage.attacker, path))));
  await expectBounded(stage);
  stage.letGo();
}

const readers = (path: string) => Array.from({ length: READERS }, () => path);

test('100 slow readers of raw messages of 15 MB are served or refused below 600 MiB', async () => {
  const id = await storeAttachments(1, 'base64');
  await expectBoundedDownloads(readers(`/emails/${id}/raw`));
});

test.each([
  ['base64', 'QUFB'],
  ['quoted-printable', '=41=\n'],
  ['uuencode', 'QUFB'],
  ['binary', 'x'],
] as const)(
  '100 slow readers of an attachment of 15 MB in %s are served or refused below 600 MiB',
  async (encoding, line) => {
    const id = await storeAttachments(1, encoding, line);
    await expectBoundedDownloads(readers(`/attachments/${id}/parts/0`));
  },
);

test('100 slow readers of ZIP files of a single large attachment are served or refused below 600 MiB', async () => {
  const id = await storeAttachments(1, 'base64');
  await expectBoundedDownloads(readers(`/emails/${id}/attachments.zip`));
});

test('100 slow readers of ZIP files of 1,000 attachments are served or refused below 600 MiB', async () => {
  const id = await storeAttachments(1_000, 'quoted-printable', '=41=\n');
  await expectBoundedDownloads(readers(`/emails/${id}/attachments.zip`));
});

test('50 clients that read ZIP files, previews and raw messages as fast as they can have them whole, below 600 MiB', async () => {
  const id = await storeAttachments(10, 'base64');
  const paths = [`/emails/${id}/attachments.zip`, `/emails/${id}/raw`, `/emails/${id}/attachments/3/preview`];
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: 50 }, async (_, at) => {
      for (let round = 0; round < 4; round++) {
        const response = await stage.get(stage.attacker, paths[(at + round) % paths.length] ?? '');
        // Throws if the connection closes before the end.
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    }),
  );
  expect(statuses).toContain(200);
  for (const status of statuses) expect([200, 429, 503]).toContain(status);
  await expectBoundedDownloads([`/emails/${id}/raw`]);
});
