import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DatabaseRole } from '../../../db/connection/database.ts';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { recordStatements } from '../../support/statements.ts';

// What no sweep of the route table (isolation-sweep.attack.ts) shows. Each wall for itself: row-level security with the conditions of every statement, and the conditions alone.
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
      workspaceId: theirs.workspaceId,
      count: 1,
      lastMessageAt: new Date(),
      ownAddress: theirs.address,
    });
    const [withFile] = await insertMail(gateway.actor, [
      {
        workspaceId: theirs.workspaceId,
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
    await gateway.actor.pool.query('insert into thread_alias (workspace_id, alias_id, thread_id) values ($1, $2, $3)', [
      theirs.workspaceId,
      'th_foreign_alias',
      threadId,
    ]);
    await gateway.actor.pool.query(
      `insert into suppression (workspace_id, id, address, reason, created_at)
       values ($1, 'sup_foreign', 'foreign@elsewhere.test', 'bounce', now()), ($2, 'sup_own', 'own@elsewhere.test', 'bounce', now())`,
      [theirs.workspaceId, mine.workspaceId],
    );
    foreign = {
      suppression: 'sup_foreign',
      suppressed: 'foreign@elsewhere.test',
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

  /** IDs that do not belong to the caller: of the other user, unknown, and malformed. */
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

  test('a domain under a verified domain of another user inherits nothing', async () => {
    const response = await gateway.call(mine.apiKey, 'POST', '/domains', {
      domain: `sub.${theirs.address.split('@')[1]}`,
    });
    expect(response.json()).toMatchObject({ status: 'pending', inheritsFromParent: false, canReceiveEmails: false });
  });

  test.each<[string, () => string]>([
    ['/emails', () => foreign['email'] ?? ''],
    ['/mail/threads', () => foreign['thread'] ?? ''],
    ['/domains', () => theirs.domainId],
    ['/endpoints', () => theirs.endpointId ?? ''],
  ])(
    'at %s a foreign ID takes the same statements as an unknown one, so that time reveals nothing',
    async (path, foreignId) => {
      const id = foreignId();
      const measureCost = async (each: string) => {
        const { response, texts } = await recordStatements(() => gateway.call(mine.apiKey, 'GET', `${path}/${each}`));
        expect(response.statusCode).toBe(404);
        return texts;
      };
      const unknown = await measureCost(`${id.split('_')[0]}_00000000000070008000000000000000`);
      expect(unknown.some((text) => text.includes('select'))).toBe(true);
      expect(await measureCost(id)).toEqual(unknown);
    },
  );

  describe('GraphQL', () => {
    test('connections, mutations and cursors reach no object of another user', async () => {
      const filter = { domain: theirs.domainId, address: theirs.addressId };
      const lists = await gateway.graphql(
        mine.apiKey,
        `query($e: EmailFilter, $t: ThreadFilter) { emails(filter: $e) { totalCount edges { node { id } } } threads(filter: $t) { totalCount edges { node { id } } } }`,
        { e: { ...filter, contains: 'subject' }, t: { ...filter, search: 'subject' } },
      );
      expect(lists.json().data).toEqual({
        emails: { totalCount: 0, edges: [] },
        threads: { totalCount: 0, edges: [] },
      });

      const update = `mutation($id: ID!) { updateEmail(input: {id: $id, isRead: true}) { __typename ... on Error { message } } }`;
      const refused = await Promise.all(
        strangers(...everyone()).map((id) => gateway.graphql(mine.apiKey, update, { id })),
      );
      expect(new Set(refused.map((response) => response.body)).size).toBe(1);
      expect(refused[0]?.json().data.updateEmail.__typename).toBe('NotFound');

      const page = `query($after: String) { emails(after: $after) { edges { node { id } } } }`;
      const foreignCursor = (await gateway.graphql(theirs.apiKey, '{ emails(first: 1) { edges { cursor } } }')).json()
        .data.emails.edges[0].cursor;
      const response = await gateway.graphql(mine.apiKey, page, { after: foreignCursor });
      for (const secret of everyone()) expect(response.body).not.toContain(secret);
    });
  });

  describe('rows of another user with the same IDs', () => {
    let twin: string;
    const paths: string[] = [];

    beforeAll(async () => {
      const box = await gateway.mailbox({
        endpointUrl: 'https://hooks.example.com/',
        isCatchAllEnabled: true,
        domain: 'twins.test',
      });
      twin = box.apiKey;
      const { threadId, emailIds } = await insertThread(gateway.actor, {
        workspaceId: box.workspaceId,
        count: 3,
        lastMessageAt: new Date(Date.now() - 100 * 60_000),
        ownAddress: box.address,
        participants: ['ada@elsewhere.test', box.address],
        text: 'mine',
      });
      const { pool } = gateway.actor;
      await pool.query(
        `insert into thread_alias (workspace_id, alias_id, thread_id) values ($1, 'th_twin_alias', $2)`,
        [box.workspaceId, threadId],
      );
      await pool.query('insert into endpoint_stat (workspace_id, endpoint_id, total) values ($1, $2, 1)', [
        box.workspaceId,
        box.endpointId,
      ]);
      await pool.query(
        `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, created_at)
         values ($1, 'dlv_twin', $2, $3, 'webhook', 4, now())`,
        [box.workspaceId, emailIds[0], box.endpointId],
      );
      await pool.query(
        `insert into suppression (workspace_id, id, address, reason, created_at) values ($1, 'sup_twin', 'gone@x.test', 'bounce', now())`,
        [box.workspaceId],
      );
      const marks: Record<string, string[]> = {
        domain: ['name'],
        endpoint: ['name'],
        endpoint_stat: [],
        email_address: ['address'],
        email: ['subject', 'preview', 'from_text', 'own_domain', 'own_address'],
        email_content: ['text_body'],
        email_search: ['text'],
        email_counter: [],
        thread: ['normalized_subject'],
        thread_alias: [],
        delivery: ['response_data'],
        suppression: ['detail'],
      };
      // The twin's rows come last, so that code that takes the last of two rows takes the wrong one.
      for (const [table, columns] of Object.entries(marks)) {
        const marked = columns.map((column) => `'${column}', to_jsonb(coalesce(r->>'${column}', '') || 'canary')`);
        const { rows } = await pool.query<{ list: string }>(
          `select string_agg(quote_ident(attname), ', ') as list from pg_attribute
           where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
          [table],
        );
        await pool.query(
          `insert into ${table} (${rows[0]?.list}) select ${rows[0]?.list} from jsonb_populate_recordset(null::${table}, (
             select jsonb_agg(r || jsonb_build_object('workspace_id', 'usr_twin' ${marked.map((mark) => `, ${mark}`).join('')}))
             from ${table} t, to_jsonb(t) r where t.workspace_id = $1))`,
          [box.workspaceId],
        );
      }
      await pool.query(
        `insert into thread_alias (workspace_id, alias_id, thread_id) values ('usr_twin', $1, 'th_elsewhere')`,
        [threadId],
      );
      for (const query of [
        '',
        '?time_range=24h',
        '?time_range=all',
        '?search=subject',
        '?search=subject&status=unread',
      ])
        paths.push(`/emails${query}`);
      paths.push(`/emails?domain=${box.domainId}`, `/emails?address=${box.addressId}`, `/emails/${emailIds[0]}`);
      for (const query of [
        '',
        '?unread=true',
        '?search=subject',
        `?address=${box.addressId}`,
        `?domain=${box.domainId}`,
      ])
        paths.push(`/mail/threads${query}`);
      paths.push('/emails/receiving', `/emails/receiving/${emailIds[0]}`, '/mail', `/mail/${emailIds[0]}`);
      paths.push(
        `/mail/${emailIds[0]}/thread`,
        `/mail/threads/${threadId}`,
        '/mail/threads/th_twin_alias',
        '/domains',
        `/domains/${box.domainId}`,
      );
      paths.push('/suppressions', '/suppressions?search=gone', '/suppressions/sup_twin', '/suppressions/gone@x.test');
      paths.push('/email-addresses', `/email-addresses/${box.addressId}`, '/endpoints', `/endpoints/${box.endpointId}`);
    });

    test('are shown nowhere, and are not counted', async () => {
      for (const path of paths) {
        const response = await gateway.call(twin, 'GET', path);
        expect(response.statusCode, path).toBe(200);
        expect(response.body, path).not.toContain('canary');
        const body = response.json();
        const rows = body.data ?? body.threads ?? body.messages ?? body.emails;
        if (rows === undefined) continue;
        const expected = /^\/(emails|mail$)/.test(path) || body.messages !== undefined ? 3 : 1;
        expect(rows, path).toHaveLength(expected);
        expect(body.pagination?.total ?? expected, path).toBe(expected);
      }
      const domain = (await gateway.call(twin, 'GET', paths.find((path) => path.startsWith('/domains/')) ?? '')).json();
      expect(domain.stats).toMatchObject({ totalEmailAddresses: 1, emailsLast30d: 3 });
      const endpoint = (
        await gateway.call(twin, 'GET', paths.find((path) => path.startsWith('/endpoints/')) ?? '')
      ).json();
      expect(
        [endpoint.associatedEmails, endpoint.catchAllDomains, endpoint.recentDeliveries].map((each) => each.length),
      ).toEqual([1, 1, 1]);
    });

    test('are shown nowhere in GraphQL', async () => {
      const response = await gateway.graphql(
        twin,
        `{ emails { totalCount edges { node { id subject content { text } thread { normalizedSubject } } } }
           found: emails(filter: {contains: "subject", timeRange: ALL}) { totalCount edges { node { subject } } }
           threads(filter: {search: "subject"}) { totalCount edges { node { normalizedSubject latestMessage { subject }
             messages { edges { node { id subject } } } } } } }`,
      );
      expect(response.body).not.toContain('canary');
      const { emails, found, threads } = response.json().data;
      expect([emails.totalCount, emails.edges.length, found.totalCount, found.edges.length]).toEqual([3, 3, 3, 3]);
      expect([threads.totalCount, threads.edges.length]).toEqual([1, 1]);
      expect(threads.edges[0].node.messages.edges).toHaveLength(3);
      const ids = await gateway.actor.pool.query<{ id: string }>(
        'select distinct id from (select id from domain union select id from endpoint union select id from email_address union select id from thread union select id from email) x',
      );
      const nodes = await gateway.graphql(
        twin,
        `query($ids: [ID!]!) { nodes(ids: $ids) { id ... on Email { subject } ... on Thread { normalizedSubject } ... on Domain { name }
           ... on EmailAddress { address domain { name } endpoint { name } } ... on Endpoint { name } } }`,
        { ids: ids.rows.map((row) => row.id) },
      );
      expect(nodes.body).not.toContain('canary');
      expect(nodes.json().data.nodes.filter((node: unknown) => node !== null)).toHaveLength(7);
    });

    test("are not changed by a change of the user's own", async () => {
      const own = (await gateway.call(twin, 'GET', '/emails')).json().data[0].id;
      const change = await gateway.call(twin, 'PATCH', `/emails/${own}`, { is_read: true, is_archived: true });
      expect(change.statusCode).toBe(200);
      const twins = await gateway.actor.pool.query(
        `select (select count(*) from email where workspace_id = 'usr_twin' and (is_read or is_archived)) as emails,
           (select sum(count)::integer from email_counter
             where workspace_id = 'usr_twin' and grain = 'all' and own_address = '*' and not is_read) as unread,
           (select unread_count from thread where workspace_id = 'usr_twin') as thread`,
      );
      expect(twins.rows).toEqual([{ emails: 0, unread: 3, thread: 3 }]);
    });
  });
});
