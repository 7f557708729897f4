import { startDeliveryActor } from '../../../actors/delivery/actor.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { testActorContext } from '../../support/stages/actor-context.ts';
import { LOOPBACK_NETWORKS, SECRET_KEY } from './delivering.ts';

/** A delivery actor in a process of its own, which ends at the fault point that it is told; arguments: database URL, name, point. */
const [url = '', name = '', point = ''] = process.argv.slice(2);
/** The status of a process that was killed by signal 9. */
const KILLED_STATUS = 137;

const database = openDatabase({
  url,
  role: 'postroom_actor',
  poolSize: 4,
  applicationName: name,
  onError: () => undefined,
});
await startDeliveryActor(testActorContext(database, name), {
  publicUrl: 'https://mail.example.test',
  allowedPrivateNetworks: LOOPBACK_NETWORKS,
  refusedPorts: [],
  secretKey: SECRET_KEY,
  fault: (reached) => {
    if (reached === point) process.exit(KILLED_STATUS);
  },
});
