import { dropHeld, listHeld, sendHeld } from '../db/queries/sending/held-outgoing.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/reach-database.ts';

const { words, options } = readArguments({
  words: 1,
  options: { email: { type: 'string' } },
  usage: `Usage: npx node bin/held.ts list
       npx node bin/held.ts send|drop [--email ID]

Manages outgoing mail that bin/restore.ts held because it may have been sent after the backup.

list prints one JSON line per recipient.
send puts them back into the queue. Mail that was already sent arrives twice, with the same Message-ID.
drop marks them as failed without a report to their senders.

  --email ID   only this email

It works whether or not the service runs.`,
});

const [command] = words;
if (command !== 'list' && command !== 'send' && command !== 'drop') refuseUsage(`Unknown command '${command}'`);
if (command === 'list' && options['email'] !== undefined) refuseUsage('--email applies to send and drop only');
const config = readConfigOrRefuse();
const emailId = options['email'] ?? null;

try {
  const lines = await onDatabase(config, 'held', ({ url }) =>
    asOwner(
      url,
      'held',
      async (database): Promise<object[]> => {
        if (command === 'list') return listHeld(database);
        return [command === 'send' ? await sendHeld(database, emailId) : await dropHeld(database, emailId)];
      },
      'unlimited',
    ),
  );
  for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}
