import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { alertRules } from '../support/promql.ts';
import { hasPromtool } from '../support/promtool.ts';
import { repository } from '../support/runner.ts';

/** Series of two hours, a sample a minute, in promtool's notation: `from+step x count`. */
type Series = Record<string, string>;

/** A service that does well: mail comes in and goes out. */
const WELL: Series = {
  'up{job="postroom",instance="one"}': '1x120',
  'process_start_time_seconds{job="postroom",instance="one",process="start"}': '5x120',
  'nodejs_eventloop_lag_p99_seconds{job="postroom",instance="one",process="start"}': '0.02x120',
  'postroom_build_info{version="1.0.0",instance="one"}': '1x120',
  'postroom_backlog_rows{actor="threading",queue="assign"}': '3x120',
  'postroom_backlog_oldest_seconds{actor="threading",queue="assign"}': '1x120',
  'postroom_backlog_oldest_seconds{actor="delivery",queue="deliver"}': '120x120',
  'postroom_backlog_oldest_seconds{actor="scheduling",queue="words"}': '60x120',
  'postroom_backlog_read_failures_total{process="start"}': '0x120',
  'postroom_dead_rows{actor="delivery",queue="route"}': '0x120',
  'postroom_step_failures_total{actor="threading",step="assign",reason="fault",process="start"}': '0x120',
  'postroom_step_failures_total{actor="threading",step="assign",reason="away",process="start"}': '0x120',
  'postroom_delivery_outcomes_total{outcome="succeeded"}': '0+60x120',
  'postroom_delivery_outcomes_total{outcome="deferred"}': '0+3x120',
  'postroom_sending_outcomes_total{outcome="delivered",response="2xx"}': '0+60x120',
  'postroom_sending_outcomes_total{outcome="deferred",response="4xx"}': '0+6x120',
  'postroom_smtp_replies_total{stage="message",code="250"}': '0+60x120',
  'postroom_smtp_replies_total{stage="rcpt",code="451"}': '0+1x120',
  'postroom_smtp_replies_total{stage="mail",code="452"}': '0x120',
  'postroom_receiving_accept_seconds_bucket{le="0.05"}': '0+60x120',
  'postroom_receiving_accept_seconds_bucket{le="5"}': '0+60x120',
  'postroom_receiving_accept_seconds_bucket{le="+Inf"}': '0+60x120',
  postroom_parser_ends_total: '0x120',
  'postroom_database_waiting{pool="actor",process="start"}': '0x120',
  'postroom_bus_connected{process="start",instance="one",transport="nats"}': '1x120',
  'postroom_bus_question_seconds_count{question="receiving.message.accept",outcome="timeout"}': '0x120',
  'postroom_http_requests_total{status="2xx"}': '0+60x120',
  'postroom_http_requests_total{status="5xx"}': '0x120',
  'postroom_disk_free_bytes{instance="one",disk="mail"}': '50x120',
  'postroom_disk_size_bytes{instance="one",disk="mail"}': '100x120',
};

