import { parseArgs } from 'node:util';
import { type DeliveryStage, openDeliveryStage } from './delivery-stage.ts';
import { median } from './statistics.ts';
import type { SinkArrival } from './webhook-sink-process.ts';

const LEAST_PER_SECOND = 100;
/** A delivery may come before older ones of its endpoint that are in hand at the same time; no more. */
const MAX_IN_HAND_OF_ENDPOINT = 150;
const SAMPLE_MS = 500;

export const help = `A backlog as it is after the delivery actor was away for long: how fast it drains, whether each endpoint gets the oldest first, and
whether memory stays flat.

  --count N       deliveries; default 50000
  --endpoints N   default 100
  --bytes N       of the text of each mail; default 4096
  --seconds N     within which all must arrive; default 500`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      count: { type: 'string', default: '50000' },
      endpoints: { type: 'string', default: '100' },
      bytes: { type: 'string', default: '4096' },
      seconds: { type: 'string', default: '500' },
    },
  });
  const stage = await openDeliveryStage({
    endpoints: Number(values.endpoints),
    mails: Number(values.count),
    bytes: Number(values.bytes),
  });
  try {
    const ids = await stage.makeBacklog({ withHanging: true });
    const rss: number[] = [];
    const sampler = setInterval(() => rss.push(process.memoryUsage().rss / 2 ** 20), SAMPLE_MS);
    const startedAt = performance.timeOrigin + performance.now();
    const actor = await stage.startActor();
    const arrivals = await stage.arrived(ids.length, Number(values.seconds) * 1_000);
    clearInterval(sampler);
    await stage.ask({ release: true });
    await actor.stop();
    const perSecond = (arrivals.length * 1_000) / (Math.max(...arrivals.map(({ at }) => at)) - startedAt);
    console.log(`${arrivals.length} deliveries, ${perSecond.toFixed(0)}/s (at least ${LEAST_PER_SECOND})`);
    console.log(`furthest before its turn at its endpoint: ${await furthestAhead(stage, arrivals)} places`);
    printMemory(rss);
    if (perSecond < LEAST_PER_SECOND) throw new Error('the backlog drains too slowly');
  } finally {
    await stage.stop();
  }
}

/** By how many places a webhook came before its turn, at most, its endpoint's taken oldest first. */
async function furthestAhead(stage: DeliveryStage, arrivals: readonly SinkArrival[]): Promise<number> {
  const { rows } = await stage.owner.pool.query<{ id: string; endpoint_id: string; place: number }>(
    // identifiers are in the order of making, which is that of falling due
    `select id, endpoint_id, row_number() over (partition by endpoint_id order by id)::integer as place from delivery`,
  );
  const places = new Map(rows.map((row) => [row.id, row]));
  const counts = new Map<string, number>();
  let furthest = 0;
  for (const { id } of arrivals.toSorted((a, b) => a.at - b.at)) {
    const row = places.get(id);
    if (row === undefined) throw new Error(`${id} is no delivery`);
    const turn = (counts.get(row.endpoint_id) ?? 0) + 1;
    counts.set(row.endpoint_id, turn);
    furthest = Math.max(furthest, row.place - turn);
  }
  if (furthest > MAX_IN_HAND_OF_ENDPOINT) throw new Error(`${furthest} places before its turn`);
  return furthest;
}

function printMemory(rss: readonly number[]): void {
  const tenth = Math.max(1, Math.floor(rss.length / 10));
  const parts = Array.from({ length: 10 }, (_, n) => median(rss.slice(n * tenth, (n + 1) * tenth)).toFixed(0));
  console.log(`resident memory by tenths of the time, MiB: ${parts.join(' ')}; highest ${Math.max(...rss).toFixed(0)}`);
}
