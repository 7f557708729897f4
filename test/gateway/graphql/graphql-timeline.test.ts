import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Actor } from '../../../actors/actor.ts';
import { SECRET_KEY, startDelivering, untilDeliveries } from '../../actors/delivery/delivering.ts';
import { addRule, untilRouted } from '../../actors/delivery/guarding.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { insertReceivedMail } from '../../support/rows/received-mail.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type GraphClient, graphClient } from '../../support/servers/graph-client.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/servers/webhook-receiver.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let receiver: WebhookReceiver;
let actor: Actor | null = null;
let response: number;
let box: TestMailbox;
let graph: GraphClient;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { secretKey: SECRET_KEY } });
  receiver = await startWebhookReceiver({ script: () => ({ status: response, body: 'so it is' }) });
});
beforeEach(async () => {
  response = 200;
  box = await gateway.mailbox({ endpointUrl: receiver.url, endpointConfig: { retryAttempts: 0 } });
  graph = graphClient(gateway, box.apiKey);
});
afterEach(async () => {
  await actor?.stop();
  actor = null;
});
afterAll(async () => {
  await receiver.stop();
  await gateway.close();
});

async function start(): Promise<void> {
  actor = await startDelivering(gateway.actor, gateway.owner, { bus: gateway.bus, publicUrl: 'http://postroom.test' });
}

const run = (text: string, values: unknown[] = []) => gateway.actor.pool.query(text, values);

interface Entry {
  kind: string;
  at: string;
  title: string;
  detail: string | null;
  durationMs: number | null;
  isFailure: boolean;
  node: { __typename: string; id: string } | null;
}
const TIMELINE = 'timeline { isCut entries { kind at title detail durationMs isFailure node { __typename id } } }';

async function timeline(id: string, client = graph): Promise<{ isCut: boolean; entries: Entry[] }> {
  const { email } = await client.ask(`query($id: ID!) { email(id: $id) { ${TIMELINE} } }`, { id });
  return email.timeline;
}

/** Received mail as SMTP and the parser leave it. */
async function receive({ dmarc = 'pass', parseError = null as string | null } = {}): Promise<string> {
  const [mail] = await insertReceivedMail(gateway.actor, box);
  const emailId = mail?.emailId ?? '';
  // So that what is made up here lies before what really happens.
  await run(`update email set created_at = created_at - interval '1 s' where id = $1`, [emailId]);
  await run(
    `insert into reception (workspace_id, email_id, raw_id, reverse_path, recipient, own_address, domain_id, remote_address, helo, is_tls,
       trace_fields, accepted_at, parsed_at)
     select workspace_id, id, raw_id, 'ann@sender.test', own_address, own_address, domain_id, '192.0.2.7', 'mx.sender.test', true, '', created_at,
       created_at + interval '30 ms' from email where id = $1`,
    [emailId],
  );
  await run(`update route set threaded_at = created_at - interval '950 ms' where email_id = $1`, [emailId]);
  await run(`update email set thread_reason = 'new' where id = $1`, [emailId]);
  await run(`update email_content set authentication = $2, parse_error = $3 where email_id = $1`, [
    emailId,
    JSON.stringify({
      spf: { result: 'pass', domain: 'sender.test' },
      dkim: [{ result: 'pass', domain: 'sender.test', selector: 's1' }],
      dmarc: { result: dmarc, domain: 'sender.test', policy: 'reject' },
      arc: { result: 'none' },
      hasSeveralFromFields: false,
    }),
    parseError,
  ]);
  return emailId;
}

