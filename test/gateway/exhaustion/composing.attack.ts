import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { type ExhaustionStage, openExhaustionStage } from '../../support/stages/exhaustion-stage.ts';
import { expectBounded } from '../../support/stages/expect-bounded.ts';
import { waitFor } from '../../support/wait-for.ts';

/*
 * Small requests for which an email is composed from megabytes that are stored, over every interface: each is sent once or refused with a time
 * after which it succeeds, and other accounts are served meanwhile.
 */

const AT_ONCE = 50;
/** Near the largest text that can be sent. Characters. */
const ORIGINAL_LENGTH = 9_900_000;
const FILE_BYTES = 7_000_000;
const TO = 'ada@elsewhere.test';

let stage: ExhaustionStage;
let draftIds: string[];

beforeAll(async () => {
  stage = await openExhaustionStage(`${'x'.repeat(98)}\r\n`.repeat(ORIGINAL_LENGTH / 100), { messages: 1 });
  const { address, workspaceId } = stage.attacker;
  const file = { filename: 'a.bin', content: randomBytes(FILE_BYTES).toString('base64') };
  const made = await rest('/drafts', { from: address, to: [TO], subject: 'x', text: 'x', attachments: [file] });
  const { id } = (await made.json()) as { id: string };
  const copies = Array.from({ length: AT_ONCE - 1 }, () => makeIdentifier('draft', new Date(), randomBytes(10)));
  for (const table of ['draft', 'draft_attachment'])
    await stage.owner.pool.query(
      `insert into ${table} select (jsonb_populate_record(d, jsonb_build_object('${table === 'draft' ? 'id' : 'draft_id'}', copy))).*
       from ${table} d, unnest($3::text[]) as copy where d.workspace_id = $1 and d.${table === 'draft' ? 'id' : 'draft_id'} = $2`,
      [workspaceId, id, copies],
    );
  draftIds = [id, ...copies];
});
afterAll(() => stage?.close());

function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${stage.gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stage.attacker.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const rest = (path: string, body: object) => post(`/api/e2${path}`, body);

function mutate(name: string, type: string, input: object): Promise<Response> {
  return stage.graphql(
    stage.attacker,
    `mutation Send($input: ${type}!) { ${name}(input: $input) { __typename ... on Error { message } } }`,
    { input },
  );
}

function callTool(name: string, given: object): Promise<Response> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
  return post('/mcp', call, {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  });
}

/** Returns 'sent', or how it was refused. */
async function readOutcome(response: Response): Promise<string> {
  const body = await response.text();
  const wait = Number(response.headers.get('retry-after') ?? Number.NaN);
  if ((response.status === 200 || response.status === 201) && /ReplyToEmailPayload|"id":"em_|em_[a-z0-9]+/.test(body))
    return 'sent';
  return response.status === 503 && wait > 0 && wait <= 60 ? 'refused' : `${response.status} ${body.slice(0, 300)}`;
}

async function countSent(): Promise<number> {
  const { rows } = await stage.owner.pool.query<{ sent: number }>(
    `select count(*)::integer as sent from email where workspace_id = $1 and type <> 'received'`,
    [stage.attacker.workspaceId],
  );
  return rows[0]?.sent ?? 0;
}

test.each<[name: string, send: (at: number) => Promise<Response>]>([
  [
    'replies over GraphQL',
    () =>
      mutate('replyToEmail', 'ReplyToEmailInput', {
        id: stage.largeId,
        from: stage.attacker.address,
        to: [TO],
        text: 'x',
        includeOriginal: true,
      }),
  ],
  [
    'forwards over MCP',
    () => callTool('forward_email', { email_id: stage.largeId, from: stage.attacker.address, to: [TO] }),
  ],
  [
    'forwards for later',
    () =>
      rest(`/emails/${stage.largeId}/forward`, {
        from: stage.attacker.address,
        to: [TO],
        scheduled_at: 'tomorrow at 9am',
      }),
  ],
  ['drafts with large files', (at) => rest(`/drafts/${draftIds[at]}/send`, {})],
])(
  `${AT_ONCE} %s are each sent once or refused with 503, within 600 MiB, and a refused one succeeds later`,
  async (_name, send) => {
    const before = await countSent();
    await stage.forgetPeak();
    const outcomes = new Map<number, string>();
    const all = Promise.all(
      Array.from({ length: AT_ONCE }, async (_, at) => void outcomes.set(at, await readOutcome(await send(at)))),
    );
    while (outcomes.size < AT_ONCE / 2) expect((await stage.get(stage.other, '/emails')).status).toBe(200);
    await all;
    const sent = [...outcomes.values()].filter((outcome) => outcome === 'sent').length;
    expect([...outcomes.values()].filter((outcome) => outcome !== 'sent' && outcome !== 'refused')).toEqual([]);
    expect(await countSent()).toBe(before + sent);
    await expectBounded(stage);
    const [refused] = [...outcomes].find(([, outcome]) => outcome === 'refused') ?? [];
    if (refused === undefined) return;
    await waitFor(async () => expect(await readOutcome(await send(refused))).toBe('sent'));
    expect(await countSent()).toBe(before + sent + 1);
  },
);

const reply = (text: string) =>
  rest(`/emails/${stage.largeId}/reply`, { from: stage.attacker.address, to: [TO], text, include_original: true });

test('a turn whose work fails is given back', async () => {
  const failed = await Promise.all(Array.from({ length: 5 }, () => reply('y'.repeat(1_000_000))));
  expect(failed.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
  await waitFor(async () => expect((await reply('x')).status).toBe(200));
});

test('replies whose clients have left get no turn, and the next one does not wait for them', async () => {
  const before = await countSent();
  const { apiKey, address, workspaceId } = stage.attacker;
  const [id = ''] = await insertMail(stage.owner, [{ workspaceId, text: `${'x'.repeat(98)}\r\n`.repeat(40_000) }]);
  const body = JSON.stringify({ from: address, to: [TO], text: 'left', include_original: true });
  const head = `POST /api/e2/emails/${id}/reply HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const open = () => {
    const socket = connect(stage.gateway.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(head + body);
    return socket;
  };
  let sockets = Array.from({ length: AT_ONCE }, open);
  await waitFor(async () => {
    // On a busy machine, all may be refused before one is sent.
    sockets = sockets.map((socket) => (socket.bytesRead > 0 ? open() : socket));
    expect(await countSent()).toBeGreaterThan(before);
  });
  for (const socket of sockets) socket.destroy();
  await waitFor(async () => expect((await reply('stays')).status).toBe(200));
  expect(await countSent()).toBeLessThan(before + AT_ONCE / 2);
});
