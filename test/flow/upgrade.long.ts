import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSION } from '../../bin/runner/version.ts';
import { makeVersion, type NextVersion } from '../support/cluster/next-version.ts';
import { repository as before, runToEnd } from '../support/runner.ts';
import { Fleet, firsts, seconds } from '../support/servers/fleet.ts';

/** Messages a second, each way. */
const rate = { inPerSecond: 5, outPerSecond: 5 };
/** Rows of a table that is large enough for an index and a filling to take their time. */
const LARGE_ROWS = 60_000;
const LIMIT_MS = 400_000;

/** A release as it may be: what each kind of change asks for stands in docs/upgrade.md. Its code writes what its schema adds. */
const release: NextVersion = {
  version: `${VERSION}-next`,
  migrations: [
    { name: '0002-email-column', statements: [`alter table email add column colour text not null default 'plain'`] },
    {
      name: '0003-delivery-column',
      statements: [`alter table delivery add column finished_by text not null default 'before'`],
    },
    {
      name: '0004-table',
      statements: [
        `create table delivery_note (workspace_id text not null, delivery_id text not null, note text not null, primary key (workspace_id, delivery_id))`,
        `alter table delivery_note enable row level security`,
        `create policy delivery_note_of_workspace on delivery_note to postroom_gateway using (workspace_id = current_setting('postroom.workspace_id', true))`,
        `create policy delivery_note_of_actor on delivery_note to postroom_actor using (true)`,
        `grant select, insert, update, delete on delivery_note to postroom_gateway, postroom_actor`,
      ],
    },
    { name: '0005-filled-column', statements: ['alter table smtp_offer add column recipient_domain text'] },
    {
      name: '0006-filling',
      isApart: true,
      statements: [
        `do $$ begin
           loop
             update smtp_offer set recipient_domain = split_part(recipient, '@', -1) where ctid = any (array(
               select ctid from smtp_offer where recipient_domain is null limit 5000 for update skip locked));
             exit when not found;
             commit;
           end loop;
         end $$`,
      ],
    },
    {
      name: '0007-index',
      isApart: true,
      statements: ['create index concurrently if not exists smtp_offer_email on smtp_offer (workspace_id, email_id)'],
    },
    {
      name: '0008-constraint',
      statements: [`alter table email add constraint email_colour check (colour <> '') not valid`],
    },
    { name: '0009-constraint-holds', statements: ['alter table email validate constraint email_colour'] },
  ],
  changes: [
    {
      file: 'db/queries/endpoints/record-outcome.ts',
      from: '      claimed_until = null,\n',
      to: `      claimed_until = null,\n      finished_by = 'after',\n`,
    },
    {
      file: 'db/queries/endpoints/record-outcome.ts',
      from: '  ), moved as (\n',
      to: `  ), noted as (insert into delivery_note select workspace_id, id, status from finished on conflict do nothing\n  ), moved as (\n`,
    },
  ],
};

/** The one after it, which takes a column away that code of `release` does not use any more. */
const contraction: NextVersion = {
  version: `${VERSION}-last`,
  migrations: [
    {
      name: '0010-drop-column',
      statements: ['alter table smtp_offer drop column recipient_domain'],
      needs: '0005-filled-column',
    },
  ],
};

let fleet: Fleet;
/** folders of the two versions to come */
let next: string;
let last: string;

beforeAll(async () => {
  fleet = await Fleet.start();
  next = path.join(fleet.service.directory, 'next');
  last = path.join(fleet.service.directory, 'last');
  await makeVersion(next, release);
  await makeVersion(last, contraction, next);
  await fleet.query(
    `insert into smtp_offer (workspace_id, recipient, reverse_path, sha256, remote_address, email_id, accepted_at, expires_at)
     select 'usr_large', 'box@large.test', 'a@elsewhere.test', sha256(n::text::bytea), '', 'em_' || n, now(), now() + interval '1 day' from generate_series(1, ${LARGE_ROWS}) n`,
  );
}, LIMIT_MS);
afterAll(() => fleet?.stop(), 120_000);

const migrate = (folder: string, ...words: string[]) =>
  runToEnd(['bin/migrate.ts', ...words], fleet.service.ownerEnvironment, folder);
const upToDate = { status: 0, stdout: 'The schema is up to date.\n', stderr: '' };
const names = ({ migrations }: NextVersion) => migrations.map(({ name }) => name).join(', ');

/** Resolves when mail came in and was sent that was offered from now on. */
async function awaitResponses(): Promise<void> {
  const { offers, sends } = fleet.traffic;
  const [firstOffer, firstSend] = [offers.length, sends.length];
  await fleet.until(
    'mail is taken and sent',
    async () =>
      offers.slice(firstOffer).filter(({ result }) => result.code === 250).length >= 5 &&
      sends.slice(firstSend).filter(({ status }) => status !== null && status < 300).length >= 5,
  );
}

/** Resolves when mail was received, threaded and delivered, and mail was sent, that came from now on. */
async function awaitMailOfNow(): Promise<void> {
  await fleet.awaitWorkOfAll();
  const [row] = await fleet.query<{ now: Date }>('select clock_timestamp() as now');
  const count = async (text: string) => (await fleet.query(text, [row?.now])).length;
  await fleet.until(
    'mail that came now is delivered and sent',
    async () =>
      (await count(`select from delivery where created_at > $1 and status = 'success'`)) >= 5 &&
      (await count(`select from email where created_at > $1 and type = 'sent' and status = 'delivered'`)) >= 5,
  );
}

