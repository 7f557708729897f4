import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { createMailbox, type TestMailbox } from '../../support/rows/routing-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { expectBounded, expectServedOrRefused } from '../../support/stages/expect-bounded.ts';
import { signIn } from '../../support/stages/sign-in-session.ts';

const MB = 1_000_000;
/** Bytes of each body of a large email. */
const BODY_BYTES = 14 * MB;

/** Each attack has a gateway of its own, because a peak of memory is that of all its life. */
let stage: ExhaustionStage;
let second: TestMailbox;
beforeEach(async () => {
  stage = await openExhaustionStage('small', { messages: 1 });
  second = await createMailbox(stage.owner, { domain: 'second.test', address: 'hello@second.test' });
});
afterEach(() => stage?.close());

async function storeLargeMail({ workspaceId }: TestMailbox, body: string): Promise<void> {
  const raw = Buffer.alloc(BODY_BYTES, 'QUFB');
  await insertMail(stage.owner, [{ workspaceId, text: body, html: body, raw }]);
}

/** Returns what tar reads of an archive. */
function readArchive(archive: Buffer, ...options: string[]): Buffer {
  const { status, stdout, stderr } = spawnSync('tar', options, { input: archive, maxBuffer: 500 * MB });
  expect([status, stderr.toString()]).toEqual([0, '']);
  return stdout;
}

test.each([
  ['one character that doubles its string', `€${'x'.repeat(BODY_BYTES - 3)}`],
  ['escapes', '"\n\u{1}'.repeat(BODY_BYTES / 3)],
])('exports of two accounts with texts of %s have all of them, below 600 MiB', async (_name, body) => {
  const archives = await Promise.all(
    [stage.attacker, second].map(async (box) => {
      await storeLargeMail(box, body);
      const { cookie } = await signIn(stage, box);
      const response = await fetch(`${stage.gateway.url}/api/auth/export`, { headers: { cookie } });
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    }),
  );
  await expectBounded(stage);
  for (const archive of archives) {
    const names = readArchive(archive, '-tzf', '-').toString().trim().split('\n');
    expect(names.at(-1)).toBe('README.md');
    const file = names.findLast((name) => name.startsWith('emails.')) ?? '';
    const email = JSON.parse(readArchive(archive, '-xzOf', '-', file).toString().trimEnd().split('\n').at(-1) ?? '');
    expect(email.content.text_body === body && email.content.html_body === body).toBe(true);
    const message = names.findLast((name) => name.endsWith('.eml')) ?? '';
    expect(readArchive(archive, '-xzOf', '-', message).equals(Buffer.alloc(BODY_BYTES, 'QUFB'))).toBe(true);
  }
});

test('100 exports at once whose clients read nothing are served or refused below 600 MiB', async () => {
  const body = randomBytes(BODY_BYTES / 2).toString('hex');
  const begun = (
    await Promise.all(
      [stage.attacker, second].map(async (box) => {
        await storeLargeMail(box, body);
        const { headers } = await signIn(stage, box);
        return Promise.all(Array.from({ length: 50 }, () => stage.hold(box, '/api/auth/export', { headers })));
      }),
    )
  ).flat();
  expect(expectServedOrRefused(begun)).toBe(2);
  await expectBounded(stage);
  stage.letGo();
});

test('an export without room is refused with 503 before it begins', async () => {
  const id = (
    await insertMail(stage.owner, [{ workspaceId: stage.attacker.workspaceId, raw: Buffer.alloc(15 * MB, 'x') }])
  )[0];
  const held = await Promise.all([1, 2, 3].map(() => stage.hold(stage.attacker, `/emails/${id}/raw`)));
  for (const head of held) expect(head).toContain('200 OK');
  const { cookie } = await signIn(stage, stage.attacker);
  const refused = await fetch(`${stage.gateway.url}/api/auth/export`, { headers: { cookie } });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await stage.get(stage.other, '/emails')).status).toBe(200);
  stage.letGo();
  await expect
    .poll(async () => {
      const response = await fetch(`${stage.gateway.url}/api/auth/export`, { headers: { cookie } });
      await response.arrayBuffer();
      return response.status;
    })
    .toBe(200);
});
