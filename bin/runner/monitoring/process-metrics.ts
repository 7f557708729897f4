import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  register,
} from 'prom-client';
import { processMetrics } from '../../../schema/metrics.ts';
import { VERSION } from '../version.ts';

/** The metrics of a process at one moment, as they travel from one to another. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

const collectors: (() => Promise<void> | void)[] = [];

/** Begins to measure the process itself (processor, memory, event loop), and names it in every metric: label `process`. */
export function measureProcess(name: string): void {
  register.setDefaultLabels({ process: name });
  collectDefaultMetrics();
  processMetrics.build.set({ version: VERSION, node: process.version }, 1);
}

/** Calls this before each answer to `GET /metrics`; it must not take long, and what it throws is lost. */
export function beforeScrape(collect: () => Promise<void> | void): void {
  collectors.push(collect);
}

/** The metrics of this process now. */
export async function takeSnapshot(): Promise<MetricsSnapshot> {
  await Promise.allSettled(collectors.map(async (collect) => collect()));
  const metrics = await register.getMetricsAsJSON();
  // prom-client leaves the start of a process out wherever processes are added up.
  return metrics.map((metric) => (metric.aggregator === 'omit' ? { ...metric, aggregator: 'max' } : metric));
}

/** Adds up what several processes of one name measured; what has different names stays apart. */
export async function addUp(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return await AggregatorRegistry.aggregate([...snapshots]).getMetricsAsJSON();
}

/** Prometheus' text format. */
export async function writeMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return await AggregatorRegistry.aggregate([...snapshots]).metrics();
}
