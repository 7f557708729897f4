/** One sample of Prometheus' text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What a process tells at its `/metrics`. */
export interface Scrape {
  text: string;
  samples: Sample[];
  /** The sum of the samples of that name that bear these labels; null when there is none. */
  sum(name: string, labels?: Record<string, string>): number | null;
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** Reads the metrics page; throws unless it returns 200. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url}/metrics: ${response.status} ${text}`);
  const samples = parseMetrics(text);
  return {
    text,
    samples,
    sum(name, labels = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
      return found.length === 0 ? null : found.reduce((total, { value }) => total + value, 0);
    },
  };
}

/** The samples of a page; throws at a line that is none. */
function parseMetrics(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      if (name === '') throw new Error(`no sample: ${line}`);
      const pairs = [...labels.matchAll(LABEL)].map(([, key = '', content = '']) => [key, content] as const);
      return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Inf', 'Infinity')) };
    });
}
