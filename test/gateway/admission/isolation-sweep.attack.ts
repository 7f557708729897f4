import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { DatabaseRole } from '../../../db/connection/database.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { type Holdings, makeHoldings, readDigests, workspaceTables } from '../../support/rows/holdings.ts';
import { recordRoutes, type ServedRoute } from '../../support/rows/route-table.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { type SweepOptions, sweepRoute } from '../../support/stages/isolation-sweep.ts';
import { bodyExamples, inSweepOrder, routesOfUsers } from '../../support/stages/swept-routes.ts';

/** Fields in which an ID of the user would have no visible effect. */
const UNANSWERED: Readonly<Record<string, string>> = {
  'POST /api/e2/emails/simulate email_id': 'asks actors, which are away here',
  'POST /api/e2/emails/reprocess email_ids.0': 'asks actors, which are away here',
  'POST /api/e2/emails/wait except_email_ids.0': 'finds nothing in any case; see rest/email-wait.test.ts',
  'PATCH /api/e2/drafts/:id attachments.0.id': 'the version of the example is past; see rest/drafts.test.ts',
  'POST /api/e2/mail/threads/merge thread_ids.0':
    'the other thread of the example is unknown; see rest/thread-changes.test.ts',
  'POST /api/e2/mail/threads/undo undo_id': 'a change is undone once; see operations/threads/undo-change.test.ts',
  'POST /api/e2/mail/threads/read-by-me thread_ids.0': 'needs a person; see rest/thread-read-state.test.ts',
  'POST /api/e2/mail/threads/read-by-me email_id': 'needs a person; see rest/thread-read-state.test.ts',
  'GET /api/e2/emails/:id/quarantine':
    'the response names the virus, and no email here has one; see actors/screening/scanner-away.test.ts',
  'POST /api/e2/workspaces client_id': 'a name that the product chooses; see accounts/customers.test.ts',
  'POST /api/e2/members/leave workspace_id': 'needs a session; see accounts/members.test.ts',
  'POST /api/e2/suppressions/batch/remove ids.0':
    'DELETE /suppressions/:id has removed them; see rest/client-contract.test.ts',
};

