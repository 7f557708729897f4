import { parseArgs } from 'node:util';
import { openDeliveryStage } from './delivery-stage.ts';
import type { OrderingSinkOrder, SinkRequest } from './ordering-sink-process.ts';
import type { Extent, PartOutcome } from './rows.ts';
import { inTurn, median, spread } from './statistics.ts';

/** The ordered rate by the unordered one must be at least this. */
const LEAST_RATIO = 0.7;
const LIMIT_MS = 180_000;
/** Of a webhook that gets no response; seconds. */
const TIMEOUT_SECONDS = 1;

export const help = `Received mail of many conversations goes through routing to webhook endpoints, some of which fail at the first request: with
\`ordering: thread\` and with \`ordering: none\`, in the same run. Every email must be accepted once, and in a conversation no request may
begin before the one before it was accepted.

  --rounds N          default 3
  --conversations N   default 1000
  --length N          emails in each; default 10
  --endpoints N       default 10
  --failing N         percent of the emails whose first request fails, half of them with 503 and half without a response; default 1
  --bytes N           of the text of each mail; default 4096`;

interface OrderingOptions {
  rounds: number;
  conversations: number;
  length: number;
  endpoints: number;
  failingPercent: number;
  bytes: number;
}

/** One drain of all mail. */
interface Drain {
  perSecond: number;
  /** until the first email of the last conversation was posted; milliseconds */
  lastBegunMs: number;
  /** requests that began before the email before theirs in the conversation was accepted */
  outOfOrder: number;
}

interface OrderingRound {
  thread: Drain;
  none: Drain;
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      conversations: { type: 'string', default: '1000' },
      length: { type: 'string', default: '10' },
      endpoints: { type: 'string', default: '10' },
      failing: { type: 'string', default: '1' },
      bytes: { type: 'string', default: '4096' },
    },
  });
  const rounds = await measureOrdering({
    rounds: Number(values.rounds),
    conversations: Number(values.conversations),
    length: Number(values.length),
    endpoints: Number(values.endpoints),
    failingPercent: Number(values.failing),
    bytes: Number(values.bytes),
  });
  const of = (pick: (round: OrderingRound) => number, digits = 0) => spread(rounds.map(pick), digits);
  console.log(
    `webhooks/s in order: ${of(({ thread }) => thread.perSecond)}, unordered ${of(({ none }) => none.perSecond)}`,
  );
  console.log(
    `until the last conversation began, ms: ${of(({ thread }) => thread.lastBegunMs)}, unordered ${of(({ none }) => none.lastBegunMs)}`,
  );
  console.log(`out of order: ${of(({ thread }) => thread.outOfOrder)}, unordered ${of(({ none }) => none.outOfOrder)}`);
  const ratio = computeRatio(rounds);
  console.log(
    `ratio to unordered: ${of(({ thread, none }) => thread.perSecond / none.perSecond, 2)} (at least ${LEAST_RATIO})`,
  );
  if (ratio < LEAST_RATIO) throw new Error('delivery in order is too slow');
}

