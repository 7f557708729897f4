import { hash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { type DeliveryStage, openDeliveryStage, type PreparedRequest } from './delivery-stage.ts';
import type { Extent, PartOutcome } from './rows.ts';
import { percentile, spread } from './statistics.ts';
import type { SinkArrival } from './webhook-sink-process.ts';

/** Requests at once to one endpoint, of the bare client as of the actor. */
const REQUESTS_PER_ENDPOINT = 10;
/** Requests that the bare client has in memory at once. */
const PREPARED_AT_ONCE = 5_000;
const LIMIT_MS = 120_000;

interface Round {
  perSecond: number;
  /** from the start to the arrival, of the endpoints that respond; milliseconds */
  p95Ms: number;
  cpuMs: { own: number; postgresql: number };
}

export const help = `A backlog of deliveries to many endpoints, one of which never responds; the same without that one; and bare undici that posts the
same bodies to the same receiver with as many requests at once. Every webhook and every row is checked.

  --rounds N      default 3
  --count N       deliveries; default 20000
  --endpoints N   default 100
  --bytes N       of the text of each mail; default 4096
  --statements    print what each statement took of PostgreSQL, which costs some itself`;

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '3' },
      count: { type: 'string', default: '20000' },
      endpoints: { type: 'string', default: '100' },
      bytes: { type: 'string', default: '4096' },
      statements: { type: 'boolean', default: false },
    },
  });
  report(
    await measureDelivery({
      rounds: Number(values.rounds),
      count: Number(values.count),
      endpoints: Number(values.endpoints),
      bytes: Number(values.bytes),
      isPrintingStatements: values.statements,
    }),
  );
}

/** The rows of docs/benchmarks.md about webhooks that are due. */
export async function measurePart(extent: Extent): Promise<PartOutcome> {
  const rounds = await measureDelivery({
    rounds: extent === 'small' ? 1 : 3,
    count: extent === 'small' ? 500 : 5_000,
    endpoints: extent === 'small' ? 10 : 100,
    bytes: 4_096,
    isPrintingStatements: false,
  });
  const of = (pick: (round: DeliveryRound) => number) => rounds.map(pick);
  return {
    rows: [
      {
        id: 'due-webhooks',
        work: 'due webhooks, 4 KB, to 100 endpoints, one of which never responds',
        unit: 'messages/s',
        better: 'higher',
        ours: of(({ hanging }) => hanging.perSecond),
        peer: { name: 'bare undici posting the same bodies', values: of(({ bare }) => bare.perSecond) },
      },
      {
        id: 'due-webhooks-hanging',
        work: 'p95 until due webhooks arrive, while one of 100 endpoints never responds',
        unit: 'ms',
        better: 'lower',
        ours: of(({ hanging }) => hanging.p95Ms),
        peer: { name: 'the same without that endpoint', values: of(({ calm }) => calm.p95Ms) },
      },
    ],
    foreignPercents: [],
    problems: [],
  };
}

interface DeliveryRound {
  hanging: Round;
  calm: Round;
  bare: Round;
}

interface DeliveryOptions {
  rounds: number;
  count: number;
  endpoints: number;
  bytes: number;
  isPrintingStatements: boolean;
}

async function measureDelivery(options: DeliveryOptions): Promise<DeliveryRound[]> {
  const { count, isPrintingStatements } = options;
  const settings = isPrintingStatements ? { shared_preload_libraries: 'pg_stat_statements' } : {};
  const stage = await openDeliveryStage({ endpoints: options.endpoints, mails: count, bytes: options.bytes, settings });
  const rounds: DeliveryRound[] = [];
  try {
    if (isPrintingStatements) await stage.owner.pool.query('create extension pg_stat_statements');
    // Round 0 warms everything and is not counted.
    for (let n = 0; n <= options.rounds; n++) {
      if (isPrintingStatements) await stage.owner.pool.query('select pg_stat_statements_reset()');
      const hanging = await drain(stage, true);
      if (isPrintingStatements) await printStatements(stage, count);
      const calm = await drain(stage, false);
      const bare = await postBare(stage);
      console.log(
        `round ${n}: ${describe(hanging)} | without the one that hangs ${describe(calm)} | bare undici ${describe(bare)}`,
      );
      if (n > 0) rounds.push({ hanging, calm, bare });
    }
    return rounds;
  } finally {
    await stage.stop();
  }
}

async function printStatements(stage: DeliveryStage, count: number): Promise<void> {
  const { rows } = await stage.owner.pool.query<{ calls: number; ms: number; count: number; query: string }>(
    `select calls, total_exec_time as ms, rows as count, left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as query
     from pg_stat_statements order by total_exec_time desc limit 14`,
  );
  for (const { calls, ms, count: rowCount, query } of rows)
    console.log(
      `${((1_000 * ms) / count).toFixed(1).padStart(7)} us a delivery, ${calls} calls, ${rowCount} rows: ${query}`,
    );
}

function report(rounds: readonly DeliveryRound[]): void {
  const of = (value: (round: (typeof rounds)[number]) => number, digits = 0) => spread(rounds.map(value), digits);
  console.log(
    `deliveries/s of the endpoints that answer: ${of((one) => one.hanging.perSecond)}, without the one that hangs ${of((one) => one.calm.perSecond)}, bare undici ${of((one) => one.bare.perSecond)}`,
  );
  console.log(`ratio to bare undici: ${of((one) => one.hanging.perSecond / one.bare.perSecond, 2)}`);
  console.log(
    `p95 from the start to the arrival, with the one that hangs to without it: ${of((one) => one.hanging.p95Ms / one.calm.p95Ms, 2)}`,
  );
  console.log(
    `CPU ms per delivery: own ${of((one) => one.hanging.cpuMs.own, 3)}, PostgreSQL ${of((one) => one.hanging.cpuMs.postgresql, 3)}, bare undici ${of((one) => one.bare.cpuMs.own, 3)}`,
  );
}

