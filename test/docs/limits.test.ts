import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../bin/config.ts';
import { repository } from '../support/runner.ts';

interface LimitRow {
  what: string;
  per: string;
  limit: string;
  setting: string;
  beyond: string;
  constant: string;
}

const page = readFileSync(path.join(repository, 'docs/limits.md'), 'utf8');
const rows: LimitRow[] = page
  .split('\n')
  .filter((line) => /^\| (?!What |-)/.test(line))
  .map((line) => {
    const [what = '', per = '', limit = '', setting = '', beyond = '', constant = ''] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { what, per, limit, setting, beyond, constant };
  });

/** Of a limit on the page; times are milliseconds in the code. */
const UNITS: Readonly<Record<string, number>> = { '': 1, bytes: 1, MB: 1_000_000, s: 1_000 };

function readNumber(limit: string): number {
  const [, digits = '', unit = '-'] = /^([\d,]+) ?(\w*)$/.exec(limit) ?? [];
  return Number(digits.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN);
}

async function readValue(constant: string): Promise<unknown> {
  const [, name = '', file = ''] = /^`([\w.]+)` in `([\w./-]+)`$/.exec(constant) ?? [];
  let value: unknown = await import(path.join(repository, file));
  for (const part of name.split('.')) value = (value as Record<string, unknown>)[part];
  return value;
}

test('the page has rows, each with what it limits, per what, and what happens beyond it', () => {
  expect(rows.length).toBeGreaterThan(40);
  for (const { what, per, beyond } of rows) for (const cell of [what, per, beyond]) expect(cell).not.toBe('');
});

describe.each(rows.filter(({ constant }) => constant !== ''))('$what per $per', ({ limit, constant }) => {
  test(`is ${limit}, as the code says`, async () => {
    expect(await readValue(constant)).toBe(readNumber(limit));
  });
});

test.each(rows.filter(({ setting }) => setting !== ''))('the default of $setting is $limit', ({ limit, setting }) => {
  const config = readConfig({});
  const defaults: Readonly<Record<string, number>> = {
    HTTP_MAX_CONNECTIONS: config.httpConnections,
    HTTP_MAX_CONNECTIONS_PER_ADDRESS: config.httpConnectionsPerAddress,
    HTTP_CONNECTIONS_PER_MINUTE: config.httpConnectionsPerMinute,
    STREAM_LIMIT_PER_USER: config.streamLimitPerUser,
    SMTP_MAX_CONNECTIONS: config.smtpLimits.connections,
    SMTP_MAX_CONNECTIONS_PER_ADDRESS: config.smtpLimits.connectionsPerAddress,
  };
  expect(defaults[setting.replaceAll('`', '')]).toBe(readNumber(limit));
});
