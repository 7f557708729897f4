import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { repository } from './runner.ts';

/** An expression of a dashboard or a rule, with the words beside it that name labels of its result. */
export interface NamedExpression {
  where: string;
  expression: string;
  /** labels that its legend or its annotations name */
  shown: string[];
}

/** What an expression names. */
export interface NamedParts {
  /** metrics with the labels and, where they are plain, the values that their selectors name */
  selectors: { metric: string; labels: { name: string; values: string[] }[] }[];
  /** labels behind `by` */
  groupedBy: string[];
}

const read = (file: string) => readFileSync(path.join(repository, 'docs/deploy', file), 'utf8');

const ruleFile = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.record(z.string(), z.string()),
          annotations: z.object({ summary: z.string(), description: z.string(), section: z.string() }).strict(),
        }),
      ),
    }),
  ),
});

/** The alert rules that are shipped. */
export function alertRules() {
  return ruleFile.parse(parse(read('prometheus/alerts.yml'))).groups.flatMap(({ rules }) => rules);
}

const dashboardFile = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      type: z.string(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
});

/** The expressions of the panels of the dashboard that is shipped. */
export function dashboardExpressions(): NamedExpression[] {
  return dashboardFile.parse(JSON.parse(read('grafana/postroom.json'))).panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({
      where: `dashboard: ${title}`,
      expression: expr.replaceAll('$__rate_interval', '5m'),
      shown: [...legendFormat.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label),
    })),
  );
}

/** The expressions of the alert rules. */
export function alertExpressions(): NamedExpression[] {
  return alertRules().map(({ alert, expr, annotations }) => ({
    where: `alert: ${alert}`,
    expression: expr,
    shown: [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
  }));
}

const METRIC = /\b((?:postroom|nodejs|process)_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g;

/** What the expression names. */
export function readParts(expression: string): NamedParts {
  // Labels behind `by` look like metrics: `process`.
  const grouped = [...expression.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(','));
  const rest = expression.replaceAll(/\bby\s*\([^)]*\)/g, '');
  return {
    groupedBy: grouped.map((label) => label.trim()),
    selectors: [...rest.matchAll(METRIC)].map(([, metric = '', matchers = '']) => ({
      metric,
      labels: [...matchers.matchAll(MATCHER)].map(([, name = '', value = '']) => ({
        name,
        values: /^[\w|-]*$/.test(value) ? value.split('|') : [],
      })),
    })),
  };
}