async function drain(stage: DeliveryStage, withHanging: boolean): Promise<Round> {
  const ids = await stage.makeBacklog({ withHanging });
  await stage.ask({ hold: true });
  const serverBefore = stage.postgresqlCpuMs();
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.timeOrigin + performance.now();
  const actor = await stage.startActor();
  const arrivals = await stage.arrived(ids.length, LIMIT_MS);
  await untilRecorded(stage, ids.length);
  const cpu = process.cpuUsage(cpuBefore);
  const postgresql = stage.postgresqlCpuMs() - serverBefore;
  await stage.ask({ release: true });
  await actor.stop();
  await verify(stage, ids, arrivals);
  return makeRound(arrivals, startedAt, cpu, postgresql);
}

async function untilRecorded(stage: DeliveryStage, count: number): Promise<void> {
  for (let waited = 0; waited < LIMIT_MS; waited += 20) {
    const { rows } = await stage.database.pool.query<{ successful: number }>(
      'select coalesce(sum(successful), 0)::integer as successful from endpoint_stat',
    );
    if ((rows[0]?.successful ?? 0) >= count) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('outcomes were not all recorded');
}

/** Every webhook came once, with the bytes that its delivery is to have, and its row says so. */
async function verify(stage: DeliveryStage, ids: readonly string[], arrivals: readonly SinkArrival[]): Promise<void> {
  const recorded = await stage.owner.pool.query<{ id: string }>(
    `select id from delivery where status = 'success' and attempts = 1 and claimed_by is null`,
  );
  const told = await stage.owner.pool.query<{ id: string }>(
    `select delivery_id as id from event where kind = 'delivery.succeeded'`,
  );
  for (const { rows } of [recorded, told]) {
    const found = new Set(rows.map(({ id }) => id));
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length > 0) throw new Error(`${missing.length} deliveries are not recorded, as ${missing[0]}`);
  }
  if (arrivals.some(({ count }) => count !== 1)) throw new Error('a webhook came twice');
  const digests = new Map(arrivals.map(({ id, sha256 }) => [id, sha256]));
  for (let at = 0; at < ids.length; at += PREPARED_AT_ONCE)
    for (const { deliveryId, body } of await stage.prepare(ids.slice(at, at + PREPARED_AT_ONCE)))
      if (digests.get(deliveryId) !== hash('sha256', body, 'base64'))
        throw new Error(`${deliveryId} came with other bytes`);
}

async function postBare(stage: DeliveryStage): Promise<Round> {
  const ids = await stage.makeBacklog({ withHanging: false });
  const agent = new Agent();
  let wallMs = 0;
  const cpu = { user: 0, system: 0 };
  const arrivedAfter: number[] = [];
  for (let at = 0; at < ids.length; at += PREPARED_AT_ONCE) {
    const requests = await stage.prepare(ids.slice(at, at + PREPARED_AT_ONCE));
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.timeOrigin + performance.now();
    await postAll(agent, requests);
    const used = process.cpuUsage(cpuBefore);
    cpu.user += used.user;
    cpu.system += used.system;
    const arrivals = new Map((await stage.arrived(at + requests.length, LIMIT_MS)).map((one) => [one.id, one]));
    const after = requests.map(({ deliveryId }) => (arrivals.get(deliveryId)?.at ?? Number.NaN) - startedAt);
    arrivedAfter.push(...after.map((ms) => ms + wallMs));
    wallMs += Math.max(...after);
  }
  await agent.close();
  return {
    perSecond: (ids.length * 1_000) / wallMs,
    p95Ms: percentile(arrivedAfter, 0.95),
    cpuMs: { own: (cpu.user + cpu.system) / 1_000 / ids.length, postgresql: 0 },
  };
}

async function postAll(agent: Agent, requests: readonly PreparedRequest[]): Promise<void> {
  const lanes = Map.groupBy(requests, ({ origin }) => origin);
  const sessions = [...lanes.values()].flatMap((lane) => {
    let next = 0;
    return Array.from({ length: REQUESTS_PER_ENDPOINT }, async () => {
      for (let request = lane[next++]; request !== undefined; request = lane[next++]) {
        const { origin, headers, body } = request;
        const response = await agent.request({ origin, path: '/hook', method: 'POST', headers, body });
        await response.body.dump();
      }
    });
  });
  await Promise.all(sessions);
}

function makeRound(
  arrivals: readonly SinkArrival[],
  startedAt: number,
  cpu: { user: number; system: number },
  postgresql: number,
): Round {
  const after = arrivals.map(({ at }) => at - startedAt);
  return {
    perSecond: (arrivals.length * 1_000) / Math.max(...after),
    p95Ms: percentile(after, 0.95),
    cpuMs: {
      own: (cpu.user + cpu.system) / 1_000 / arrivals.length,
      postgresql: postgresql / arrivals.length,
    },
  };
}

function describe({ perSecond, p95Ms, cpuMs }: Round): string {
  return `${perSecond.toFixed(0)}/s, p95 ${p95Ms.toFixed(0)} ms, CPU own ${cpuMs.own.toFixed(3)} ms, PostgreSQL ${cpuMs.postgresql.toFixed(3)} ms`;
}
