import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventFilter } from '../../../core/endpoints/endpoint-events.ts';
import { encodeEventCursor } from '../../../core/events/event-cursor.ts';
import { asWorkspace } from '../../../db/connection/transaction.ts';
import { type FeedEvent, listEvents } from '../../../db/queries/events/event-list.ts';
import { createPayloadQueries } from '../../../gateway/graphql/payload-query.ts';
import type { SelectPayload } from '../../../operations/endpoints/payload-queries.ts';
import type { Holdings } from '../../support/rows/holdings.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { makeTwoDomains, type TwoDomains } from '../../support/rows/two-domains.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';

const queries = createPayloadQueries();
const check = (query: string, filter: { domains: string[]; addresses: string[] } | null = null) =>
  queries.check({ query, filter });

const ISSUE = `{
  kind at
  email { id subject from { address } text thread { id messages(last: 3) { edges { node { preview } } } } }
}`;

describe('a payload query', () => {
  const fitting: [string, string][] = [
    ['of the documentation', ISSUE],
    ['with a name and a fragment', 'query Bounce { ...a } fragment a on Event { kind recipient { address } }'],
    [
      'of everything that events are about',
      '{ id cursor delivery { status } endpoint { name } domain { name } lastResponse { code text } data }',
    ],
    [
      'on the types of an interface',
      '{ endpoint { ... on WebhookEndpoint { url } ... on EmailEndpoint { forwardTo } } }',
    ],
  ];
  test.each(fitting)('%s is accepted', async (_name, query) => {
    expect(await check(query)).toEqual([]);
  });

  const bad: [name: string, query: string, message: RegExp, place: [number, number] | null][] = [
    ['that is not GraphQL', '{ kind', /Expected Name/, [1, 7]],
    ['without a selection', '', /Unexpected <EOF>|Expected/, [1, 1]],
    [
      'with an unknown field',
      '{\n  kind\n  email { subjekt }\n}',
      /Cannot query field "subjekt" on type "Email"/,
      [3, 11],
    ],
    ['on the type Query', '{ emails { totalCount } }', /Cannot query field "emails" on type "Event"/, [1, 3]],
    ['with a fragment on another type', '{ ... on Query { emails { totalCount } } }', /Unknown type "Query"/, [1, 10]],
    ['that is a mutation', 'mutation { deleteEmail { id } }', /mutation/, [1, 1]],
    ['that is a subscription', 'subscription { events { kind } }', /subscription/, [1, 1]],
    ['with two operations', 'query A { kind } query B { at }', /is one selection/, [1, 18]],
    [
      'with a variable',
      'query($n: Int) { email { thread { messages(last: $n) { totalCount } } } }',
      /has no variables/,
      [1, 7],
    ],
    ['with introspection', '{ __schema { types { name } } }', /__schema cannot be part of a payload/, [1, 3]],
    [
      'with a secret',
      '{ endpoint { ... on WebhookEndpoint { signingSecrets { secret } } } }',
      /signingSecrets cannot be part of a payload/,
      [1, 39],
    ],
    [
      'with payloads, whose query would run again',
      '{ email { deliveries { edges { node { payload { text } } } } } }',
      /payload cannot be part of a payload/,
      [1, 39],
    ],
    [
      'deeper than 10',
      `{ email { ${'thread { latestMessage { '.repeat(5)} id ${'} } '.repeat(5)} } }`,
      /levels deep, more than 10/,
      null,
    ],
    [
      'that costs too much',
      '{ email { thread { messages(last: 100) { edges { node { thread { messages(last: 100) { totalCount edges { node { id } } } } } } } } } }',
      /costs \d+, more than 5000/,
      null,
    ],
    [
      'with 31 aliases',
      `{ ${Array.from({ length: 31 }, (_, n) => `a${n}: kind`).join(' ')} }`,
      /more than 30 aliases/,
      null,
    ],
    ['with too many tokens', `{ ${'kind '.repeat(2_001)} }`, /tokens/, [1, 9_998]],
    [
      'with a cycle of fragments',
      '{ ...a } fragment a on Event { ...b } fragment b on Event { ...a }',
      /itself/,
      [1, 32],
    ],
  ];
  test.each(bad)('%s is rejected', async (_name, query, message, place) => {
    const [first] = await check(query);
    expect(first?.message).toMatch(message);
    expect(place === null ? null : [first?.line, first?.column]).toEqual(place);
  });

  test('of an endpoint with a filter cannot select fields of the account', async () => {
    const filter = { domains: ['inbox.test'], addresses: [] };
    expect(await check(ISSUE, filter)).toEqual([]);
    expect(await check('{ endpoint { name } }', filter)).toEqual([
      {
        message:
          'The field Endpoint.name cannot be limited to the filter of the endpoint. Remove the field or the filter.',
        line: 1,
        column: 14,
      },
    ]);
  });
});

