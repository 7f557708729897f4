import { startSchedulingActor } from '../../../actors/scheduling/actor.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';

/** A scheduling actor in a process of its own, which ends at the fault point that it is told; arguments: database URL, point. */
const [url = '', point = ''] = process.argv.slice(2);
/** The status of a process that was killed by signal 9. */
const KILLED_STATUS = 137;

const database = openDatabase({
  url,
  role: 'postroom_actor',
  poolSize: 4,
  applicationName: 'scheduling',
  onError: () => undefined,
});
await startSchedulingActor(testActorContext(database), {
  dnsServers: [],
  mailHostname: 'mx.postroom.test',
  fault: (reached) => {
    if (reached === point) process.exit(KILLED_STATUS);
  },
});
