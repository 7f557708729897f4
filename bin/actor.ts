import { readArguments, refuseUsage } from './runner/command-line.ts';
import { actorNames, createActorContext, isActorName, startActor } from './runner/processes/actors.ts';
import { runSplitProcess } from './runner/processes/split-process.ts';

const { words } = readArguments({
  words: 1,
  usage: `Usage: npx node bin/actor.ts NAME

Runs one actor (${actorNames.join(', ')}) as a separate process. You can run any number of them.
Requires DATABASE_URL (without user and password), NATS_URL and SECRET_KEY.`,
});
const [name = ''] = words;
if (!isActorName(name)) refuseUsage(`Unknown actor '${name}'`);

/** PostgreSQL connections of one actor process. */
const CONNECTIONS = 5;
/** Maximum time to drain an actor. Milliseconds. `actors/actor.ts` allows 8 s plus the time to record outcomes. */
const DRAIN_LIMIT_MS = 9_700;

await runSplitProcess({ name, roles: ['postroom_actor'], connections: CONNECTIONS }, async (process) => {
  const { closers } = process;
  const actor = await startActor(name, createActorContext(process), { ...process, mailDirectory: null });
  closers.add(name, () => actor.stop(), DRAIN_LIMIT_MS);
});
