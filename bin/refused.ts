import { REFUSAL_DAYS } from '../core/screening/door/refusal.ts';
import { listAllRefusals } from '../db/queries/screening/refusal-list.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/reach-database.ts';

const DEFAULT_LIMIT = 1_000;
const MAX_LIMIT = 100_000;

const { options } = readArguments({
  words: 0,
  options: { search: { type: 'string' }, limit: { type: 'string' } },
  usage: `Usage: npx node bin/refused.ts [--search TEXT] [--limit NUMBER]

Lists mail that was refused before it was accepted in the last ${REFUSAL_DAYS} days, of all workspaces and of none,
one JSON line each, newest first. The texts of clients are what they sent: do not trust them.

  --search TEXT    part of the recipient, the sender, or the name or address of the client
  --limit NUMBER   at most so many, ${DEFAULT_LIMIT} by default

It works whether or not the service runs.`,
});

const limit = Number(options['limit'] ?? DEFAULT_LIMIT);
if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
  refuseUsage(`--limit takes a number from 1 to ${MAX_LIMIT}`);
const config = readConfigOrRefuse();

try {
  const lines = await onDatabase(config, 'refused', ({ url }) =>
    asOwner(url, 'refused', (database) => listAllRefusals(database, options['search'] ?? null, limit), 'unlimited'),
  );
  for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}
