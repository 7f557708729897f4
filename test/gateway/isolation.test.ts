import type { LightMyRequestResponse } from 'fastify';
import { isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseRole } from '../../db/database.ts';
import { schema } from '../../schema/graphql/schema.ts';
import { openTestGateway, type TestGateway } from '../support/gateway.ts';
import { insertMail, insertThread } from '../support/mail-rows.ts';
import type { TestMailbox } from '../support/routing-rows.ts';

// Each wall for itself: row-level security with the conditions of every statement, and the conditions alone.
describe.each<DatabaseRole>(['postroom_gateway', 'postroom_actor'])('as %s', (role) => {
  let gateway: TestGateway;
  let mine: TestMailbox;
  let theirs: TestMailbox;
  let foreign: Record<string, string>;

  beforeAll(async () => {
    gateway = await openTestGateway({ role });
    mine = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    theirs = await gateway.mailbox({ endpointUrl: 'https://hooks.example.com/' });
    const { threadId, emailIds } = await insertThread(gateway.actor, {
      userId: theirs.userId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress: theirs.address,
    });
    const [withFile] = await insertMail(gateway.actor, [
      {
        userId: theirs.userId,
        raw: Buffer.from('content'),
        attachments: [
          {
            index: 0,
            filename: 'a.txt',
            contentType: 'text/plain',
            size: 7,
            contentId: null,
            contentDisposition: 'attachment',
            start: 0,
            length: 7,
            transferEncoding: '7bit',
          },
        ],
      },
    ]);
    await gateway.actor.pool.query('insert into thread_alias (user_id, alias_id, thread_id) values ($1, $2, $3)', [
      theirs.userId,
      'th_foreign_alias',
      threadId,
    ]);
    foreign = {
      email: emailIds[0] ?? '',
      withFile: withFile ?? '',
      thread: threadId,
      alias: 'th_foreign_alias',
      domain: theirs.domainId,
      address: theirs.addressId,
      endpoint: theirs.endpointId ?? '',
    };
  });
  afterAll(() => gateway.close());

  /** Ids that are not the caller's: of the other user, well formed but of nobody, and malformed. */
  const strangers = (...own: string[]) => [
    ...own,
    'em_00000000000070008000000000000000',
    'nonsense',
    '%00',
    '%ff%fe',
    "';drop table email;--",
    'x'.repeat(300),
    '*',
    '>',
  ];

  const everyone = () => Object.values(foreign);

  describe('every route of the route table answers foreign, unknown and malformed ids alike', () => {
    // Each route: how to call it with an id in its path; null when its path has none.
    const swept: Record<string, ((id: string) => Promise<LightMyRequestResponse>) | null> = {
      'GET /api/e2/emails': null,
      'GET /api/e2/emails/{id}': (id) => gateway.call(mine.apiKey, 'GET', `/emails/${id}`),
      'PATCH /api/e2/emails/{id}': (id) => gateway.call(mine.apiKey, 'PATCH', `/emails/${id}`, { is_read: true }),
      'GET /api/e2/mail/threads': null,
      'GET /api/e2/mail/threads/{id}': (id) => gateway.call(mine.apiKey, 'GET', `/mail/threads/${id}`),
      'GET /api/e2/attachments/{id}/{filename}': (id) => gateway.call(mine.apiKey, 'GET', `/attachments/${id}/a.txt`),
      'GET /api/e2/attachments/{id}/parts/{index}': (id) =>
        gateway.call(mine.apiKey, 'GET', `/attachments/${id}/parts/0`),
      'GET /api/e2/domains': null,
      'POST /api/e2/domains': null,
      'GET /api/e2/domains/{id}': (id) => gateway.call(mine.apiKey, 'GET', `/domains/${id}`),
      'GET /api/e2/email-addresses': null,
      'POST /api/e2/email-addresses': null,
      'GET /api/e2/email-addresses/{id}': (id) => gateway.call(mine.apiKey, 'GET', `/email-addresses/${id}`),
      'GET /api/e2/endpoints': null,
      'POST /api/e2/endpoints': null,
      'GET /api/e2/endpoints/{id}': (id) => gateway.call(mine.apiKey, 'GET', `/endpoints/${id}`),
    };
    /** Routes outside of the OpenAPI document; they know no user's resource. */
    const open = ['/health', '/ready', '/api/v1', '/api/v1/*', '/api/e2/openapi.json', '/graphql'];

    test('no route is left out', async () => {
      await gateway.app.ready();
      const { paths = {} } = gateway.app.swagger() as { paths?: Record<string, object> };
      const routes = Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
      );
      expect(routes.toSorted()).toEqual(Object.keys(swept).toSorted());
      const table = gateway.app.printRoutes({ commonPrefix: false });
      const served = [...table.matchAll(/(\S+) \(([A-Z, ]+)\)/g)].length;
      // The methods that Fastify adds for HEAD stand on the line of their GET.
      expect(served).toBe(Object.keys(paths).length + open.length);
    });

    test.each(Object.entries(swept).filter(([, call]) => call !== null))('%s', async (_route, call) => {
      if (call === null) return;
      const answers = await Promise.all(
        strangers(...everyone()).map(async (id) => {
          const { statusCode, body, headers } = await call(encodeURI(id).replaceAll('%25', '%'));
          return JSON.stringify([statusCode, body, headers['content-type'], Object.keys(headers).toSorted()]);
        }),
      );
      expect(new Set(answers).size, answers.join('\n')).toBe(1);
      expect(answers[0]).toMatch(/^\[404,/);
    });

    test('nothing of the other user was changed by it', async () => {
      const { rows } = await gateway.actor.pool.query(
        'select count(*) filter (where is_read) as read, count(*) as all from email where user_id = $1',
        [theirs.userId],
      );
      expect(rows).toEqual([{ read: 0, all: 2 }]);
    });
  });

  describe('lists', () => {
    test.each(['/emails', '/mail/threads', '/domains', '/email-addresses', '/endpoints'])(
      '%s shows nothing of the other user, whatever is asked for',
      async (path) => {
        const secrets = [...everyone(), theirs.address, theirs.userId];
        const filters = ['domain', 'address', 'search', 'domainId', 'status', 'cursor'];
        for (const filter of filters)
          for (const value of secrets) {
            const query = `${filter}=${encodeURIComponent(value)}`;
            const response = await gateway.call(mine.apiKey, 'GET', `${path}?${query}`);
            const shown = response.body.replaceAll(JSON.stringify(value).slice(1, -1), '');
            for (const secret of secrets) expect(shown, query).not.toContain(secret);
          }
      },
    );

    test('a foreign cursor is answered like an unknown one', async () => {
      const answers = await Promise.all(
        strangers(...everyone())
          .filter((id) => !id.includes('%'))
          .map((id) => gateway.call(mine.apiKey, 'GET', `/mail/threads?cursor=${encodeURIComponent(id)}`)),
      );
      expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
    });
  });

  describe('ids in bodies', () => {
    test('a foreign domain or endpoint is answered like an unknown one', async () => {
      const post = (body: object) => gateway.call(mine.apiKey, 'POST', '/email-addresses', body);
      const address = `new@${mine.address.split('@')[1]}`;
      const domains = await Promise.all(
        strangers(...everyone()).map((domainId) => post({ address: `new@${theirs.address.split('@')[1]}`, domainId })),
      );
      const endpoints = await Promise.all(
        strangers(...everyone()).map((endpointId) => post({ address, domainId: mine.domainId, endpointId })),
      );
      for (const answers of [domains, endpoints]) {
        expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
        expect(answers[0]?.statusCode).toBe(404);
      }
    });
  });

  test('a foreign id takes no longer than an unknown one', async () => {
    const median = async (id: string) => {
      const times: number[] = [];
      for (let n = 0; n < 60; n++) {
        const started = performance.now();
        await gateway.call(mine.apiKey, 'GET', `/emails/${id}`);
        times.push(performance.now() - started);
      }
      return times.toSorted((a, b) => a - b)[30] ?? 0;
    };
    await median(foreign['email'] ?? '');
    const difference = (await median(foreign['email'] ?? '')) - (await median('em_00000000000070008000000000000000'));
    expect(Math.abs(difference)).toBeLessThan(5);
  });

  describe('GraphQL', () => {
    const nodeTypes = Object.values(schema.getTypeMap())
      .filter(isObjectType)
      .filter((type) => type.getInterfaces().some((each) => each.name === 'Node'))
      .map((type) => type.name);
    const ids: Record<string, { mine: () => string; theirs: () => string }> = {
      Email: { mine: () => own['email'] ?? '', theirs: () => foreign['email'] ?? '' },
      Thread: { mine: () => own['thread'] ?? '', theirs: () => foreign['thread'] ?? '' },
      Domain: { mine: () => mine.domainId, theirs: () => theirs.domainId },
      EmailAddress: { mine: () => mine.addressId, theirs: () => theirs.addressId },
      Endpoint: { mine: () => mine.endpointId ?? '', theirs: () => theirs.endpointId ?? '' },
    };
    const own: Record<string, string> = {};

    beforeAll(async () => {
      const { threadId, emailIds } = await insertThread(gateway.actor, {
        userId: mine.userId,
        count: 1,
        lastMessageAt: new Date(),
      });
      own['thread'] = threadId;
      own['email'] = emailIds[0] ?? '';
    });

    test('no node type is left out', () => {
      expect(nodeTypes.toSorted()).toEqual(Object.keys(ids).toSorted());
    });

    test.each(nodeTypes)('node and nodes give own %s and nothing of another user’s', async (type) => {
      const query = `query($id: ID!, $ids: [ID!]!) { node(id: $id) { __typename id } nodes(ids: $ids) { __typename id } }`;
      const of = ids[type];
      if (of === undefined) throw new Error('unreachable');
      const own_ = await gateway.graphql(mine.apiKey, query, { id: of.mine(), ids: [of.mine(), of.theirs()] });
      expect(own_.json()).toEqual({
        data: { node: { __typename: type, id: of.mine() }, nodes: [{ __typename: type, id: of.mine() }, null] },
      });
      const answers = await Promise.all(
        strangers(of.theirs()).map((id) => gateway.graphql(mine.apiKey, query, { id, ids: [id] })),
      );
      expect(new Set(answers.map((answer) => answer.body))).toEqual(new Set(['{"data":{"node":null,"nodes":[null]}}']));
    });

    test('every field of Query that takes an id gives null for a foreign one', async () => {
      const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter((field) =>
        field.args.some((argument) => argument.name === 'id'),
      );
      expect(fields.map((field) => field.name)).toEqual([
        'domain',
        'email',
        'emailAddress',
        'endpoint',
        'node',
        'thread',
      ]);
      for (const { name } of fields)
        for (const id of strangers(...everyone())) {
          const answer = await gateway.graphql(mine.apiKey, `query($id: ID!) { ${name}(id: $id) { id } }`, { id });
          expect(answer.json()).toEqual({ data: { [name]: null } });
        }
    });

    test('connections, mutations and cursors reach nothing of another user’s', async () => {
      const filter = { domain: theirs.domainId, address: theirs.addressId, search: 'subject' };
      const lists = await gateway.graphql(
        mine.apiKey,
        `query($e: EmailFilter, $t: ThreadFilter) { emails(filter: $e) { totalCount edges { node { id } } } threads(filter: $t) { totalCount edges { node { id } } } }`,
        { e: filter, t: filter },
      );
      expect(lists.json().data).toEqual({
        emails: { totalCount: 0, edges: [] },
        threads: { totalCount: 0, edges: [] },
      });

      const update = `mutation($id: ID!) { updateEmail(input: {id: $id, isRead: true}) { id } }`;
      const refused = await Promise.all(
        strangers(...everyone()).map((id) => gateway.graphql(mine.apiKey, update, { id })),
      );
      expect(new Set(refused.map((answer) => answer.body)).size).toBe(1);
      expect(refused[0]?.json().errors[0].extensions.code).toBe('not_found');

      const page = `query($after: String) { emails(after: $after) { edges { node { id } } } }`;
      const foreignCursor = (await gateway.graphql(theirs.apiKey, '{ emails(first: 1) { edges { cursor } } }')).json()
        .data.emails.edges[0].cursor;
      const answer = await gateway.graphql(mine.apiKey, page, { after: foreignCursor });
      for (const secret of everyone()) expect(answer.body).not.toContain(secret);
    });
  });
});