/** The rows of docs/benchmarks.md about deliveries in order. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const isSmall = extent === 'small';
  const rounds = await measureOrdering({
    rounds: isSmall ? 1 : 3,
    conversations: isSmall ? 50 : 1_000,
    length: 10,
    endpoints: 10,
    failingPercent: 1,
    bytes: 4_096,
  });
  const of = (pick: (round: OrderingRound) => number) => rounds.map(pick);
  return {
    rows: [
      {
        id: 'ordered-webhooks',
        work: '1,000 conversations of 10 emails, 4 KB, in order, from routing to the last webhook; 1 % of the first requests fail',
        unit: 'messages/s',
        better: 'higher',
        ours: of(({ thread }) => thread.perSecond),
        peer: { name: 'the same unordered', values: of(({ none }) => none.perSecond) },
      },
      {
        id: 'ordered-webhooks-last',
        work: 'until the first webhook of the last of these conversations',
        unit: 'ms',
        better: 'lower',
        ours: of(({ thread }) => thread.lastBegunMs),
        peer: { name: 'the same unordered', values: of(({ none }) => none.lastBegunMs) },
      },
    ],
    foreignPercents: [],
    problems:
      computeRatio(rounds) < LEAST_RATIO ? [`delivery in order is below ${LEAST_RATIO} of the unordered rate`] : [],
  };
}

function computeRatio(rounds: readonly OrderingRound[]): number {
  return median(rounds.map(({ thread, none }) => thread.perSecond / none.perSecond));
}

async function measureOrdering(options: OrderingOptions): Promise<OrderingRound[]> {
  const stage = await openDeliveryStage({
    endpoints: options.endpoints,
    mails: options.conversations * options.length,
    bytes: options.bytes,
    sink: './ordering-sink-process.ts',
  });
  const { owner } = stage;
  const ask = <T>(order: OrderingSinkOrder) => stage.ask<T>(order);
  try {
    const conversations = await formConversations(stage, options);
    const drain = async (ordering: 'none' | 'thread', failing: FailingEmail[]): Promise<Drain> => {
      await owner.pool.query(`truncate delivery, delivery_earlier_attempt, endpoint_stat, event, event_counter`);
      await owner.pool.query(`update route set outcome = null, decided_at = null, via = null, endpoint_id = null`);
      await owner.pool.query(`update endpoint set ordering = $1, config = config || $2::jsonb`, [
        ordering,
        JSON.stringify({ timeout: TIMEOUT_SECONDS }),
      ]);
      await owner.pool.query('vacuum analyze');
      await owner.pool.query('checkpoint');
      await ask({ failing });
      const startedAt = performance.timeOrigin + performance.now();
      const actor = await stage.startActor();
      try {
        await untilAccepted(ask, options.conversations * options.length);
      } finally {
        await actor.stop();
      }
      const { requests } = await ask<{ requests: SinkRequest[] }>({ requests: true });
      return judge(conversations, requests, startedAt);
    };
    const rounds: OrderingRound[] = [];
    // Round 0 warms everything and is not counted.
    for (let n = 0; n <= options.rounds; n++) {
      const failing = failingEmails(conversations, options.failingPercent, n);
      const drains: Partial<OrderingRound> = {};
      for (const ordering of inTurn(['thread', 'none'] as const, n)) drains[ordering] = await drain(ordering, failing);
      const { thread, none } = drains;
      if (thread === undefined || none === undefined) throw new Error('a round has both');
      console.log(`round ${n}: in order ${describe(thread)} | unordered ${describe(none)}`);
      if (thread.outOfOrder > 0) throw new Error('webhooks of a conversation were posted out of order');
      if (n > 0) rounds.push({ thread, none });
    }
    return rounds;
  } finally {
    await stage.stop();
  }
}

/** Divides the mail of each endpoint into conversations that came in at the same time; returns the emails of each, in order. */
async function formConversations(
  { owner }: Awaited<ReturnType<typeof openDeliveryStage>>,
  { conversations, endpoints }: OrderingOptions,
): Promise<string[][]> {
  const ofEndpoint = Math.ceil(conversations / endpoints);
  await owner.pool.query(
    `update email e set thread_id = 'th_' || p.address_id || '_' || p.place % $1, thread_position = p.place / $1
     from (select id, address_id, row_number() over (partition by address_id order by id)::integer - 1 as place from email) p where p.id = e.id`,
    [ofEndpoint],
  );
  const { rows } = await owner.pool.query<{ ids: string[] }>(
    `select array_agg(id order by thread_position) as ids from email group by workspace_id, thread_id order by thread_id`,
  );
  return rows.map(({ ids }) => ids);
}

interface FailingEmail {
  emailId: string;
  how: 'error' | 'silence';
}

/** Another choice in each round, the same for both orderings. */
function failingEmails(conversations: readonly string[][], percent: number, round: number): FailingEmail[] {
  const random = pseudorandom(round + 1);
  return conversations.flatMap((emailIds) =>
    emailIds.flatMap((emailId) =>
      random() * 100 < percent ? { emailId, how: random() < 0.5 ? ('error' as const) : ('silence' as const) } : [],
    ),
  );
}

/** Numbers in [0, 1) that are the same for the same seed: a linear congruential generator with the constants of Numerical Recipes. */
function pseudorandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

async function untilAccepted(ask: <T>(order: OrderingSinkOrder) => Promise<T>, wanted: number): Promise<void> {
  const deadline = performance.now() + LIMIT_MS;
  let count = 0;
  while (performance.now() < deadline) {
    ({ count } = await ask<{ count: number }>({ count: true }));
    if (count >= wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${count} of ${wanted} webhooks were accepted within ${LIMIT_MS} ms`);
}

/** Throws when an email was accepted twice or never. */
function judge(conversations: readonly string[][], requests: readonly SinkRequest[], startedAt: number): Drain {
  const byEmail = Map.groupBy(requests, ({ emailId }) => emailId);
  const acceptedAt = new Map<string, number>();
  for (const [emailId, attempts] of byEmail) {
    const accepted = attempts.filter(({ isAccepted }) => isAccepted);
    if (accepted.length > 1) throw new Error(`${emailId} was accepted ${accepted.length} times`);
    if (accepted[0]?.endedAt != null) acceptedAt.set(emailId, accepted[0].endedAt);
  }
  let outOfOrder = 0;
  const begun: number[] = [];
  for (const emailIds of conversations) {
    for (const [n, emailId] of emailIds.entries()) {
      const first = byEmail.get(emailId)?.[0];
      if (first === undefined || !acceptedAt.has(emailId)) throw new Error(`${emailId} was never accepted`);
      if (n === 0) begun.push(first.beganAt - startedAt);
      else if (first.beganAt < (acceptedAt.get(emailIds[n - 1] ?? '') ?? 0)) outOfOrder++;
    }
  }
  const last = Math.max(...acceptedAt.values());
  return { perSecond: (acceptedAt.size * 1_000) / (last - startedAt), lastBegunMs: Math.max(...begun), outOfOrder };
}

function describe({ perSecond, lastBegunMs, outOfOrder }: Drain): string {
  return `${perSecond.toFixed(0)}/s, last conversation began after ${lastBegunMs.toFixed(0)} ms, ${outOfOrder} out of order`;
}
