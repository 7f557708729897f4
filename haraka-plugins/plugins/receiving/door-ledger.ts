import type { Logger } from 'pino';
import { type DoorReason, type DoorRefusal, toStoredRefusal } from '../../../core/screening/door/refusal.ts';
import type { Bus } from '../../../schema/messages.ts';
import { smtpMetrics } from '../../../schema/metrics.ts';

/** Counts refusals, and has them stored now and then. */
export interface DoorLedger {
  note(refusal: DoorRefusal): void;
  /** Has what was noted stored. Never rejects. */
  flush(): Promise<void>;
}

/** How long refusals are gathered before they are stored together; milliseconds. */
const GATHER_MS = 1_000;
/** Kinds of refusals that wait at once; of further ones, only the workspace and the reason are kept. */
const MAX_WAITING = 800;
/** Kinds beyond which further ones are only in the log and the metrics. */
const MAX_MERGED = 1_000;

/** Creates the ledger of one process. What it stores is lost when the process is killed within a second. */
export function createDoorLedger(bus: Bus, log: Logger): DoorLedger {
  let waiting = new Map<string, DoorRefusal>();
  let timer: NodeJS.Timeout | null = null;
  let storing: Promise<void> = Promise.resolve();

  const add = (refusal: DoorRefusal): void => {
    const { id } = toStoredRefusal(refusal);
    const present = waiting.get(id);
    if (present !== undefined) waiting.set(id, { ...refusal, times: present.times + refusal.times });
    else if (waiting.size < MAX_WAITING) waiting.set(id, refusal);
    else if (refusal.network !== null) add({ ...refusal, network: null, sender: null, recipient: null, helo: null });
    else if (waiting.size < MAX_MERGED) waiting.set(id, refusal);
  };

  const writeLog = ({ reason, address, helo, sender, recipient, reply }: DoorRefusal): void =>
    log.info({ event: 'smtp.refused', reason, remoteAddress: address, helo, sender, recipient, reply });

  const store = async (): Promise<void> => {
    const refusals = [...waiting.values()];
    waiting = new Map();
    if (refusals.length === 0) return;
    try {
      await bus.ask('receiving.refusals.keep', {
        refusals: refusals.map((refusal) => ({ ...refusal, at: refusal.at.toISOString() })),
      });
    } catch (error) {
      // They wait for the next refusal, merged with it.
      log.debug({ event: 'smtp.refusals-kept', err: error, count: refusals.length });
      for (const refusal of refusals) add(refusal);
    }
  };

  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    storing = storing.then(store);
    return storing;
  };

  return {
    note(refusal) {
      smtpMetrics.refusals.inc({ reason: refusal.reason });
      const { size } = waiting;
      add(refusal);
      // Of the same within a second, the first.
      if (waiting.size > size) writeLog(refusal);
      timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
    },
    flush,
  };
}

/** The reason of a refused recipient, by its reply. */
export function nameRecipientReason(code: number, workspaceId: string | undefined): DoorReason {
  if (code < 500) return 'unavailable';
  return workspaceId === undefined ? 'unknown_domain' : 'unknown_recipient';
}
