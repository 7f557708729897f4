/** How long a key shall open the account. */
export const expiries = [
  { value: 'never', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: 'date', label: 'On a date' },
] as const;

const DAY_MS = 86_400_000;

/** When it ends, seen from `now`; null: never. A date (`2027-01-31`) is taken to its end, by the clock of the browser. Throws RangeError. */
export function expiryOf(choice: string, date: string, now: Date = new Date()): string | null {
  if (choice === 'never') return null;
  if (choice === 'date') return new Date(`${date}T23:59:59.999`).toISOString();
  return new Date(now.getTime() + Number(choice) * DAY_MS).toISOString();
}

/** Why a date cannot be the end of a key; null: it can. */
export function dateFault(date: string, now: Date = new Date()): string | null {
  const end = Date.parse(`${date}T23:59:59.999`);
  if (Number.isNaN(end)) return 'Enter a date.';
  return end <= now.getTime() ? 'Enter a date in the future.' : null;
}

/** A key whose time is over within these days is pointed out, as in the things to fix of the overview. */
const SOON_DAYS = 7;

/** Whether its time is nearly over. Null: it has none. */
export function endsSoon(expiresAt: string | null, now: Date = new Date()): boolean {
  return expiresAt !== null && Date.parse(expiresAt) - now.getTime() < SOON_DAYS * DAY_MS;
}
