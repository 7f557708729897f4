import {
  AggregatorRegistry,
  collectDefaultMetrics,
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
  collectDefaultMetrics();
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
