import { countReplayed, MAX_REPLAY_COUNTED } from '../../../operations/endpoints/replays.ts';
import { builder } from '../builder.ts';
import { EndpointInterface } from '../nodes.ts';
import { ReplayStatus } from './endpoint-actions.ts';

/** Deliveries are looked at one by one. */
const COST = 20;

builder.interfaceField(EndpointInterface, 'replayCount', (t) =>
  t.int({
    description: `How many emails replayDeliveries would deliver again, in as many calls as that takes: at most ${MAX_REPLAY_COUNTED}, which means that many or more. With the \`until\` of its last answer, how many are left.`,
    complexity: COST,
    args: {
      since: t.arg({ type: 'DateTime', required: true, description: 'Deliveries made from then on.' }),
      until: t.arg({ type: 'DateTime', description: 'Deliveries made before then; null: until now.' }),
      status: t.arg({ type: ReplayStatus, defaultValue: 'failed', description: 'Which of them.' }),
    },
    resolve: ({ id }, { since, until, status }, { reads }) =>
      countReplayed(reads, id, { since, until: until ?? null, status: status ?? 'failed' }),
  }),
);
