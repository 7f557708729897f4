import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../support/cluster/database.ts';

const WORKSPACES = 10_000;
const MEMBERS = 50;
const TABLES = ['person', 'workspace', 'workspace_member', 'workspace_invitation', 'auth_session', 'api_key'];
let testDatabase: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  // Without triggers, which would write 50,000 audit entries and their events.
  await client.query(`
    set session_replication_role = replica;
    insert into person (id, email) select 'usr_' || n, n || '@many.test' from generate_series(1, ${WORKSPACES}) n;
    insert into workspace (id, name) select 'usr_' || n, n::text from generate_series(1, ${WORKSPACES}) n;
    insert into workspace_member (workspace_id, person_id, role, is_approver)
      select 'usr_' || n, 'usr_' || n, 'owner', true from generate_series(1, ${WORKSPACES}) n;
    insert into workspace_member (workspace_id, person_id, role)
      select 'usr_1', 'usr_' || n, 'agent' from generate_series(2, ${MEMBERS}) n;
    insert into auth_session (id, person_id, token, expires_at)
      select 'ses_' || n, 'usr_' || n, 'token' || n, now() + interval '1 hour' from generate_series(1, ${WORKSPACES}) n;
    insert into api_key (id, workspace_id, name, secret_sha256, made_by_person_id)
      select 'key_' || n, 'usr_' || n, 'key', sha256(convert_to('key' || n, 'UTF8')), 'usr_' || n from generate_series(1, ${WORKSPACES}) n;
    insert into workspace_invitation (id, workspace_id, email, role, token_sha256, expires_at)
      select 'inv_' || n, 'usr_' || n, n || '@invited.test', 'viewer', sha256(convert_to('inv' || n, 'UTF8')), now() + interval '7 days'
      from generate_series(1, ${WORKSPACES}) n;
    reset session_replication_role;
    analyze`);
});
afterAll(async () => {
  await client.end();
  await testDatabase.drop();
});

/** Returns how often the tables were scanned as a whole. */
async function countScans(): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ scans: string }>(
    'select sum(seq_scan) as scans from pg_stat_user_tables where relname = any ($1)',
    [TABLES],
  );
  return Number(rows[0]?.scans);
}

test.each([
  ['a session is found', `select * from session_of('token7', now())`],
  ['a key is found', `select * from credential_owner(sha256('key7'))`],
  ['a person lists the own workspaces', `select * from workspaces_of_person('usr_7')`],
  ['invitations are listed', `select * from invitations_of('usr_1', now())`],
  ['an invitation is shown', `select * from invitation_of_token(sha256('inv7'), now())`],
  ['the person of a session is read', `select * from person_of('usr_1', 'usr_7')`],
])(`${WORKSPACES} workspaces with ${MEMBERS} members in one cost nothing when %s`, async (_what, text) => {
  await client.query(`select set_config('postroom.workspace_id', 'usr_1', false)`);
  const before = await countScans();
  for (let call = 0; call < 10; call++) expect((await client.query(text)).rowCount).toBeGreaterThan(0);
  expect(await countScans()).toBe(before);
});