// Each wall for itself: row-level security with the conditions of every statement, and the conditions alone.
describe.each<DatabaseRole>(['postroom_gateway', 'postroom_actor'])('as %s', (role) => {
  let gateway: TestGateway;
  let routes: ServedRoute[];
  let mine: Holdings;
  let theirs: Holdings;
  let options: SweepOptions;
  let tables: string[];

  beforeAll(async () => {
    const recorded = await recordRoutes(() => openTestGateway({ role }), plantLeaks);
    gateway = recorded.opened;
    await gateway.app.ready();
    routes = routesOfUsers(recorded.routes);
    [mine, theirs] = [await makeHoldings(gateway), await makeHoldings(gateway)];
    tables = await workspaceTables(gateway.actor);
    let before = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
    options = {
      mine,
      theirs,
      call: (method, path, body) => gateway.call(mine.mailbox.apiKey, method, path.replace(/^\/api\/e2/, ''), body),
      async changedTables() {
        const now = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
        const changed = tables.filter((table) => now.get(table) !== before.get(table));
        before = now;
        return changed;
      },
      unanswered: UNANSWERED,
      written: new Set(),
      listExamples: bodyExamples(gateway.app),
      breadth: isQuick ? 'some' : 'all',
    };
  });
  afterAll(() => gateway.close());

  /** Routes with the mistakes that the sweep is there to find. */
  function plantLeaks(app: FastifyInstance): void {
    void app.register(async (leaky) => {
      const params = z.object({ id: z.string() });
      const find = async (id: string, condition = '') => {
        const { rows } = await gateway.actor.pool.query<{ workspace_id: string; subject: string }>(
          `select workspace_id, subject from email where id = $1 ${condition}`,
          [/^\w+$/.test(id) ? id : ''],
        );
        return rows[0] ?? null;
      };
      const notFound = { error: 'Not Found', message: 'Email not found', statusCode: 404, name: 'not_found' };
      leaky.get('/api/e2/leaks/read/:id', { schema: { params, hide: true } }, async (request, reply) => {
        const found = await find((request.params as { id: string }).id);
        return found === null ? reply.code(404).send(notFound) : { subject: found.subject };
      });
      leaky.get('/api/e2/leaks/tell-apart/:id', { schema: { params, hide: true } }, async (request, reply) => {
        const found = await find((request.params as { id: string }).id);
        if (found?.workspace_id === mine.mailbox.workspaceId) return { found: true };
        return reply.code(404).send({ ...notFound, message: found === null ? 'Email not found' : 'Not your email' });
      });
      leaky.delete('/api/e2/leaks/write/:id', { schema: { params, hide: true } }, async (request, reply) => {
        const { id } = request.params as { id: string };
        const found = await find(id);
        await gateway.actor.pool.query('update email set is_archived = true where id = $1', [found === null ? '' : id]);
        if (found?.workspace_id === mine.mailbox.workspaceId) return { found: true };
        return reply.code(404).send(notFound);
      });
      const body = z.object({ emailId: z.string() }).meta({ examples: [{ emailId: `em_${'0'.repeat(32)}` }] });
      leaky.post('/api/e2/leaks/body', { schema: { body, hide: true } }, async (request) => ({
        found: (await find((request.body as { emailId: string }).emailId)) !== null,
      }));
      const querystring = z.object({ email: z.string().optional() });
      leaky.get('/api/e2/leaks/query', { schema: { querystring, hide: true } }, async (request) => ({
        found: (await find((request.query as { email?: string }).email ?? '')) !== null,
      }));
      leaky.get(
        '/api/e2/leaks/unfound/:other',
        { schema: { params: z.object({ other: z.string() }), hide: true } },
        (_, reply) => reply.code(404).send(notFound),
      );
      leaky.post(
        '/api/e2/leaks/unfilled',
        { schema: { body: z.object({ color: z.string() }), hide: true } },
        () => ({}),
      );
    });
  }

  const isLeak = ({ url }: ServedRoute) => url.startsWith('/api/e2/leaks/');

  test('every user table has rows of the other user', async () => {
    const empty = await readDigests(gateway.actor, tables, 'usr_nobody');
    const digests = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
    expect(tables.filter((table) => digests.get(table) === empty.get(table))).toEqual(['request_window']);
  });

  if (role === 'postroom_gateway')
    test('the gateway sees no row of any table without a user', async () => {
      const counts = tables.map((table) => `select '${table}' as name, count(*) from ${table}`).join(' union all ');
      const readable = counts.replace(/select 'api_key' as name, count\(\*\) from api_key union all /, '');
      const { rows } = await gateway.database.pool.query<{ name: string; count: number }>(readable);
      expect(rows.filter((row) => Number(row.count) !== 0)).toEqual([]);
      expect(rows.length).toBeGreaterThan(25);
      await expect(gateway.database.pool.query('select from api_key')).rejects.toThrow(/permission denied/);
    });

  // In `npm test`, the conditions of the statements alone. Row-level security has its tests in isolation.test.ts.
  const isSwept = !isQuick || role === 'postroom_actor';
  if (isSwept)
    test('every route responds to foreign ids as to unknown ones, shows nothing and changes nothing', {
      timeout: 900_000,
    }, async () => {
      const swept = inSweepOrder(routes.filter((route) => !isLeak(route)));
      expect(swept.length).toBeGreaterThan(60);
      const complaints: string[] = [];
      for (const route of swept) complaints.push(...(await sweepRoute(route, options)));
      expect(complaints).toEqual([]);
    });

  if (isSwept)
    test('the sweep reports routes that leak', async () => {
      const found: Record<string, string> = {};
      for (const route of routes.filter(isLeak)) {
        const complaints = await sweepRoute(route, options);
        found[route.url.split('/')[4] ?? ''] = complaints.join('\n');
      }
      expect(found).toEqual({
        read: expect.stringMatching(/instead of \[404/),
        'tell-apart': expect.stringMatching(/Not your email.* instead of/),
        write: expect.stringMatching(/rows of the other user in email changed/),
        body: expect.stringMatching(/emailId em_.*true.* instead of/),
        query: expect.stringMatching(/email em_.*true.* instead of/),
        unfound: expect.stringMatching(/none of one’s own ids is found/),
        unfilled: expect.stringMatching(/no example to fill it by/),
      });
    });
});
