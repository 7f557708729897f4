import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { register } from 'prom-client';
import { expect, test } from 'vitest';
import { stringify } from 'yaml';
import '../../schema/metrics.ts';
import { alertExpressions, alertRules, dashboardExpressions, readParts } from '../support/promql.ts';
import { hasPromtool, promtool } from '../support/promtool.ts';
import { repository } from '../support/runner.ts';

const guide = readFileSync(path.join(repository, 'docs/monitoring.md'), 'utf8');

interface Instrument {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  labelNames: string[];
}

// The published types keep to themselves what an instrument was made with. Those of Node are there if another file of the run served metrics.
const instruments = (register.getMetricsAsArray() as unknown as Instrument[]).filter(
  ({ name }) => !/^(?:process|nodejs)_/.test(name),
);

/** The values of a label, as the guide lists them. */
function listValues(label: string): string[] {
  const row = guide.split('\n').find((line) => line.startsWith('| `') && line.split('|')[1]?.includes(`\`${label}\``));
  return [...(row?.split('|').slice(2).join('|') ?? '').matchAll(/`([^`]+)`/g)].map(([, value = '']) => value);
}

const readAnchor = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test('each metric has the prefix, its unit in its name, and a line of help', () => {
  expect(instruments.length).toBeGreaterThan(40);
  for (const { name, help, type } of instruments) {
    expect(name).toMatch(/^postroom_[a-z_]+$/);
    expect(help.length, name).toBeGreaterThan(10);
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
    if (type === 'histogram') expect(name).toMatch(/_(seconds|messages)$/);
    expect(name).not.toMatch(/_(ms|milliseconds|octets|kb|mb)(_|$)/);
  }
});

test('no label can identify a user', () => {
  const labels = [...new Set(instruments.flatMap(({ labelNames }) => labelNames))].toSorted();
  expect(labels).toEqual(
    [
      'actor',
      'code',
      'disk',
      'kind',
      'method',
      'node',
      'outcome',
      'pool',
      'question',
      'queue',
      'reason',
      'response',
      'route',
    ].concat(['scanner', 'stage', 'state', 'status', 'step', 'transport', 'trigger', 'verdict', 'version', 'work']),
  );
  for (const label of labels) expect(guide, label).toContain(`\`${label}\``);
});

test('the guide lists every metric with its type, labels and meaning, and no other', () => {
  const rows = instruments.map(({ name, type, labelNames, help }) => {
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
  });
  expect(guide.split('\n').filter((line) => line.startsWith('| `postroom_'))).toEqual(rows);
});

test.each([...dashboardExpressions(), ...alertExpressions()])(
  '$where ($expression) has existing metrics, labels and values',
  ({ expression, shown }) => {
    const { selectors, groupedBy } = readParts(expression);
    expect(selectors.length).toBeGreaterThan(0);
    const known = new Set(['le', 'instance', 'job', 'process']);
    for (const { metric, labels } of selectors) {
      const own = ['instance', 'job', 'process', ...listLabels(metric)];
      for (const label of own) known.add(label);
      for (const { name, values } of labels) {
        expect(own, metric).toContain(name);
        if (name !== 'job' && name !== 'code')
          for (const value of values) expect(listValues(name), name).toContain(value);
      }
    }
    for (const label of groupedBy) expect([...known]).toContain(label);
    const left = groupedBy.length > 0 ? [...groupedBy, 'instance', 'process'] : [...known];
    for (const label of shown) expect(left).toContain(label);
  },
);

/** The labels of a metric of ours, or of a series of a histogram; none of others. */
function listLabels(metric: string): string[] {
  if (!metric.startsWith('postroom_')) return [];
  const series = metric.replace(/_(bucket|sum|count)$/, '');
  const found = instruments.find(({ name, type }) => name === metric || (type === 'histogram' && name === series));
  if (found === undefined) throw new Error(`there is no metric ${metric}`);
  if (found.type === 'histogram' && found.name === metric) throw new Error(`${metric} has buckets, a sum and a count`);
  return found.labelNames;
}

test('each alert says what is wrong and what to do, and links to a section of the guide', () => {
  const anchors = [...guide.matchAll(/^#{2,3} (.*)$/gm)].map(([, heading = '']) => readAnchor(heading));
  const rules = alertRules();
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(['critical', 'warning'], alert).toContain(labels['severity']);
    expect(annotations.description.length, alert).toBeGreaterThan(60);
    const [file, anchor = ''] = annotations.section.split('#');
    expect(file, alert).toBe('docs/monitoring.md');
    expect(anchors, alert).toContain(anchor);
    expect(guide.includes(alert) || anchors.includes(anchor)).toBe(true);
  }
});

// Of the package prometheus, which the tests do not install.
test.skipIf(!hasPromtool)('promtool accepts the configuration, the rules and every expression of the dashboard', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'postroom-rules-'));
  try {
    const panels = path.join(folder, 'panels.yml');
    const rules = dashboardExpressions().map(({ expression }, n) => ({ record: `panel:${n}`, expr: expression }));
    writeFileSync(panels, stringify({ groups: [{ name: 'panels', rules }] }));
    const check = (what: string, file: string) => promtool(['check', what, file]);
    expect(check('rules', panels)).toContain('SUCCESS');
    expect(check('config', path.join(repository, 'docs/deploy/prometheus/prometheus.yml'))).toContain('SUCCESS');
    expect(check('rules', path.join(repository, 'docs/deploy/prometheus/alerts.yml'))).toContain('SUCCESS');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
