import { afterEach, beforeEach, expect, test } from 'vitest';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { connectMcp } from '../../support/servers/mcp-client.ts';
import { appendEvents } from '../../support/stages/event-feed.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';

/** The most memory that a gateway may ever have under these attacks. Bytes. */
const MAX_MEMORY = 600 * 1_024 * 1_024;
const MB = 1_000_000;
/** Streams of an account. */
const STREAMS = 200;
const EVENTS = 600;
/** Bytes of an event, of a thread with 256 labels. */
const EVENT_BYTES = 64_000;
/** Characters of an email that an event of a subscription has room for. */
const EMAIL_TEXT = 3 * MB;

/** Each attack has a gateway of its own, because a peak of memory is that of all its life. */
let stage: ExhaustionStage;
beforeEach(async () => {
  stage = await openExhaustionStage('x'.repeat(14 * MB), { messages: 1 });
});
afterEach(() => stage?.close());

function appendLargeEvents(): Promise<unknown> {
  const labels = Array.from({ length: EVENTS }, (_, at) => `event ${at}`);
  return appendEvents(stage.owner, stage.attacker.workspaceId, { labels, padding: EVENT_BYTES });
}

async function expectBounded(): Promise<void> {
  expect((await stage.get(stage.other, '/emails')).status).toBe(200);
  const peak = await stage.peakMemory();
  expect(peak, `${Math.round(peak / MB)} MB`).toBeLessThan(MAX_MEMORY);
}

test('200 event streams of large events whose clients read nothing stay below 600 MiB', async () => {
  await appendLargeEvents();
  const page = (await (await stage.get(stage.attacker, '/events?limit=100')).json()) as {
    data: unknown[];
    has_more: boolean;
  };
  expect(page.data.length).toBeLessThan(10);
  expect(page.has_more).toBe(true);
  const headers = 'Accept: text/event-stream\r\n';
  const begun = await Promise.all(
    Array.from({ length: STREAMS }, () => stage.hold(stage.attacker, '/events', { headers })),
  );
  // Together they may want more than the room of an account.
  for (const head of begun) expect(head).toMatch(/^HTTP\/1\.1 (?:200|503)/);
  expect(begun.filter((head) => head.includes('200 OK')).length).toBeGreaterThan(STREAMS / 2);
  await expectBounded();
  stage.letGo();
});

test('an event stream of large events has each of them', async () => {
  await appendLargeEvents();
  const response = await fetch(`${stage.gateway.url}/api/e2/events`, {
    headers: { authorization: `Bearer ${stage.attacker.apiKey}`, accept: 'text/event-stream' },
  });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk as Uint8Array)
      .toString('latin1')
      .replaceAll(/x{9,}/g, '');
    if (text.includes(`event ${EVENTS - 1}`)) break;
  }
  expect(text.match(/"label":"event \d+"/g)).toHaveLength(EVENTS);
});

test('200 subscriptions to the text of emails whose clients read nothing stay below 600 MiB', async () => {
  const [emailId = ''] = await insertMail(stage.owner, [
    { workspaceId: stage.attacker.workspaceId, text: `€${'y'.repeat(EMAIL_TEXT)}` },
  ]);
  await appendEvents(stage.owner, stage.attacker.workspaceId, { labels: ['start'], padding: 1 });
  const { data } = (await (await stage.get(stage.attacker, '/events?limit=1')).json()) as {
    data: { cursor: string }[];
  };
  expect(data).toHaveLength(1);
  await stage.owner.pool.query('select append_events($1, $2::jsonb)', [
    stage.attacker.workspaceId,
    JSON.stringify(Array.from({ length: 5 }, (_, at) => ({ id: `ev_${at}`, kind: 'email.read', emailId }))),
  ]);
  const body = JSON.stringify({
    query: `subscription { events(after: "${data[0]?.cursor}", kinds: [EMAIL_READ]) { cursor email { content { text } } } }`,
  });
  const begun = await Promise.all(
    Array.from({ length: STREAMS }, () =>
      stage.hold(stage.attacker, '/graphql', { method: 'POST', headers: 'Accept: text/event-stream\r\n', body }),
    ),
  );
  for (const head of begun) expect(head).toMatch(/^HTTP\/1\.1 (?:200|503|429)/);
  await expectBounded();
  stage.letGo();
});

test('50 calls of the MCP tool that reads an email of 14 MB stay below 600 MiB', async () => {
  const client = await connectMcp({ url: stage.gateway.url, key: stage.attacker.apiKey });
  try {
    const read = () =>
      client.callTool({ name: 'read_email', arguments: { email_id: stage.largeId } }).catch(() => null);
    const results = await Promise.all(Array.from({ length: 50 }, read));
    expect(results.some((result) => result !== null && result.isError !== true)).toBe(true);
    await expectBounded();
  } finally {
    await client.close();
  }
});

test('16 introspections of all fields of all types, each different, stay below 600 MiB', async () => {
  const type = (depth: number): string =>
    depth === 0
      ? '{ name }'
      : `{ name kind description fields { name description args { name type ${type(depth - 1)} } type ${type(depth - 1)} } }`;
  for (let at = 0; at < 16; at++) {
    const response = await stage.graphql(stage.attacker, `{ a${at}: __schema { types ${type(2)} } }`);
    expect((await response.text()).length).toBeGreaterThan(1_000);
  }
  await expectBounded();
});