describe('the timeline of a received email', () => {
  test('shows that its client sent it again', async () => {
    const emailId = await receive();
    await run(`update reception set repeat_count = 2, repeated_at = accepted_at + interval '5 s' where email_id = $1`, [
      emailId,
    ]);
    const { entries } = await timeline(emailId);
    expect(entries.find(({ kind }) => kind === 'REPEATED')).toMatchObject({
      title: 'Sent again 2 times, not stored again',
      detail: expect.stringMatching(/^192\.0\.2\.7 repeated the message.*“accepted before”\.$/),
      isFailure: false,
    });
  });

  test('goes from the SMTP session to the responses of the webhook, and on to the actions of people', async () => {
    const emailId = await receive();
    response = 500;
    await start();
    gateway.bus.wake('delivery.route.wake', { workspaceId: box.workspaceId, emailIds: [emailId] });
    const [first] = await untilDeliveries(gateway.actor, box.endpointId, ([one]) => one?.status === 'failed');
    response = 200;
    const again = await graph.mutate('retryEmail', { id: emailId, deliveryId: first?.id }, 'deliveries { id }');
    await untilDeliveries(gateway.actor, box.endpointId, (all) => all[1]?.status === 'success');
    await graph.mutate('updateEmail', { id: emailId, isRead: true, isArchived: true });
    const { entries, isCut } = await timeline(emailId);
    expect(isCut).toBe(false);
    const [second] = again.deliveries;
    expect(entries.map(({ kind, title, isFailure, node }) => [kind, title, isFailure, node?.id ?? null])).toEqual([
      ['ACCEPTED', 'Accepted by SMTP', false, null],
      ['AUTHENTICATED', 'DMARC pass', false, null],
      ['PARSED', 'Parsed', false, null],
      ['THREADED', 'Threaded', false, null],
      ['ROUTED', 'Routed to endpoint “test”', false, box.endpointId],
      ['DELIVERY_ATTEMPT', 'Webhook to endpoint “test”, attempt 1: failed, status 500', true, first?.id],
      ['DELIVERY_REQUESTED', 'Delivered again on request: to endpoint “test”', false, second.id],
      ['DELIVERY_ATTEMPT', 'Webhook to endpoint “test”, attempt 1: status 200', false, second.id],
      ['READ', 'Marked as read', false, null],
      ['ARCHIVED', 'Archived', false, null],
    ]);
    expect(entries[0]?.detail).toBe(
      `MAIL FROM ann@sender.test, RCPT TO ${box.address}. Received from 192.0.2.7, HELO mx.sender.test, over TLS.`,
    );
    expect(entries[1]?.detail).toBe(
      'SPF pass (sender.test); DKIM pass (sender.test); DMARC pass (sender.test), domain policy reject.',
    );
    expect(entries[2]?.durationMs).toBe(30);
    expect(entries[3]).toMatchObject({ durationMs: 20, detail: 'It started a thread.' });
    expect(entries[5]?.durationMs).toEqual(expect.any(Number));
    const rest = (await gateway.call(box.apiKey, 'GET', `/emails/${emailId}/timeline`)).json();
    expect(rest).toEqual({
      object: 'timeline',
      email_id: emailId,
      is_cut: false,
      entries: entries.map(({ kind, durationMs, isFailure, node, ...same }) => ({
        ...same,
        kind: kind.toLowerCase().replaceAll('_', '-'),
        duration_ms: durationMs,
        is_failure: isFailure,
        // The thread of this mail is made up; GraphQL looks for it.
        about_id: kind === 'THREADED' ? 'th_test' : (node?.id ?? null),
      })),
    });
    const instants = entries.map(({ at }) => Date.parse(at));
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
  });

  test('shows failures: the check of its sender, its parsing, and the rule that held it', async () => {
    const emailId = await receive({ dmarc: 'fail', parseError: 'too many parts' });
    const rule = await addRule(gateway.actor, box, { action: 'block', subject: 'hello' });
    await start();
    await untilRouted(gateway.actor, [emailId]);
    await graph.mutate('releaseEmail', { id: emailId });
    const { entries } = await timeline(emailId);
    const of = (kind: string) => entries.find((one) => one.kind === kind);
    expect(of('AUTHENTICATED')).toMatchObject({ title: 'DMARC failed', isFailure: true });
    expect(of('PARSED')).toMatchObject({ isFailure: true, detail: 'The original is stored: too many parts' });
    expect(of('HELD')).toMatchObject({
      title: 'Blocked by guard rule “rule hello”',
      detail: expect.stringContaining('subject “hello”'),
      node: { __typename: 'GuardRule', id: rule },
    });
    expect(of('RELEASED')?.title).toBe('Released');
    expect(of('ROUTED')).toBeUndefined();
  });

  test('has only facts of rows, and at most 500 entries, the newest', async () => {
    const [bare = '', busy = ''] = await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId },
      { workspaceId: box.workspaceId },
    ]);
    expect(await timeline(bare)).toMatchObject({ isCut: false, entries: [{ kind: 'ACCEPTED', durationMs: null }] });
    await run(
      `insert into event (workspace_id, seq, id, kind, at, email_id)
       select $1, n, 'evt_t' || n, case when n % 2 = 0 then 'email.read' else 'email.unread' end, now() + n * interval '1 s', $2
       from generate_series(1, 600) n`,
      [box.workspaceId, busy],
    );
    const { entries, isCut } = await timeline(busy);
    expect(isCut).toBe(true);
    expect(entries).toHaveLength(500);
    expect(entries.at(-1)?.kind).toBe('READ');
    expect(entries[0]?.kind).not.toBe('ACCEPTED');
    const rest = (await gateway.call(box.apiKey, 'GET', `/emails/${busy}/timeline`)).json();
    expect([rest.is_cut, rest.entries.length]).toEqual([true, 500]);
  });
});

