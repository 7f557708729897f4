import { hash } from 'node:crypto';
import { type ForwardConfig, forwardSender, readForwardConfig } from '../../core/endpoints/forward.ts';
import { newIdentifier } from '../../core/shared/identifiers.ts';
import { deriveReturnAddressKey, isReturnAddress, readReturnAddress } from '../../core/smtp/return-address.ts';
import { LEASE_SECONDS } from '../../db/claim.ts';
import { isTransient } from '../../db/errors.ts';
import { packMessage } from '../../db/packed-message.ts';
import { keepSystemDomain } from '../../db/queries/domains/domain-owner.ts';
import { type ClaimedForwardRow, findForwardRecipientSql } from '../../db/queries/endpoints/forward-claim.ts';
import { type ForwardRecord, storeForwardSql } from '../../db/queries/endpoints/forward-store.ts';
import { actorMetrics, deliveryMetrics } from '../../schema/metrics.ts';
import type { ActorContext, Run } from '../actor.ts';
import { noteStage } from '../mail-spans.ts';
import { setAside } from '../set-aside.ts';
import type { OutcomeRecorder } from '../work/outcome-recorder.ts';
import { TimeLimitExceeded } from '../work/worker-threads.ts';
import {
  claimForwards,
  deferForward,
  postponeForward,
  postponeForwardsOfWorkspace,
  releaseForwards,
} from './claim-forwards.ts';
import { type DeliveryFaultPoint, makeJob } from './delivery-job.ts';
import { FORWARD_THREADS, type ForwardThreads, type ForwardWork } from './forward-thread.ts';
import { type DeliveryOutcome, outcomeOfGivingUp } from './record-outcomes.ts';

export interface ForwarderOptions {
  context: ActorContext;
  /** SECRET_KEY, 32 bytes */
  secretKey: Uint8Array;
  threads: ForwardThreads;
  recorder: OutcomeRecorder<DeliveryOutcome>;
  /** copies of one user within an hour; 0: no limit */
  limitPerHour: number;
  /** sends copies for users without a verified domain */
  systemMailFrom: string;
  /** names this service in ARC-Authentication-Results */
  mailHostname: string;
  fault: (point: DeliveryFaultPoint) => void;
}

/** Queues copies of received mail for sending, for endpoints of type email and email_group. */
export interface Forwarder {
  /** Forwards a batch of due deliveries; returns how many. Safe to run twice. */
  forward(run: Pick<Run, 'isStopping' | 'signal'>): Promise<number>;
}

/** When this much of a lease is left, the rest of a batch is released; milliseconds. */
const LEASE_MARGIN_MS = 18_000;
/** Minimum pause of a delivery that exceeds the hourly limit; seconds. */
const LEAST_WAIT_SECONDS = 60;
/** Attempts that an internal fault may use up. */
const MAX_FAULTS = 25;
const LONGEST_FAULT_EXPONENT = 10;
const INTERNAL_FAULT = 'Internal error';
/** Attempts for a message that timed out once, and twice in a row: retrying it more would block a thread again and again. */
const SLOW_FAULT = 'The copy took too long to compose';
const TOO_COMPLEX = 'The message is too complex to be forwarded';
/** How long such a message waits, and with it the user's other forwards; seconds. */
const SLOW_WAIT_SECONDS = 60;
const BEHIND_SLOW_WAIT_SECONDS = 30;

