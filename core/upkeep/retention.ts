/** How long mail is kept, in whole days; null: for ever, though nothing outlives what it hangs on. */
export interface Retention {
  /** bytes as they came or went: the raw message, and with it attachments */
  rawDays: number | null;
  /** text, HTML, preview, and the words that searches find them by */
  bodyDays: number | null;
  /** all of it: the email and everything that is known of it */
  metadataDays: number | null;
}

/** Nothing is removed. */
export const KEEP_FOR_EVER: Retention = { rawDays: null, bodyDays: null, metadataDays: null };

/** A hundred years. */
export const MOST_RETENTION_DAYS = 36_500;

/** Why these cannot be meant, in words; null: they can. */
export function checkRetention({ rawDays, bodyDays, metadataDays }: Retention): string | null {
  for (const days of [rawDays, bodyDays, metadataDays])
    if (days !== null && (!Number.isInteger(days) || days < 1 || days > MOST_RETENTION_DAYS))
      return `Days must be whole numbers from 1 to ${MOST_RETENTION_DAYS}`;
  if (isLonger(rawDays, bodyDays)) return 'Raw messages cannot be kept longer than bodies';
  if (isLonger(bodyDays, metadataDays)) return 'Bodies cannot be kept longer than metadata';
  if (isLonger(rawDays, metadataDays)) return 'Raw messages cannot be kept longer than metadata';
  return null;
}

function isLonger(one: number | null, other: number | null): boolean {
  return one !== null && other !== null && one > other;
}

/** From when on what is older is removed; null: nothing is. */
export interface RetentionCutoffs {
  rawBefore: Date | null;
  bodiesBefore: Date | null;
  metadataBefore: Date | null;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What of the mail is too old now. Bodies end with the metadata at the latest, raw messages with the bodies. */
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

/** Whether anything is ever removed. */
export function isLimited(retention: Retention): boolean {
  return Object.values(retention).some((days) => days !== null);
}
