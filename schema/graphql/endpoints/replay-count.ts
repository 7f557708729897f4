import { countReplayed, MAX_REPLAY_COUNTED } from '../../../operations/endpoints/replays.ts';
import { builder } from '../builder.ts';
import { EndpointInterface } from '../nodes.ts';
import { ReplayStatus } from './endpoint-actions.ts';

/** Deliveries are looked at one by one. */
const COST = 20;

builder.interfaceField(EndpointInterface, 'replayCount', (t) =>
  t.int({
    description: `Number of emails that replayDeliveries would deliver again, in as many calls as needed. Counting stops at ${MAX_REPLAY_COUNTED}. Pass the \`until\` of the last call to get the number that is left.`,
    complexity: COST,
    args: {
      since: t.arg({ type: 'DateTime', required: true, description: 'Start of the period.' }),
      until: t.arg({ type: 'DateTime', description: 'End of the period. Null means now.' }),
      status: t.arg({ type: ReplayStatus, defaultValue: 'failed', description: 'Which deliveries to replay.' }),
    },
    resolve: ({ id }, { since, until, status }, { reads }) =>
      countReplayed(reads, id, { since, until: until ?? null, status: status ?? 'failed' }),
  }),
);
