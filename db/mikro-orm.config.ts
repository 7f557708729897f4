import { defineConfig, type Options } from '@mikro-orm/postgresql';
import { entities } from './entities/list.ts';

/** Options of MikroORM for the database at that URL. */
export function ormOptions(url: string): Options {
  return defineConfig({
    clientUrl: url,
    entities,
    pool: { min: 0, max: 3 },
    // It would write coloured lines between the JSON lines of the log.
    logger: () => undefined,
    forceUtcTimezone: true,
    discovery: { warnWhenNoEntities: false },
  });
}