/** By which version's code deliveries were finished that began after that moment. */
async function finishers(since: Date | undefined): Promise<string[]> {
  const rows = await fleet.query<{ name: string }>(
    `select distinct d.finished_by || case when n.delivery_id is null then '' else ', noted' end as name
     from delivery d left join delivery_note n on n.workspace_id = d.workspace_id and n.delivery_id = d.id
     where d.status = 'success' and ($1::timestamptz is null or d.created_at > $1) order by 1`,
    [since ?? null],
  );
  return rows.map(({ name }) => name);
}

/** Whether a migration waits for the table at this moment. */
async function isWaitedFor(table: string): Promise<boolean> {
  const rows = await fleet.query(
    `select from pg_locks where not granted and mode = 'AccessExclusiveLock' and relation = $1::regclass`,
    [table],
  );
  return rows.length > 0;
}

// Each test goes on where the one before it ended.
describe('two processes of each kind under traffic', { retry: 0 }, () => {
  test(
    'continue while the schema is newer: a migration that has to wait lets mail pass',
    async () => {
      const load = fleet.traffic.start(rate);
      await awaitResponses();
      expect(await migrate(next, '--check')).toEqual({
        status: 1,
        stdout: '',
        stderr: `Pending migrations: ${names(release)}\n`,
      });
      const pids = [...fleet.service.processes.values()].map(({ pid }) => pid);
      const report = new pg.Client({ connectionString: await fleet.service.databaseUrl() });
      await report.connect();
      let migrated: ReturnType<typeof migrate>;
      try {
        await report.query('begin; select count(*) from email');
        migrated = migrate(next);
        for (let times = 0; times < 2; times++) {
          await fleet.until('the migration waits', () => isWaitedFor('email'));
          await awaitResponses();
        }
      } finally {
        await report.end();
      }
      expect(await migrated).toEqual({ status: 0, stdout: `Ran ${names(release)}.\n`, stderr: '' });
      expect(await migrate(next, '--check')).toEqual(upToDate);
      expect(await migrate(before, '--check')).toEqual(upToDate);
      expect(await migrate(before)).toEqual(upToDate);
      await awaitMailOfNow();
      expect(await finishers(undefined)).toEqual(['before']);
      expect(await fleet.versions()).toEqual({ [VERSION]: [...firsts, ...seconds] });
      expect([...fleet.service.processes.values()].map(({ pid }) => pid)).toEqual(pids);
      const filled = await fleet.query(
        `select from smtp_offer where workspace_id = 'usr_large' and recipient_domain = 'large.test'`,
      );
      expect(filled.length).toBe(LARGE_ROWS);
      await load.stop();
      await fleet.settle();
    },
    LIMIT_MS,
  );

  test(
    'are replaced one of each kind, then one is put back, then all: old and new work side by side',
    async () => {
      const load = fleet.traffic.start(rate);
      await Promise.all(firsts.map((name) => fleet.replace(name, next)));
      expect(await fleet.versions()).toEqual({ [release.version]: firsts, [VERSION]: seconds });
      const [half] = await fleet.query<{ now: Date }>('select clock_timestamp() as now');
      await awaitMailOfNow();
      await expect.poll(() => finishers(half?.now), { timeout: LIMIT_MS / 4 }).toEqual(['after, noted', 'before']);

      const back = ['gateway', 'receiving', 'delivery'];
      await Promise.all(back.map((name) => fleet.replace(name, before)));
      const kept = firsts.filter((name) => !back.includes(name));
      expect(await fleet.versions()).toEqual({
        [VERSION]: [...firsts.filter((name) => back.includes(name)), ...seconds],
        [release.version]: kept,
      });
      await awaitMailOfNow();

      await Promise.all(seconds.map((name) => fleet.replace(name, next)));
      await Promise.all(back.map((name) => fleet.replace(name, next)));
      expect(await fleet.versions()).toEqual({ [release.version]: [...firsts, ...seconds] });
      const [whole] = await fleet.query<{ now: Date }>('select clock_timestamp() as now');
      await awaitMailOfNow();
      expect(await finishers(whole?.now)).toEqual(['after, noted']);
      await load.stop();
      await fleet.settle();
    },
    LIMIT_MS,
  );

  test(
    'continue when a version removes what they do not use, and the version before them does not start',
    async () => {
      const load = fleet.traffic.start(rate);
      expect(await migrate(last)).toMatchObject({ status: 0, stdout: 'Ran 0010-drop-column.\n' });
      expect(await migrate(next, '--check')).toEqual(upToDate);
      await awaitMailOfNow();
      const refused = {
        status: 1,
        stdout: '',
        stderr:
          'the database is of a newer version: migration 0010-drop-column needs code that knows 0005-filled-column; start that version\n',
      };
      expect(await migrate(before)).toEqual(refused);
      expect(await migrate(before, '--check')).toEqual(refused);
      expect(await runToEnd(['bin/actor.ts', 'scheduling'], fleet.service.environment, before)).toEqual(refused);
      await load.stop();
      await fleet.settle();
    },
    LIMIT_MS,
  );
});
