import { acceptedKeys } from '../core/shared/previous-key.ts';
import { replaceLoginPasswords } from '../db/connection/logins.ts';
import { rotateSecretKey } from '../db/queries/upkeep/rotate-secret.ts';
import { makeFault } from './config.ts';
import { readArguments, readConfigOrRefuse, refuseToStart } from './runner/command-line.ts';
import { drawRandom } from './runner/random-bytes.ts';
import { asOwner, onDatabase } from './runner/reach-database.ts';

readArguments({
  usage: `Usage: npx node bin/rotate-secret.ts

Encrypts everything that SECRET_KEY_PREVIOUS encrypted with SECRET_KEY, and sets the passwords of the database
roles that follow from SECRET_KEY, while the service runs. First restart all processes with both variables, so that
they read both. It can be stopped at any time; run again, it continues.
Then remove SECRET_KEY_PREVIOUS when links in sent mail need no longer work (docs/operate.md).

It uses the database of DATABASE_URL, or else of DATA_DIR (default ./data).`,
});

const config = readConfigOrRefuse();
const fault = makeFault(config);
if (config.secretKey === null || acceptedKeys(config.secretKey).length < 2)
  refuseToStart('SECRET_KEY and SECRET_KEY_PREVIOUS are required');

try {
  const counts = await onDatabase(config, 'rotate-secret', ({ url, secretKey }) =>
    asOwner(url, 'rotate-secret', async (database) => {
      const counts = await rotateSecretKey(database, {
        secretKey,
        random: drawRandom,
        rewritten: () => fault('secret.rewritten'),
      });
      // Last: it refuses a key that no process was started with.
      await replaceLoginPasswords(url, secretKey);
      return counts;
    }),
  );
  process.stdout.write(`${JSON.stringify({ rewritten: counts })}\n`);
} catch (error) {
  refuseToStart((error as Error).message);
}
