import { z } from 'zod';

/*
 * The life of a part as its supervisor sees it, in messages over the IPC channel:
 *
 *   loading -> loaded -> begun -> (prepared ->) ready -> stopping (SIGTERM) -> ended
 *
 * `loaded`: its modules are loaded, and it waits for `begin`. `prepared`: the database is migrated, so that other parts can begin. A part
 * that cannot start for a reason that the operator can fix says `refused`. In every state it sends beats while its event loop works.
 */

/** What a part works with. */
const begin = z.object({
  postroom: z.literal('begin'),
  /** connection string of the owner of the database */
  databaseUrl: z.string(),
  /** base64url */
  secretKey: z.string(),
  /** real path of DATA_DIR; null with an external database */
  directory: z.string().nullable(),
  /** the folder whose disk holds the mail; null when an external database stores it */
  mailDirectory: z.string().nullable(),
  /** the Unix socket of the mail process' bus; null with NATS */
  busSocket: z.string().nullable(),
  /** the name by which the part claims rows */
  claimant: z.string(),
  /** the names of its dead predecessors */
  deadClaimants: z.array(z.string()),
  /** whether this is the start of the service, not a restart of the part */
  isFirst: z.boolean(),
});
export type Begin = z.infer<typeof begin>;

/** From the supervisor. `database`: what its supervision of PostgreSQL found. `leave`: say that you are not ready, because you will be stopped. */
export const toPart = z.discriminatedUnion('postroom', [
  begin,
  z.object({ postroom: z.literal('database'), change: z.enum(['ended', 'restarted']) }),
  z.object({ postroom: z.literal('leave') }),
]);
export type ToPart = z.infer<typeof toPart>;

/** From a part. */
export const fromPart = z.discriminatedUnion('postroom', [
  z.object({ postroom: z.literal('beat') }),
  z.object({ postroom: z.literal('loaded') }),
  z.object({ postroom: z.literal('prepared') }),
  z.object({ postroom: z.literal('ready') }),
  z.object({ postroom: z.literal('refused'), reason: z.string() }),
]);
export type FromPart = z.infer<typeof fromPart>;

/** How often a part sends a beat. Milliseconds. */
export const BEAT_MS = 5_000;
