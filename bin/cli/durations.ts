import { InvalidArgumentError } from 'commander';

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `90`, `90s`, `5m`, `2h` or `1d`. Returns seconds. Throws InvalidArgumentError. */
export function parseSeconds(text: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(text) ?? [];
  const seconds = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('Use seconds, or a number with s, m, h or d, such as 5m.');
}

/** Parses a time (ISO 8601, local unless it names a zone), or a duration before now. Throws InvalidArgumentError. */
export function parsePast(text: string): Date {
  if (/^\d+(?:\.\d+)?[smhd]$/.test(text)) return new Date(Date.now() - parseSeconds(text) * 1_000);
  const at = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(at.getTime())) return at;
  throw new InvalidArgumentError('Use a time such as 2027-01-31T09:00, or a duration before now, such as 5m.');
}
