import { domainCheckShape } from '../../core/domains/domain-check.ts';
import type { Database } from '../../db/connection/database.ts';
import { listHeld } from '../../db/queries/sending/held-outgoing.ts';
import { readBacklog } from '../../db/queries/upkeep/backlog.ts';
import { type Finding, toFindings } from './finding.ts';

const domains = toFindings('domains');
const work = toFindings('work');

/** Limits of the waiting time of due work. Seconds. A retry that is scheduled for later is not due. */
const OLDEST_SECONDS = { warn: 300, fail: 3_600 };
const MAX_NAMED = 20;
/** Every domain is checked at least once a day. */
const STALE_HOURS = 48;

/** Checks what is waiting in the database and for how long, dead rows, and the latest DNS check of each domain. */
export async function checkWork(database: Database): Promise<Finding[]> {
  return [...(await checkDomains(database)), ...(await checkBacklog(database)), await checkHeld(database)];
}

async function checkBacklog(database: Database): Promise<Finding[]> {
  const queues = await readBacklog(database);
  const findings: Finding[] = [];
  for (const { actor, queue, rowCount, oldestSeconds } of queues) {
    if (rowCount === 0 || oldestSeconds < OLDEST_SECONDS.warn) continue;
    const detail = `${rowCount} waiting, the oldest for ${spanInWords(oldestSeconds)}`;
    const fix = `Check that the ${actor} actor is running, and read its log. If it cannot keep up, run another one`;
    const name = `${actor}: ${queue}`;
    findings.push(oldestSeconds < OLDEST_SECONDS.fail ? work.warn(name, detail, fix) : work.fail(name, detail, fix));
  }
  if (findings.length === 0) {
    const waiting = queues.reduce((sum, { rowCount }) => sum + rowCount, 0);
    findings.push(work.ok('backlog', waiting === 0 ? 'nothing waiting' : `${waiting} rows waiting, none for long`));
  }
  const dead = queues.filter(({ deadCount }) => deadCount > 0);
  if (dead.length === 0) return [...findings, work.ok('dead rows', 'none')];
  const detail = dead.map(({ actor, queue, deadCount }) => `${deadCount} of ${actor} (${queue})`).join(', ');
  const fix = 'npx node bin/dead.ts list shows the reasons; npx node bin/dead.ts replay retries them';
  return [...findings, work.warn('dead rows', detail, fix)];
}

async function checkHeld(database: Database): Promise<Finding> {
  const held = await listHeld(database);
  if (held.length === 0) return work.ok('held mail', 'none');
  return work.warn(
    'held mail',
    `${held.length} recipients have waited since a restore`,
    'npx node bin/held.ts list shows them. Use send or drop to release them',
  );
}

async function checkDomains(database: Database): Promise<Finding[]> {
  const { rows } = await database.pool.query<{ name: string; dns_check: unknown; hours: number | null }>(
    `select name, dns_check, extract(epoch from postroom_now() - checked_at)::float8 / 3600 as hours from domain
     where status = 'verified' and not is_trusted order by name`,
  );
  if (rows.length === 0) return [domains.skip('records', 'no domain is verified by DNS yet')];
  const wrong = rows.flatMap((row) => judgeDomain(row));
  const good = rows.length - new Set(wrong.map(({ name }) => name)).size;
  const named = wrong.slice(0, MAX_NAMED);
  if (wrong.length > named.length)
    named.push(
      domains.warn(
        'more',
        `${wrong.length - named.length} more findings like these`,
        'Open the domains in the dashboard',
      ),
    );
  return good > 0
    ? [domains.ok('records', `${good} of ${rows.length} verified domains have all they need`), ...named]
    : named;
}

function judgeDomain({
  name,
  dns_check: stored,
  hours,
}: {
  name: string;
  dns_check: unknown;
  hours: number | null;
}): Finding[] {
  const check = domainCheckShape.safeParse(stored).data;
  if (check === undefined || hours === null)
    return [domains.warn(name, 'was not looked at yet', 'Is the scheduling actor running?')];
  if (hours > STALE_HOURS)
    return [
      domains.warn(name, `was last looked at ${Math.floor(hours / 24)} days ago`, 'Is the scheduling actor running?'),
    ];
  const missing = check.records.filter(({ isSeen }) => !isSeen);
  if (missing.length === 0) return [];
  const detail = missing.map(({ type, name: record, error }) => `${type} ${record}: ${error ?? 'not seen'}`).join('; ');
  const fix = `Publish ${missing.map((record) => `${record.type} ${record.name} ${short(record.value)}`).join('; ')}`;
  // Without an MX no mail arrives; the other records only improve delivery.
  return [
    missing.some(({ type }) => type === 'MX') ? domains.fail(name, detail, fix) : domains.warn(name, detail, fix),
  ];
}

function short(value: string): string {
  return value.length > 60 ? `${value.slice(0, 57)}...` : value;
}

function spanInWords(seconds: number): string {
  if (seconds < 7_200) return `${Math.round(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} hours` : `${Math.round(seconds / 86_400)} days`;
}
