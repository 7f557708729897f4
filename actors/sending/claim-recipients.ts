import { makeMailFromDomain } from '../../core/domains/dns-records.ts';
import { CLAIM_BATCH, LEASE_SECONDS } from '../../db/claim.ts';
import {
  type ClaimedRecipientRow,
  claimListedSql,
  claimOfEmailsSql,
  claimOfLaneSql,
  closeUnbegunSql,
  type DueRecipientRow,
  listDueSql,
  releaseRecipientsSql,
  renewRecipientLeasesSql,
} from '../../db/queries/sending/recipient-claim.ts';
import type { ActorContext } from '../actor.ts';
import type { Lane } from '../work/in-hand.ts';
import { createLeases, type Leases, leaseEnd } from '../work/leases.ts';
import type { SendingJob, Transaction } from './sending-job.ts';

/** An email whose recipients may be due. */
export interface WokenEmail {
  workspaceId: string;
  emailId: string;
}

/** A position in the order of due recipients. */
export interface DueCursor {
  at: Date | string;
  id: string;
}

/** Before every due recipient. */
export const FIRST_CURSOR: DueCursor = { at: '-infinity', id: '' };

/** Claims up to a batch of due recipients of these emails, none of the lanes in `except`. */
export function claimOfEmails(
  context: ActorContext,
  emails: readonly WokenEmail[],
  except: readonly Lane[],
): Promise<Transaction[]> {
  return claim(context, 'sending-claim-of-emails', claimOfEmailsSql, [
    [...new Set(emails.map(({ workspaceId }) => workspaceId))],
    emails.map(({ emailId }) => emailId),
    except.map(({ workspaceId }) => workspaceId),
    except.map(({ key }) => key),
  ]);
}

/** Claims up to a batch of due recipients of this lane, longest due first. */
export function claimOfLane(context: ActorContext, { workspaceId, key }: Lane): Promise<Transaction[]> {
  return claim(context, 'sending-claim-of-lane', claimOfLaneSql, [workspaceId, key]);
}

/** Claims those of a batch of listed recipients that no other process has claimed in the meantime. */
export function claimListed(context: ActorContext, rows: readonly DueRecipientRow[]): Promise<Transaction[]> {
  const users = [...new Set(rows.map((row) => row.workspace_id))];
  return claim(context, 'sending-claim-listed', claimListedSql, [users, rows.map((row) => row.id)]);
}

/** Returns the next due recipients after a position, claimed or not. */
export async function listDue(context: ActorContext, behind: DueCursor, limit: number): Promise<DueRecipientRow[]> {
  const { rows } = await context.database.pool.query<DueRecipientRow>({
    name: 'sending-list-due',
    text: listDueSql,
    values: [behind.at, behind.id, limit],
  });
  return rows;
}

/** The leases of claimed recipients. A released recipient has no attempt, as if it had not been claimed. */
export function createRecipientLeases({ database, log, name }: ActorContext): Leases<SendingJob> {
  return createLeases<SendingJob>({
    log,
    actor: 'sending',
    idOf: ({ recipientId }) => recipientId,
    async renew(jobs) {
      const { rows } = await database.pool.query<{ id: string }>({
        name: 'sending-renew-leases',
        text: renewRecipientLeasesSql,
        values: [name, listWorkspaces(jobs), jobs.map(({ recipientId }) => recipientId), LEASE_SECONDS],
      });
      return rows.map(({ id }) => id);
    },
    release: (jobs) =>
      database.pool.query({
        name: 'sending-release',
        text: releaseRecipientsSql,
        values: [name, listWorkspaces(jobs), jobs.map(({ recipientId }) => recipientId)],
      }),
  });
}

/** Closes attempts that a second claim created for recipients in hand; they do not start. */
export async function closeUnbegun(context: ActorContext, jobs: readonly SendingJob[]): Promise<void> {
  await context.database.pool.query({
    name: 'sending-close-unbegun',
    text: closeUnbegunSql,
    values: [listWorkspaces(jobs), jobs.map(({ recipientId }) => recipientId), jobs.map(({ number }) => number)],
  });
}

function listWorkspaces(jobs: readonly SendingJob[]): string[] {
  return [...new Set(jobs.map(({ workspaceId }) => workspaceId))];
}

async function claim(context: ActorContext, name: string, text: string, values: unknown[]): Promise<Transaction[]> {
  const askedAt = performance.now();
  const { rows } = await context.database.pool.query<ClaimedRecipientRow>({
    name,
    text,
    values: [context.name, CLAIM_BATCH, ...values],
  });
  const transactions = new Map<string, Transaction>();
  for (const row of rows) {
    const key = `${row.email_id} ${row.delivery_id ?? ''} ${row.domain}`;
    const transaction = transactions.get(key) ?? toTransaction(row);
    transactions.set(key, transaction);
    transaction.jobs.push({
      workspaceId: row.workspace_id,
      recipientId: row.id,
      emailId: row.email_id,
      address: row.address,
      domain: row.domain,
      attempts: row.attempts,
      number: row.number,
      ageSeconds: row.age_seconds,
      isSuppressed: row.is_suppressed,
      isForwarded: row.delivery_id !== null,
      leaseUntil: leaseEnd(askedAt),
      claimedAt: askedAt,
    });
  }
  return [...transactions.values()];
}

function toTransaction(row: ClaimedRecipientRow): Transaction {
  return {
    workspaceId: row.workspace_id,
    emailId: row.email_id,
    rawId: row.raw_id,
    bytes: row.size_bytes ?? 0,
    domain: row.domain,
    senderDomain: row.own_domain,
    isSenderVerified: row.is_sender_verified,
    isSystemSender: row.is_system_sender,
    // A DSN must not quote mail of the service, with its links, to a user's inbox.
    returnDomain:
      row.is_null_sender || row.is_system_sender
        ? null
        : row.mail_from_verified
          ? makeMailFromDomain(row.own_domain)
          : row.own_domain,
    isHosted: row.is_hosted,
    jobs: [],
  };
}
