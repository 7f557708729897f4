import { DAY_MS } from '../../../../core/shared/durations.ts';

/** Lifetime of a key. */
export const expiries = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'date', label: 'On a date' },
] as const;

/**
 * Returns when the key expires, counted from `now`; null: never. A date (`2027-01-31`) ends at midnight in the browser's time zone. Throws
 * RangeError.
 */
export function expiryOf(choice: string, date: string, now: Date = new Date()): string | null {
  if (choice === 'never') return null;
  if (choice === 'date') return new Date(`${date}T23:59:59.999`).toISOString();
  return new Date(now.getTime() + Number(choice) * DAY_MS).toISOString();
}

/** Returns why a date is not a valid expiry date; null if it is. */
export function dateFault(date: string, now: Date = new Date()): string | null {
  const end = Date.parse(`${date}T23:59:59.999`);
  if (Number.isNaN(end)) return 'Enter a date.';
  return end <= now.getTime() ? 'Enter a date in the future.' : null;
}

/** Days before its expiry from which a key is highlighted, as in the findings of the overview. */
const SOON_DAYS = 7;

/** Returns whether the key expires soon; false for a key without an expiry date. */
export function endsSoon(expiresAt: string | null, now: Date = new Date()): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - now.getTime() < SOON_DAYS * DAY_MS;
}