/** Values with which an alert fires; null removes the series. */
const troubles: Record<string, Record<string, string | null>> = {
  PostroomMailWaits: { 'postroom_backlog_oldest_seconds{actor="threading",queue="assign"}': '0+60x120' },
  PostroomOutsideWaits: { 'postroom_backlog_oldest_seconds{actor="delivery",queue="deliver"}': '0+60x120' },
  PostroomWordsWait: { 'postroom_backlog_oldest_seconds{actor="scheduling",queue="words"}': '0+60x120' },
  PostroomDeadRows: { 'postroom_dead_rows{actor="delivery",queue="route"}': '1x120' },
  PostroomBacklogUnread: { 'postroom_backlog_rows{actor="threading",queue="assign"}': null },
  PostroomStepFails: {
    'postroom_step_failures_total{actor="threading",step="assign",reason="fault",process="start"}': '0+1x120',
  },
  PostroomWebhooksFail: { 'postroom_delivery_outcomes_total{outcome="deferred"}': '0+90x120' },
  PostroomSendingDeferred: { 'postroom_sending_outcomes_total{outcome="deferred",response="4xx"}': '0+90x120' },
  PostroomSmtpDefers: { 'postroom_smtp_replies_total{stage="rcpt",code="451"}': '0+6x120' },
  PostroomSmtpNoRoom: { 'postroom_smtp_replies_total{stage="mail",code="452"}': '0+1x120' },
  PostroomAcceptSlow: { 'postroom_receiving_accept_seconds_bucket{le="0.05"}': '0+6x120' },
  PostroomParserEnds: { postroom_parser_ends_total: '0+1x120' },
  PostroomProcessDown: { 'up{job="postroom",instance="one"}': '0x120' },
  PostroomRestarts: { 'process_start_time_seconds{job="postroom",instance="one",process="start"}': '5+60x120' },
  PostroomEventLoopLag: {
    'nodejs_eventloop_lag_p99_seconds{job="postroom",instance="one",process="start"}': '0.8x120',
  },
  PostroomPoolExhausted: { 'postroom_database_waiting{pool="actor",process="start"}': '2x120' },
  PostroomDatabaseAway: {
    'postroom_step_failures_total{actor="threading",step="assign",reason="away",process="start"}': '0+12x120',
  },
  PostroomBusAway: { 'postroom_bus_connected{process="start",instance="one",transport="nats"}': '0x120' },
  PostroomQuestionsUnanswered: {
    'postroom_bus_question_seconds_count{question="receiving.message.accept",outcome="timeout"}': '0+10x120',
  },
  PostroomHttpErrors: { 'postroom_http_requests_total{status="5xx"}': '0+3x120' },
  PostroomDiskLow: { 'postroom_disk_free_bytes{instance="one",disk="mail"}': '8x120' },
  PostroomVersionsDiffer: { 'postroom_build_info{version="1.1.0",instance="two"}': '1x120' },
};

const rules = alertRules();

/** Returns the alerts that are firing after two hours, one of each name, by case. One run of promtool judges all cases. */
function findFiring(cases: Record<string, Series>): Map<string, string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'postroom-alerts-'));
  const file = path.join(folder, 'test.yml');
  // promtool compares whole alerts and says what it got instead: that is read here.
  const expected = rules.map(({ alert }) => ({
    eval_time: '119m',
    alertname: alert,
    exp_alerts: [{ exp_labels: { none: 'none' } }],
  }));
  const content = {
    rule_files: [path.join(repository, 'docs/deploy/prometheus/alerts.yml')],
    evaluation_interval: '1m',
    tests: Object.entries(cases).map(([name, series]) => ({
      name,
      interval: '1m',
      input_series: Object.entries(series).map(([series, values]) => ({ series, values })),
      alert_rule_test: expected,
    })),
  };
  writeFileSync(file, stringify(content));
  try {
    const { stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    const judged = [...stderr.matchAll(/^ {4}name: (\w+),\n {4}alertname: \w+, (?:(?!^ {4}name: )[^])*/gm)];
    if (judged.length !== rules.length * content.tests.length)
      throw new Error(`${judged.length} alerts are judged: ${stderr}`);
    const firing = new Map(content.tests.map(({ name }) => [name, new Set<string>()]));
    for (const [text, name = ''] of judged) {
      const [, got = ''] = text.split('got:');
      for (const [, alert = ''] of got.matchAll(/alertname="(\w+)"/g)) firing.get(name)?.add(alert);
    }
    return new Map([...firing].map(([name, alerts]) => [name, [...alerts]]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

let firing: Map<string, string[]>;
beforeAll(() => {
  const cases = Object.entries(troubles).map(([alert, changes]) => {
    const series = Object.entries({ ...WELL, ...changes }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    );
    return [alert, Object.fromEntries(series)];
  });
  if (hasPromtool) firing = findFiring({ well: WELL, ...Object.fromEntries(cases) });
});

test('each alert has a test here', () => {
  expect(Object.keys(troubles).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

test.skipIf(!hasPromtool)('no alert fires while all is well', () => {
  expect(firing.get('well')).toEqual([]);
});

test.skipIf(!hasPromtool).each(Object.keys(troubles))('%s fires when it should, and alone', (alert) => {
  expect(firing.get(alert)).toEqual([alert]);
});