export function createForwarder(options: ForwarderOptions): Forwarder {
  const { context, threads, recorder, limitPerHour, systemMailFrom, mailHostname, fault } = options;
  const { pool } = context.database;
  const waitReason = `Waiting: ${limitPerHour} copies were forwarded within an hour`;
  const returnKey = deriveReturnAddressKey(options.secretKey);

  /** Returns what the copy is built from, or why there is none. */
  const prepare = async (row: ClaimedForwardRow): Promise<Prepared | { refusal: string }> => {
    const endpoint = toConfig(row);
    if ('refusal' in endpoint) return endpoint;
    const { raw_id: rawId, own_address: ownAddress, received_at: receivedAt } = row;
    if (rawId === null || ownAddress === null || receivedAt === null || row.email_type !== 'received')
      return { refusal: 'Email content not available' };
    if (await isReplyToCopy(row)) return { refusal: 'Not forwarded: it answers a forwarded copy' };
    const bytes = await context.bytes.get(rawId);
    if (bytes === null) return { refusal: 'Email content not available' };
    const { config } = endpoint;
    // Without a recipient, the sending queue would never settle the delivery.
    if (config.addresses.length === 0) return { refusal: `Mail cannot be sent to ${config.unusable.join(', ')}` };
    const { address: from, isSystem } = forwardSender(config, {
      isFromVerified: row.is_from_verified,
      ownAddress: row.is_own_verified ? ownAddress : null,
      verifiedDomain: row.verified_domain,
      systemAddress: systemMailFrom,
    });
    const senderDomain = from.slice(from.lastIndexOf('@') + 1).toLowerCase();
    if (isSystem) {
      const id = newIdentifier(context, 'domain');
      await keepSystemDomain(context.database, { id, name: senderDomain });
    }
    const work = {
      original: { bytes, traceFields: row.trace_fields ?? '', ownAddress, receivedAt },
      config,
      facts: {
        messageId: `<${row.id}@${senderDomain}>`,
        from,
        isGroup: row.endpoint_type === 'email_group',
        verified: row.authentication === null ? null : { verdicts: row.authentication, servedBy: mailHostname },
      },
    };
    return { config, senderDomain, work };
  };

  /**
   * Whether this is an automatic reply to the return address of a forwarded copy. Forwarded again, it would get a reply again, forever.
   */
  const isReplyToCopy = async (row: ClaimedForwardRow): Promise<boolean> => {
    if (row.recipient === null || !isReturnAddress(row.recipient)) return false;
    const recipientId = readReturnAddress(returnKey, row.recipient);
    const { rowCount } = await pool.query({
      name: 'forward-find-recipient',
      text: findForwardRecipientSql,
      values: [row.workspace_id, recipientId],
    });
    return rowCount === 1;
  };

  const store = async (
    row: ClaimedForwardRow,
    prepared: Prepared,
    bytes: Buffer,
    startedAt: Date,
  ): Promise<boolean> => {
    const now = context.now();
    const identifier = (kind: 'raw' | 'recipient') => newIdentifier(context, kind, now);
    const record: ForwardRecord = {
      workspace_id: row.workspace_id,
      delivery_id: row.id,
      email_id: row.email_id,
      raw_id: identifier('raw'),
      sha256: hash('sha256', bytes, 'hex'),
      size: bytes.length,
      is_null_sender: row.reverse_path === '',
      sender_domain: prepared.senderDomain,
      started_at: startedAt,
      duration_ms: Math.max(0, now.getTime() - startedAt.getTime()),
      recipients: listRecipients(prepared.config).map((recipient) => ({ id: identifier('recipient'), ...recipient })),
    };
    const { rowCount } = await pool.query({
      name: 'forward-store',
      text: storeForwardSql,
      values: [context.name, JSON.stringify(record), await packMessage(bytes)],
    });
    return rowCount === 1;
  };

  const forwardOne = async (row: ClaimedForwardRow): Promise<void> => {
    const startedAt = context.now();
    const startedTick = performance.now();
    const prepared = await prepare(row);
    if ('refusal' in prepared) {
      await giveUp(row, prepared.refusal);
      return;
    }
    const bytes = Buffer.from((await threads.run(prepared.work)).buffer);
    fault('forward.composed');
    if (!(await store(row, prepared, bytes, startedAt))) {
      context.log.warn({ deliveryId: row.id }, 'delivery: the claim was lost before its copy was stored');
      return;
    }
    fault('forward.stored');
    noteStage(context.database, [{ workspaceId: row.workspace_id, emailId: row.email_id }], {
      name: 'forward',
      startedTick,
      attributes: { 'postroom.delivery.id': row.id },
    });
    context.bus.wake('sending.send.wake', { workspaceId: row.workspace_id, emailIds: [row.email_id] });
  };

  const giveUp = (row: ClaimedForwardRow, error: string): Promise<void> =>
    recorder.record({
      record: outcomeOfGivingUp(
        context,
        makeJob({ ...row, event_seq: null, event_kind: null, order_key: null }, 0),
        error,
      ),
      step: 'forward',
      isAwaited: false,
    });

  /** A delivery that cannot be deferred must not block the others. */
  const deferOrSetAside = async (row: ClaimedForwardRow, error: unknown): Promise<void> => {
    try {
      await (error instanceof TimeLimitExceeded ? deferSlow(row) : defer(row, error));
    } catch (reason) {
      if (isTransient(reason)) throw reason;
      await setAside(context, { workspaceId: row.workspace_id, step: 'forward', subjectId: row.id, error: reason });
    }
  };

  /** An internal fault: the delivery is retried after growing pauses, and finally given up. */
  const defer = async (row: ClaimedForwardRow, error: unknown): Promise<void> => {
    context.log.error({ err: error, deliveryId: row.id }, 'delivery: a copy could not be forwarded');
    const faults = row.faults + 1;
    if (faults >= MAX_FAULTS) {
      await giveUp(row, INTERNAL_FAULT);
      return;
    }
    await deferForward(context, row, Math.exp(Math.min(LONGEST_FAULT_EXPONENT, faults)), INTERNAL_FAULT);
  };

  /** The user's other forwards may be just as slow, so they go after those of other users. */
  const deferSlow = async (row: ClaimedForwardRow): Promise<void> => {
    context.log.warn({ deliveryId: row.id }, 'delivery: a copy took too long to compose');
    await (row.last_fault === SLOW_FAULT
      ? giveUp(row, TOO_COMPLEX)
      : deferForward(context, row, SLOW_WAIT_SECONDS, SLOW_FAULT));
    await postponeForwardsOfWorkspace(context, row.workspace_id, BEHIND_SLOW_WAIT_SECONDS);
  };

  /**
   * Returns how long the hourly limit delays the delivery; 0 if it does not, and then its copies are counted. A group is forwarded as a
   * whole or waits.
   */
  const countWaitSeconds = (row: ClaimedForwardRow, used: Map<string, number>): number => {
    if (limitPerHour === 0) return 0;
    const before = used.get(row.workspace_id) ?? row.used;
    const copies = countCopies(row);
    // A group larger than the limit is forwarded when the user forwarded nothing else within the hour.
    if (before > 0 && before + copies > limitPerHour)
      return Math.max(LEAST_WAIT_SECONDS, row.frees_in_seconds ?? LEAST_WAIT_SECONDS);
    used.set(row.workspace_id, before + copies);
    return 0;
  };

  /** Takes the rest of a batch, one delivery after the other, and skips users that another lane is processing. */
  const takeLane = async ({ left, busy, used, mayBegin, signal }: Batch): Promise<void> => {
    for (;;) {
      if (!mayBegin()) {
        await releaseForwards(context, left.splice(0));
        return;
      }
      const at = left.findIndex(({ workspace_id: workspaceId }) => !busy.has(workspaceId));
      const [row] = at === -1 ? [] : left.splice(at, 1);
      if (row === undefined) return;
      busy.add(row.workspace_id);
      const waitSeconds = countWaitSeconds(row, used);
      const end = deliveryMetrics.forwardSeconds.startTimer();
      try {
        await (waitSeconds > 0 ? postponeForward(context, row, waitSeconds, waitReason) : forwardOne(row));
        end({ outcome: waitSeconds > 0 ? 'postponed' : 'done' });
      } catch (error) {
        end({ outcome: 'failed' });
        actorMetrics.retries.inc({ queue: 'forward' });
        if (isTransient(error)) throw error;
        // Interrupted by the stop, which is not a fault.
        if (signal.aborted) await releaseForwards(context, [row]);
        else {
          if (error instanceof TimeLimitExceeded)
            left.splice(
              0,
              left.length,
              ...left.filter(({ workspace_id: workspaceId }) => workspaceId !== row.workspace_id),
            );
          await deferOrSetAside(row, error);
        }
      } finally {
        busy.delete(row.workspace_id);
      }
    }
  };

  return {
    async forward(run) {
      const claimedAt = performance.now();
      const rows = await claimForwards(context, limitPerHour);
      if (rows.length > 0) fault('forward.claimed');
      const batch: Batch = {
        left: [...rows],
        busy: new Set(),
        used: new Map(),
        signal: run.signal,
        mayBegin: () => !run.isStopping() && performance.now() <= claimedAt + LEASE_SECONDS * 1_000 - LEASE_MARGIN_MS,
      };
      const lanes = await Promise.allSettled(Array.from({ length: FORWARD_THREADS }, () => takeLane(batch)));
      for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason;
      return rows.length;
    },
  };
}

