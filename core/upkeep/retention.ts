import { DAY_MS } from '../shared/durations.ts';

/** How long mail is kept, in whole days; null: forever, but no longer than what it belongs to. */
export interface Retention {
  /** the raw message and its attachments */
  rawDays: number | null;
  /** text, HTML, preview, and the words in the search index */
  bodyDays: number | null;
  /** the whole email and everything known about it */
  metadataDays: number | null;
}

/** Nothing is removed. */
export const KEEP_FOREVER: Retention = { rawDays: null, bodyDays: null, metadataDays: null };

/** Maximum: a hundred years. */
export const MAX_RETENTION_DAYS = 36_500;

/** Returns why the values are invalid, for the user; null when they are valid. */
export function checkRetention({ rawDays, bodyDays, metadataDays }: Retention): string | null {
  for (const days of [rawDays, bodyDays, metadataDays])
    if (days !== null && (!Number.isInteger(days) || days < 1 || days > MAX_RETENTION_DAYS))
      return `Days must be whole numbers from 1 to ${MAX_RETENTION_DAYS}`;
  if (isLonger(rawDays, bodyDays)) return 'Raw messages cannot be kept longer than bodies';
  if (isLonger(bodyDays, metadataDays)) return 'Bodies cannot be kept longer than metadata';
  if (isLonger(rawDays, metadataDays)) return 'Raw messages cannot be kept longer than metadata';
  return null;
}

function isLonger(one: number | null, other: number | null): boolean {
  return one !== null && other !== null && one > other;
}

/** Mail older than these instants is removed; null: none is. */
export interface RetentionCutoffs {
  rawBefore: Date | null;
  bodiesBefore: Date | null;
  metadataBefore: Date | null;
}

/** Returns the cutoffs. Bodies are removed with the metadata at the latest, and raw messages with the bodies. */
export function retentionCutoffs({ rawDays, bodyDays, metadataDays }: Retention, now: Date): RetentionCutoffs {
  const before = (...days: (number | null)[]) => {
    const least = Math.min(...days.map((one) => one ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(least) ? new Date(now.getTime() - least * DAY_MS) : null;
  };
  return {
    rawBefore: before(rawDays, bodyDays, metadataDays),
    bodiesBefore: before(bodyDays, metadataDays),
    metadataBefore: before(metadataDays),
  };
}

/** Returns whether anything is ever removed. */
export function isLimited(retention: Retention): boolean {
  return Object.values(retention).some((days) => days !== null);
}
