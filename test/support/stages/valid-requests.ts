import type { FastifyInstance } from 'fastify';
import { schema } from '../../../schema/graphql/schema.ts';
import type { Holdings } from '../rows/holdings.ts';
import type { ServedRoute } from '../rows/route-table.ts';
import { requiredArguments } from './graph-places.ts';
import { exampleArguments } from './graph-sweep.ts';
import { bodiesOf, candidatesOf } from './isolation-sweep.ts';
import type { Given, SweptOperation } from './rights-operations.ts';
import { actingCases, stayingCases } from './storing-requests.ts';
import type { StoringWorld } from './storing-world.ts';
import { bodyExamples } from './swept-routes.ts';

/** Requests of each operation. */
export interface ValidRequests {
  /** names nothing that there is */
  unknown: (operation: SweptOperation) => Given;
  /** what may be done in the world, the likeliest first; each makes new what it needs */
  tries: (operation: SweptOperation) => (() => Promise<Given>)[];
}

/** Requests that neither the cases of stored actions nor the documented examples have. */
type Cases = Readonly<Record<string, (world: StoringWorld, mine: Holdings) => Promise<Given>>>;

const body = async (given: object): Promise<Given> => ({ body: given });
const domainOf = (w: StoringWorld) => w.box.address.split('@')[1] ?? '';

const CASES: Cases = {
  'tool who_am_i': () => body({}),
  'tool search_threads': () => body({}),
  'tool read_thread': async (w) => body({ thread_id: await w.thread() }),
  'tool search_emails': () => body({}),
  'tool read_email': async (w) => body({ email_id: await w.received() }),
  'tool wait_for_email': () => body({ timeout: 0 }),
  'tool list_labels': () => body({}),
  'tool list_drafts': () => body({}),
  'tool read_draft': async (w) => body({ draft_id: (await w.draft()).id }),
  'tool cancel_email': async (w) => body({ email_id: await w.scheduled() }),
  'tool create_draft': () => body({ kind: 'new', subject: 'x', text: 'x' }),
  'tool update_draft': async (w) => {
    const { id, version } = await w.draft();
    return body({ draft_id: id, version, text: 'y' });
  },
  'tool delete_draft': async (w) => body({ draft_id: (await w.draft()).id }),
  'tool review_email': async (w) => body({ email_id: await w.awaitingApproval() }),
  'tool reject_email': async (w) => body({ email_id: await w.awaitingApproval() }),
  'tool label_threads': async (w) => body({ thread_ids: [await w.thread()], add_labels: ['x'] }),
  'tool archive_threads': async (w) => body({ thread_ids: [await w.thread()] }),
  'tool mark_threads_read': async (w) => body({ thread_ids: [await w.thread()] }),
  'tool trash_threads': async (w) => body({ thread_ids: [await w.thread()] }),
  'tool claim_thread': async (w) => body({ thread_id: await w.thread(), holder: 'x' }),
  'tool release_thread': async (w) => {
    const { id, token } = await w.claimed();
    return body({ thread_id: id, claim_token: token });
  },
  'tool list_thread_notes': async (w) => body({ thread_id: await w.thread() }),
  'tool mark_spam': async (w) => body({ email_id: await w.received() }),
  'tool assign_thread': async (w) => body({ thread_id: await w.thread(), assignee: null }),
  'tool snooze_thread': async (w) => body({ thread_id: await w.thread(), until: null }),
  'tool remind_of_thread': async (w) => body({ thread_id: await w.thread(), at: null }),
  'tool add_thread_note': async (w) => body({ thread_id: await w.thread(), text: 'x' }),
  'tool suppress_address': () => body({ address: 'swept@example.org' }),
  'tool list_suppressions': () => body({}),
  'tool remove_suppression': async (w) => body({ id_or_address: await w.suppressed() }),
  'tool create_reply_address': (w) => body({ domain: domainOf(w), metadata: { a: 'b' } }),
  'tool list_reply_addresses': () => body({}),
  'tool revoke_reply_address': async (w) => body({ reply_address_id: await w.replyAddress() }),
  'tool list_refusals': () => body({}),
};

/** Values of required arguments that name nothing. */
const UNKNOWN: Readonly<Record<string, unknown>> = { String: 'x', ID: 'em_none', Int: 1, Boolean: true, JSON: {} };

export function listValidRequests(
  app: FastifyInstance,
  { mine, world, routes }: { mine: Holdings; world: StoringWorld; routes: readonly ServedRoute[] },
): ValidRequests {
  const examplesOf = bodyExamples(app);
  const routeOf = new Map(routes.map((route) => [`${route.method} ${route.url.replace('/api/e2', '')}`, route]));
  const fieldOf = (name: string) => {
    const [operation, field = ''] = name.split(' ');
    return schema.getRootType(operation as never)?.getFields()[field];
  };

  function examples({ name }: SweptOperation): Given[] {
    const route = routeOf.get(name);
    if (route !== undefined) {
      const bodies = [...bodiesOf(route, { mine, examplesOf }), undefined] as (object | undefined)[];
      const ids = route.params.length === 0 ? [undefined] : candidatesOf(mine, route.url);
      const others = route.params.length < 2 ? [undefined] : ['0', 'a.txt', ...[...mine.ids.values()].flat()];
      return ids.flatMap((id) =>
        others.flatMap((other) =>
          bodies.map((each) => ({
            ...(id !== undefined && { id }),
            ...(other !== undefined && { other }),
            ...(each !== undefined && { body: each }),
          })),
        ),
      );
    }
    const field = fieldOf(name);
    return field === undefined ? [] : exampleArguments(field, mine).map((each) => ({ body: each }));
  }

  return {
    unknown({ name, url }) {
      if (name === 'query waitForEmail' || name === 'tool wait_for_email') return { body: { timeout: 0 } };
      const field = fieldOf(name);
      if (field !== undefined) return { body: requiredArguments(field, (_name, type) => UNKNOWN[type] ?? 'x') };
      return url === '/mcp' || !name.startsWith('GET ') ? { body: {} } : {};
    },
    tries(operation) {
      const { name } = operation;
      const own = CASES[name];
      const acting = (actingCases[name] ?? []).map(({ given }) => () => given(world));
      const staying = stayingCases[name];
      return [
        ...(own === undefined ? [] : [() => own(world, mine)]),
        ...acting,
        ...(staying === undefined || staying.actors !== 'none' ? [] : [() => staying.given(world)]),
        ...examples(operation).map((given) => async () => given),
      ];
    },
  };
}