/** State shared by the lanes that work in parallel. */
interface Batch {
  /** deliveries that were not started */
  left: ClaimedForwardRow[];
  /** users whose deliveries are in progress: slow mail of one user blocks one lane and no other */
  busy: Set<string>;
  /** copies of users within the hour */
  used: Map<string, number>;
  mayBegin: () => boolean;
  /** aborted when work in progress must end */
  signal: AbortSignal;
}

interface Prepared {
  config: ForwardConfig;
  senderDomain: string;
  work: ForwardWork;
}

function toConfig(row: ClaimedForwardRow): { config: ForwardConfig } | { refusal: string } {
  if (row.endpoint_type === null) return { refusal: 'Endpoint not found' };
  if (row.is_active !== true) return { refusal: 'Endpoint is inactive' };
  if (row.endpoint_type === 'webhook') return { refusal: 'Endpoint does not forward any more' };
  try {
    return { config: readForwardConfig(row.config) };
  } catch {
    return { refusal: 'Endpoint configuration cannot be used' };
  }
}

function countCopies(row: ClaimedForwardRow): number {
  const endpoint = toConfig(row);
  return 'refusal' in endpoint ? 0 : endpoint.config.addresses.length;
}

/** The addresses, each with the reason if nothing can be sent to it, so that the delivery shows why. */
function listRecipients({ addresses, unusable }: ForwardConfig): Omit<ForwardRecord['recipients'][number], 'id'>[] {
  const findDomain = (address: string) => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return [
    ...addresses.map((address) => ({ address, domain: findDomain(address), refusal: null })),
    ...unusable.map((address) => ({
      address,
      domain: findDomain(address),
      refusal: 'Not an address that mail can be sent to',
    })),
  ];
}
