import type pg from 'pg';
import type { Screening, ScreeningJobKind } from '../../../core/screening/spam-check.ts';
import { claimStatement, LEASE_SECONDS } from '../../claim.ts';
import type { Database } from '../../connection/database.ts';
import { SCREENING_CLAIMANT } from '../emails/reception-claim.ts';

/** A claimed job, with what the scanners are asked. */
export interface ScreeningJob {
  workspaceId: string;
  emailId: string;
  kind: ScreeningJobKind;
  /** times that it was tried, including this one */
  tries: number;
  /** null: the bytes are gone */
  rawId: string | null;
  reversePath: string;
  recipient: string;
  remoteAddress: string;
  helo: string;
  /** whether the email has its row */
  isStored: boolean;
}

/** Notes a lesson for the spam filter; it takes the place of what was still to be done about the email. */
export async function noteLesson(
  client: pg.ClientBase,
  workspaceId: string,
  emailId: string,
  kind: 'learn_spam' | 'learn_ham',
): Promise<void> {
  await client.query({
    name: 'screening-lesson',
    text: `
      insert into screening_job (workspace_id, email_id, kind, next_attempt_at, created_at)
      values ($1, $2, $3, (select postroom_now()), (select postroom_now()))
      on conflict (workspace_id, email_id) do update
        set kind = excluded.kind, tries = 0, next_attempt_at = excluded.next_attempt_at, claimed_by = null, claimed_until = null`,
    values: [workspaceId, emailId, kind],
  });
}

const CLAIM_SQL = `
  with claimed as (${claimStatement({
    table: 'screening_job',
    isDue: 'd.next_attempt_at <= (select postroom_now())',
    orderBy: 'd.next_attempt_at',
    returning: ['workspace_id', 'email_id', 'kind', 'tries'],
    set: 'tries = t.tries + 1',
  })})
  select c.workspace_id as "workspaceId", c.email_id as "emailId", c.kind, c.tries, r.raw_id as "rawId", coalesce(r.reverse_path, '') as "reversePath",
    coalesce(r.recipient, '') as recipient, coalesce(r.remote_address, '') as "remoteAddress", coalesce(r.helo, '') as helo,
    exists (select from email e where e.workspace_id = c.workspace_id and e.id = c.email_id) as "isStored"
  from claimed c left join reception r on r.workspace_id = c.workspace_id and r.email_id = c.email_id`;

/** Claims up to `limit` due jobs, the longest due first. */
export async function claimScreeningJobs(database: Database, claimant: string, limit: number): Promise<ScreeningJob[]> {
  const { rows } = await database.pool.query<ScreeningJob>({
    name: 'screening-claim',
    text: CLAIM_SQL,
    values: [claimant, limit],
  });
  return rows;
}

type JobKey = Pick<ScreeningJob, 'workspaceId' | 'emailId' | 'kind'>;

/** Postpones a job that this claimant holds. */
export async function postponeJob(
  database: Database,
  claimant: string,
  { workspaceId, emailId, kind }: JobKey,
  seconds: number,
): Promise<void> {
  await database.pool.query({
    name: 'screening-postpone',
    text: `
      update screening_job j set claimed_by = null, claimed_until = null,
        next_attempt_at = (select postroom_now()) + $5 * interval '1 second'
      where j.workspace_id = $1 and j.email_id = $2 and j.kind = $3 and j.claimed_by = $4`,
    values: [workspaceId, emailId, kind, claimant, seconds],
  });
}

/** Removes a job that this claimant holds; returns whether it was held. A user may have given a lesson in the meantime. */
export async function finishJob(
  client: Pick<pg.ClientBase, 'query'>,
  claimant: string,
  { workspaceId, emailId, kind }: JobKey,
): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'screening-finish',
    text: 'delete from screening_job j where j.workspace_id = $1 and j.email_id = $2 and j.kind = $3 and j.claimed_by = $4',
    values: [workspaceId, emailId, kind, claimant],
  });
  return rowCount === 1;
}

/** Gives a reception that was held to the parser, with what the scanners said, and removes its job, in one statement. */
export async function releaseHeld(
  database: Database,
  claimant: string,
  { workspaceId, emailId }: Pick<ScreeningJob, 'workspaceId' | 'emailId'>,
  screening: Screening | null,
): Promise<void> {
  await database.pool.query({
    name: 'screening-release-held',
    text: `
      with done as materialized (
        delete from screening_job j where j.workspace_id = $1 and j.email_id = $2 and j.kind = 'hold' and j.claimed_by = $3 returning j.email_id
      )
      update reception r set claimed_by = null, claimed_until = null, screening = $4::jsonb
      where r.workspace_id = $1 and r.email_id = any (array(select email_id from done)) and r.parsed_at is null
        and r.claimed_by = '${SCREENING_CLAIMANT}'`,
    values: [workspaceId, emailId, claimant, screening === null ? null : JSON.stringify(screening)],
  });
}

/** Jobs that dropScreeningJobs removes in one batch. */
export const DROPPED_JOBS = 500;

/** Lets all mail go that waits for scanners which the service no longer has; returns how many jobs that were. */
export async function dropScreeningJobs(database: Database): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'screening-drop',
    text: `
      with gone as materialized (
        delete from screening_job j where j.ctid = any (array(
          select o.ctid from screening_job o
          where o.claimed_until is null or o.claimed_until < (select postroom_now()) - interval '${LEASE_SECONDS} seconds'
          limit ${DROPPED_JOBS} for update skip locked))
        returning j.workspace_id, j.email_id, j.kind
      ), released as (
        update reception r set claimed_by = null, claimed_until = null from gone g
        where g.kind = 'hold' and r.workspace_id = g.workspace_id and r.email_id = g.email_id and r.parsed_at is null
          and r.claimed_by = '${SCREENING_CLAIMANT}'
      )
      select from gone`,
  });
  return rowCount ?? 0;
}
