import { readArguments, refuseUsage } from './runner/command-line.ts';
import { actorNames, createActorContext, isActorName, startActor } from './runner/processes/actors.ts';
import { runSplitProcess } from './runner/processes/split-process.ts';

const { words } = readArguments({
  words: 1,
  usage: `Usage: npx node bin/actor.ts NAME

Runs one actor (${actorNames.join(', ')}) as a process of its own; any number may run.
Wants DATABASE_URL (without user and password), NATS_URL and SECRET_KEY.`,
});
const [name = ''] = words;
if (!isActorName(name)) refuseUsage(`Unknown actor '${name}'`);

/** Connections to PostgreSQL of one actor; 20 in all on two cores (guarantees.md §5). */
const CONNECTIONS = 5;
/** Longest drain of an actor (actors/actor.ts has 8 s and a moment to write down). */
const DRAIN_LIMIT_MS = 9_700;

await runSplitProcess({ name, roles: ['postroom_actor'], connections: CONNECTIONS }, async (process) => {
  const { closers } = process;
  const actor = await startActor(name, createActorContext(process), { ...process, mailDirectory: null });
  closers.add(name, () => actor.stop(), DRAIN_LIMIT_MS);
});
