import { defineConfig, type Options } from '@mikro-orm/postgresql';
import { entities } from './entities/list.ts';

/** Options of MikroORM for the database at that URL; role as in openDatabase, null for the URL's own. */
export function ormOptions(url: string, role: string | null = null): Options {
  return defineConfig({
    clientUrl: url,
    entities,
    pool: { min: 0, max: 3 },
    // It would write coloured lines between the JSON lines of the log.
    logger: () => undefined,
    driverOptions: role === null ? {} : { options: `-c role=${role}` },
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
  });
}
