import { randomBytes } from 'node:crypto';
import { dropHeld, holdDueOutgoing, listHeld, sendHeld } from '../db/queries/sending/held-outgoing.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/reach-database.ts';

const { words, options } = readArguments({
  words: 1,
  options: { email: { type: 'string' } },
  usage: `Usage: npx node bin/held.ts list
       npx node bin/held.ts send|drop [--email ID]
       npx node bin/held.ts hold

Manages outgoing mail that is held because it may have been sent after a backup was made.

list prints one JSON line per recipient.
send puts them back into the queue. Mail that was already sent arrives twice, with the same Message-ID.
drop marks them as failed without a report to their senders.
hold holds all that is due, as bin/restore.ts does: for a database that was restored by other means, before the service
starts.

  --email ID   only this email

All but hold work whether or not the service runs.`,
});

const [command] = words;
if (command !== 'list' && command !== 'send' && command !== 'drop' && command !== 'hold')
  refuseUsage(`Unknown command '${command}'`);
if ((command === 'list' || command === 'hold') && options['email'] !== undefined)
  refuseUsage('--email applies to send and drop only');
const config = readConfigOrRefuse();
const emailId = options['email'] ?? null;

try {
  const lines = await onDatabase(config, 'held', ({ url, isServed }) => {
    if (command === 'hold' && isServed === true) throw new Error('hold is for a service that is stopped');
    return asOwner(
      url,
      'held',
      async (database): Promise<object[]> => {
        if (command === 'list') return listHeld(database);
        if (command === 'hold') return [await holdDueOutgoing(database, randomBytes, () => new Date())];
        return [command === 'send' ? await sendHeld(database, emailId) : await dropHeld(database, emailId)];
      },
      'unlimited',
    );
  });
  for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}
