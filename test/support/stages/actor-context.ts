import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import type { ActorContext } from '../../../actors/actor.ts';
import { createInProcessBus } from '../../../actors/bus/in-process.ts';
import { createByteStore } from '../../../db/byte-store.ts';
import type { Database } from '../../../db/connection/database.ts';

/** What an actor is given, over a test database and a bus of its own. */
export function testActorContext(database: Database, name = `test-${randomBytes(4).toString('hex')}`): ActorContext {
  const log = pino({ level: 'silent' });
  return {
    bus: createInProcessBus(),
    database,
    bytes: createByteStore({ database, log }),
    directDelivery: { current: null },
    log,
    now: () => new Date(),
    random: (count) => randomBytes(count),
    name,
  };
}