/** Most of what an event leads to. */
const WIDE = `{
  id kind at cursor data emailId threadId deliveryId domainId
  email {
    id subject text rawUrl from { address } to { address } domain { name } ownAddress { address }
    content { html headers { name value } } attachments { filename downloadUrl } recipients { address attempts { text } }
    thread { id messages(last: 3) { edges { node { id subject text } } } }
  }
  thread { id participants { address } messages(last: 3) { edges { node { subject text } } } }
  recipient { address email { subject } } domain { name } delivery { status attempts { responseBody } email { subject } }
}`;

describe('a payload query runs', () => {
  let gateway: TestGateway;
  let two: TwoDomains;
  let select: SelectPayload;
  let events: FeedEvent[];

  beforeAll(async () => {
    gateway = await openTestGateway();
    two = await makeTwoDomains(gateway);
    select = gateway.payloads.selectPayload;
    const { workspaceId } = two.mine.mailbox;
    events = await asWorkspace(gateway.database, workspaceId, (transaction) =>
      listEvents(transaction, workspaceId, { after: 0, before: null, isInverted: false, limit: 1_000 }),
    );
  });
  afterAll(() => gateway.close());

  const run = async (event: FeedEvent, query: string, filter: EventFilter | null = null) => {
    const selected = await select(two.mine.mailbox.workspaceId, { query, filter }, event, {
      from: new Date('2026-01-01T00:00:00Z'),
      holder: 'ep_1',
    });
    if (selected === null) throw new Error(`The query does not fit: ${JSON.stringify(await check(query, filter))}`);
    return selected;
  };
  const links = { from: new Date(), holder: 'ep_1' };
  const received = async ({ names: [, domain] }: Holdings): Promise<FeedEvent> => {
    const { rows } = await gateway.owner.pool.query(
      `select id, thread_id from email where own_domain = $1 and type = 'received' and raw_id is not null order by id limit 1`,
      [domain],
    );
    const none = { threadId: null, deliveryId: null, endpointId: null, domainId: null, data: {} };
    return { ...none, seq: 1, id: 'evt_1', kind: 'email.received', at: new Date(), emailId: rows[0].id };
  };

  test('for an endpoint without a filter, as the owner of the account', async () => {
    const event = await received(two.theirs);
    const { data, errors } = await run(event, ISSUE);
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      kind: 'EMAIL_RECEIVED',
      at: event.at.toISOString(),
      email: {
        id: event.emailId,
        from: { address: expect.any(String) },
        thread: { messages: { edges: expect.any(Array) } },
      },
    });
    expect(JSON.stringify(data)).not.toContain('__');
  });

  test('with a filter on a domain, without objects of another domain', async () => {
    const marks = [...two.theirs.ids.values()].flat().concat(two.theirs.names);
    const filter = { domains: [two.domain.name], addresses: [] };
    const own = await run(await received(two.mine), WIDE, filter);
    expect(own.data).toMatchObject({ email: { domain: { name: two.domain.name } }, thread: null });
    let shown = 0;
    for (const event of events.filter(({ emailId }) => two.theirs.ids.get('em')?.includes(emailId ?? ''))) {
      const ids = { emailId: null, threadId: null, deliveryId: null, domainId: null, data: null, id: null };
      const { data } = await run(event, WIDE, filter);
      const text = JSON.stringify({ ...data, ...ids });
      for (const mark of marks) expect(text, event.kind).not.toContain(mark);
      expect(data).toMatchObject({ email: null, recipient: null, delivery: null });
      shown++;
    }
    expect(shown).toBeGreaterThan(3);
  });

  test('with a filter on an address, with its mail only', async () => {
    const event = await received(two.mine);
    const { rows } = await gateway.owner.pool.query('select own_address from email where id = $1', [event.emailId]);
    const at = (addresses: string[]) => run(event, '{ email { id } }', { domains: [], addresses });
    expect((await at([rows[0].own_address])).data).toEqual({ email: { id: event.emailId } });
    expect((await at([`not-${rows[0].own_address}`])).data).toEqual({ email: null });
  });

  test('so that links to parts of emails work without a key', async () => {
    const { data } = await run(await received(two.mine), '{ email { rawUrl } }');
    const { rawUrl } = data['email'] as { rawUrl: string };
    expect(rawUrl).toMatch(/\/raw\?user=.*&for=ep_1&expires=1767830400&signature=/);
  });

  test('for a received email, whose event is found in the feed by its time', async () => {
    const { mailbox } = two.mine;
    const [{ id, created_at: receivedAt }] = (
      await gateway.owner.pool.query(`select id, created_at from email where own_domain = $1 limit 1`, [
        two.domain.name,
      ])
    ).rows;
    const subject = { emailId: id as string, receivedAt: receivedAt as Date };
    const query = { query: '{ kind id }', filter: null };
    const without = await select(mailbox.workspaceId, query, subject, links);
    expect(without).toMatchObject({ event: { id: id.replace('em_', 'evt_') }, data: { kind: 'EMAIL_RECEIVED' } });
    await gateway.owner.pool.query(
      `select append_events($1, (select jsonb_agg(jsonb_build_object('id', 'evt_' || n, 'kind', 'email.received', 'emailId',
         case when n = 300 then $2 else 'em_' || n end)) from generate_series(1, 600) n))`,
      [mailbox.workspaceId, id],
    );
    expect(await select(mailbox.workspaceId, query, subject, links)).toMatchObject({ event: { id: 'evt_300' } });
  });

  test('of a preview to show the body or the errors', async () => {
    const { mailbox } = two.mine;
    const PREVIEW = `query($query: String!, $cursor: String!, $filter: EventFilterInput, $most: Int) {
      previewPayload(query: $query, cursor: $cursor, filter: $filter, maxPayloadOctets: $most) {
        data truncated sizeBytes errors { message line column }
      }
    }`;
    const preview = async (variables: Record<string, unknown>) =>
      (await gateway.graphql(mailbox.apiKey, PREVIEW, variables)).json();
    const event = events.find(({ emailId }) => emailId !== null && two.mine.ids.get('em')?.includes(emailId));
    const cursor = encodeEventCursor(mailbox.workspaceId, event?.seq ?? 0);
    const { data } = await preview({ query: '{ id email { id } }', cursor });
    expect(data.previewPayload).toEqual({
      data: { id: event?.id, email: { id: event?.emailId } },
      truncated: [],
      sizeBytes: expect.any(Number),
      errors: [],
    });
    const other = { domains: [two.theirs.names[1]] };
    expect((await preview({ query: '{ email { id } }', cursor, filter: other })).data.previewPayload.data).toEqual({
      email: null,
    });
    expect((await preview({ query: '{ nothing }', cursor })).data.previewPayload).toEqual({
      data: null,
      truncated: [],
      sizeBytes: 0,
      errors: [{ message: 'Cannot query field "nothing" on type "Event".', line: 1, column: 3 }],
    });
    const invalid = { extensions: { code: 'validation_error' } };
    expect((await preview({ query: '{ id }', cursor: 'x' })).errors).toMatchObject([invalid]);
    expect((await preview({ query: '{ id }', cursor, most: -1 })).errors).toMatchObject([invalid]);
    expect((await preview({ query: '', cursor })).errors).toMatchObject([invalid]);
    expect((await preview({ query: '{ id }', cursor, filter: {} })).errors).toMatchObject([invalid]);
  });

  test('for mail of megabytes, whose texts are sent, or linked where they exceed the limit', async () => {
    const { workspaceId, apiKey } = two.mine.mailbox;
    const text = 'é'.repeat(400_000);
    const [emailId] = await insertMail(gateway.actor, [{ workspaceId, text, raw: Buffer.from('x') }]);
    const { rows } = await gateway.owner.pool.query<{ seq: number }>(
      `select append_events($1, jsonb_build_array(jsonb_build_object('id', 'evt_large', 'kind', 'email.received', 'emailId', $2::text))) as seq`,
      [workspaceId, emailId],
    );
    const PREVIEW = `query($cursor: String!, $most: Int) {
      previewPayload(query: "{ email { text again: text } }", cursor: $cursor, maxPayloadOctets: $most) { data truncated sizeBytes }
    }`;
    const cursor = encodeEventCursor(workspaceId, rows[0]?.seq ?? 0);
    const preview = async (most: number) =>
      (await gateway.graphql(apiKey, PREVIEW, { cursor, most })).json().data.previewPayload;
    expect(await preview(4_000_000)).toMatchObject({ data: { email: { text, again: text } }, truncated: [] });
    expect(await preview(1_000_000)).toMatchObject({
      data: { email: { text: expect.stringContaining('/raw?'), again: text } },
      truncated: ['email.text'],
    });
  });

  test('not at all when it does not fit the schema', async () => {
    const query = { query: '{ email { gone } }', filter: null };
    expect(await select(two.mine.mailbox.workspaceId, query, await received(two.mine), links)).toBeNull();
  });
});
