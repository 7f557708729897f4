import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Gauge,
  type MetricObjectWithValues,
  type MetricValue,
  register,
} from 'prom-client';
import { processMetrics } from '../../../schema/metrics.ts';
import { VERSION } from '../version.ts';

/** Metrics of a process at one moment, in the form that processes send to each other. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

const collectors: (() => Promise<void> | void)[] = [];

/** Starts measuring the process itself (processor, memory, event loop) and adds the label `process` to every metric. */
export function measureProcess(name: string): void {
  register.setDefaultLabels({ process: name });
  collectDefaultMetrics({ eventLoopMonitoringPrecision: NEVER_MS });
  measureEventLoop();
  processMetrics.build.set({ version: VERSION, node: process.version }, 1);
}

/** Calls `collect` before each response to `GET /metrics`. It must be fast, and its errors are ignored. */
export function beforeScrape(collect: () => Promise<void> | void): void {
  collectors.push(collect);
}

/** Returns the current metrics of this process. */
export async function takeSnapshot(): Promise<MetricsSnapshot> {
  await Promise.allSettled(collectors.map(async (collect) => collect()));
  const metrics = await register.getMetricsAsJSON();
  // prom-client omits the start time of a process when it aggregates.
  return metrics.map((metric) => (metric.aggregator === 'omit' ? { ...metric, aggregator: 'max' } : metric));
}

/** Adds up the metrics of processes with the same name; different names stay separate. */
export async function addUp(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON();
}

/** Returns the metrics in Prometheus' text format. */
export async function writeMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate([...snapshots]).metrics();
}

/** Interval of prom-client's own measurement of the event loop: as good as never. Milliseconds. */
const NEVER_MS = 2_147_483_647;
const NANOSECONDS_PER_SECOND = 1e9;

type Turns = ReturnType<typeof monitorEventLoopDelay>;

/** What prom-client reports of the event loop, by the name of the figure. */
const eventLoopFigures: Record<string, { read: (turns: Turns) => number; aggregator: 'min' | 'max' | 'average' }> = {
  min: { read: ({ min }) => min, aggregator: 'min' },
  max: { read: ({ max }) => max, aggregator: 'max' },
  mean: { read: ({ mean }) => mean, aggregator: 'average' },
  stddev: { read: ({ stddev }) => stddev, aggregator: 'average' },
  p50: { read: (turns) => turns.percentile(50), aggregator: 'average' },
  p90: { read: (turns) => turns.percentile(90), aggregator: 'average' },
  p99: { read: (turns) => turns.percentile(99), aggregator: 'average' },
};

/**
 * Measures how long each turn of the event loop takes, without the time that it waits: other work has to wait that long. prom-client
 * measures with a timer that fires a hundred times a second, which costs an idle process more CPU time than all its other work. This has no
 * timer. A scrape reports the turns since the last one.
 */
function measureEventLoop(): void {
  const turns = monitorEventLoopDelay({ samplePerIteration: true });
  turns.enable();
  // The first figure contains what came before.
  setImmediate(() => turns.reset());
  const gauges = Object.entries(eventLoopFigures).map(([figure, { read, aggregator }]) => {
    const name = `nodejs_eventloop_lag_${figure}_seconds`;
    register.removeSingleMetric(name);
    return { read, gauge: new Gauge({ name, help: `Turns of the event loop: ${figure}`, aggregator }) };
  });
  beforeScrape(() => {
    for (const { read, gauge } of gauges) gauge.set(turns.count === 0 ? 0 : read(turns) / NANOSECONDS_PER_SECOND);
    turns.reset();
  });
}