describe('the timeline of a sent email', () => {
  test('goes from the request to the reply of each server, and to the reports that came back', async () => {
    const at = (minute: number) => new Date(Date.UTC(2026, 9, 1, 8, minute));
    const { workspaceId } = box;
    const [emailId = ''] = await insertMail(gateway.actor, [{ workspaceId, type: 'sent', createdAt: at(0) }]);
    await run(`update email set released_at = $2, timezone = 'UTC', scheduled_at = $2 where id = $1`, [
      emailId,
      at(10),
    ]);
    const event = (seq: number, kind: string, minute: number) =>
      run(`insert into event (workspace_id, seq, id, kind, at, email_id, data) values ($1, $2, $3, $4, $5, $6, $7)`, [
        workspaceId,
        seq,
        `evt_${workspaceId}${seq}`,
        kind,
        at(minute),
        emailId,
        JSON.stringify({ scheduledAt: at(10).toISOString() }),
      ]);
    await event(1, 'email.scheduled', 0);
    await event(2, 'email.paused', 2);
    await event(3, 'email.resumed', 3);
    const recipient = (id: string, status: string, settled: number | null, complained: number | null) =>
      run(
        `insert into recipient (workspace_id, id, email_id, address, domain, status, settled_at, complained_at, last_status, last_text, created_at)
         values ($1, $2, $3, $2 || '@b.test', 'b.test', $4, $5, $6, '5.1.1', 'nobody here', now())`,
        [
          workspaceId,
          `rcp_${id}${workspaceId}`,
          emailId,
          status,
          settled === null ? null : at(settled),
          complained === null ? null : at(complained),
        ],
      );
    await recipient('a', 'bounced', 30, null);
    await recipient('b', 'failed', 50, null);
    await recipient('c', 'delivered', 12, 40);
    const attempt = (id: string, number: number, minute: number, outcome: string, code: number) =>
      run(
        `insert into sending_attempt (workspace_id, recipient_id, number, started_at, finished_at, outcome, host, remote_address, is_tls, code, text)
         values ($1, $2, $3, $4::timestamptz, $4::timestamptz + interval '120 ms', $5, 'mx.b.test', '192.0.2.9', true, $6, 'so it is')`,
        [workspaceId, `rcp_${id}${workspaceId}`, number, at(minute), outcome, code],
      );
    await attempt('a', 1, 11, 'delivered', 250);
    await attempt('b', 1, 13, 'deferred', 451);
    await attempt('c', 1, 12, 'delivered', 250);
    const { entries } = await timeline(emailId);
    const address = (id: string) => `rcp_${id}${workspaceId}@b.test`;
    expect(entries.map(({ kind, title }) => [kind, title])).toEqual([
      ['CREATED', 'Written and scheduled'],
      ['PAUSED', 'Paused'],
      ['RESUMED', 'Resumed'],
      ['QUEUED', 'Due: queued for sending'],
      ['SENDING_ATTEMPT', `SMTP to ${address('a')}, attempt 1: delivered`],
      ['SENDING_ATTEMPT', `SMTP to ${address('c')}, attempt 1: delivered`],
      ['SENDING_ATTEMPT', `SMTP to ${address('b')}, attempt 1: deferred, will be retried`],
      ['BOUNCED', `Bounce report for ${address('a')}: not delivered`],
      ['COMPLAINED', `${address('c')} reported it as spam`],
      ['GIVEN_UP', `Given up for ${address('b')}`],
    ]);
    expect(entries[4]).toMatchObject({
      detail: 'mx.b.test [192.0.2.9], over TLS: 250 so it is',
      durationMs: 120,
      isFailure: false,
      node: { __typename: 'Recipient', id: `rcp_a${workspaceId}` },
    });
    expect(entries[7]).toMatchObject({ detail: '5.1.1 nobody here', isFailure: true });
  });
});

test('the timelines of 50 emails take as many statements as that of one, and another user finds none', async () => {
  const ids = (await insertReceivedMail(gateway.actor, box, { count: 50 })).map(({ emailId }) => emailId);
  await run(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, status, created_at, cause, last_attempt)
     select $1, 'dlv_' || id, id, $2, 'webhook', 1, 'success', now(), 'replay',
       '{"number": 1, "started_at": "2026-11-01T00:00:00Z", "duration_ms": 5, "outcome": "success", "request_headers": {}}'
     from unnest($3::text[]) id`,
    [box.workspaceId, box.endpointId, ids],
  );
  const query = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Email { timeline { entries { kind title } } } } }`;
  await graph.ask('{ viewer { id } }');
  const one = await countStatements(() => graph.ask(query, { ids: ids.slice(0, 1) }));
  const fifty = await countStatements(() => graph.ask(query, { ids }));
  expect(fifty.response.nodes).toHaveLength(50);
  for (const node of fifty.response.nodes)
    expect(node.timeline.entries.map(({ kind }: Entry) => kind).toSorted()).toEqual([
      'ACCEPTED',
      'DELIVERY_ATTEMPT',
      'DELIVERY_REQUESTED',
      'THREADED',
    ]);
  expect(fifty.statements).toBe(one.statements);
  const stranger = graphClient(gateway, (await gateway.mailbox()).apiKey);
  expect(await stranger.ask(query, { ids: ids.slice(0, 1) })).toEqual({ nodes: [null] });
  const { apiKey } = await gateway.mailbox();
  for (const id of [ids[0], 'em_unknown']) {
    const response = await gateway.call(apiKey, 'GET', `/emails/${id}/timeline`);
    expect([response.statusCode, response.json().message]).toEqual([404, 'Email not found']);
  }
});
