import { dropHeld, listHeld, sendHeld } from '../db/queries/sending/held-outgoing.ts';
import { readArguments, readConfigOrRefuse, refuseToStart, refuseUsage } from './runner/command-line.ts';
import { asOwner, onDatabase } from './runner/on-database.ts';

const { words, options } = readArguments({
  words: 1,
  options: { email: { type: 'string' } },
  usage: `Usage: npx node bin/held.ts list
       npx node bin/held.ts send|drop [--email ID]

Outgoing mail that bin/restore.ts holds, because it may have been sent after the backup was made.

list prints one line of JSON for each recipient.
send puts them back into the queue; what did arrive before arrives twice, with the same Message-ID.
drop gives them up: they are failed, and no report goes to their senders.

  --email ID   of this email only

It works beside a running service and without one.`,
});

const [command] = words;
if (command !== 'list' && command !== 'send' && command !== 'drop') refuseUsage(`Unknown command '${command}'`);
if (command === 'list' && options['email'] !== undefined) refuseUsage('--email is for send and drop');
const config = readConfigOrRefuse();
const emailId = options['email'] ?? null;

try {
  const lines = await onDatabase(config, 'held', ({ url }) =>
    asOwner(
      url,
      'held',
      async (database): Promise<object[]> => {
        if (command === 'list') return await listHeld(database);
        return [command === 'send' ? await sendHeld(database, emailId) : await dropHeld(database, emailId)];
      },
      'unlimited',
    ),
  );
  for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}
