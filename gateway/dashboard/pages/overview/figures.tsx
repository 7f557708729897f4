import { Paper, SimpleGrid, Text } from '@mantine/core';

interface Totals {
  received: number;
  sent: number;
  delivered: number;
  bounced: number;
  failed: number;
  successRate: number | null;
}

interface Webhooks {
  successful: number;
  failed: number;
  /** waiting for another attempt after a failure */
  retrying: number;
  successRate: number | null;
  medianMs: number | null;
  p95Ms: number | null;
  isSampled: boolean;
}

/** The five figures of a period. A rate is null if there is no data. */
export function Figures({ totals, webhooks }: { totals: Totals; webhooks: Webhooks }) {
  const lost = totals.bounced + totals.failed;
  return (
    <SimpleGrid cols={{ base: 2, md: 5 }} spacing="md">
      <Figure label="Received" value={count(totals.received)} about="emails" />
      <Figure label="Sent" value={count(totals.sent)} about={`${count(totals.delivered)} delivered`} />
      <Figure
        label="Sending success"
        value={percent(totals.successRate)}
        about={
          totals.successRate === null
            ? 'no results yet'
            : lost === 0
              ? 'no bounces or failures'
              : `${count(lost)} bounced or failed`
        }
      />
      <Figure
        label="Webhook success"
        value={percent(webhooks.successRate)}
        about={
          webhooks.successRate === null
            ? retrying(webhooks.retrying)
            : `${count(webhooks.failed)} of ${count(webhooks.successful + webhooks.failed)} failed${
                webhooks.retrying === 0 ? '' : `, ${retrying(webhooks.retrying)}`
              }`
        }
      />
      <Figure
        label="Webhook time, p95"
        value={webhooks.p95Ms === null ? '–' : duration(webhooks.p95Ms)}
        about={
          webhooks.medianMs === null
            ? 'no deliveries yet'
            : `half within ${duration(webhooks.medianMs)}${webhooks.isSampled ? ', estimated from a sample' : ''}`
        }
      />
    </SimpleGrid>
  );
}

/** Deliveries that failed so far, and are not finished. */
function retrying(number: number): string {
  if (number === 0) return 'no deliveries yet';
  return `${count(number)} failing, being retried`;
}

function Figure({ label, value, about }: { label: string; value: string; about: string }) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)">
      <Text size="sm" c="dimmed">
        {label}
      </Text>
      <Text fz="1.6rem" fw={650} lh={1.3} data-figure={label}>
        {value}
      </Text>
      <Text size="xs" c="dimmed">
        {about}
      </Text>
    </Paper>
  );
}

const whole = new Intl.NumberFormat('en');

function count(number: number): string {
  return whole.format(number);
}

/** Never rounds up to all: 99.96 % is not 100 %. */
function percent(rate: number | null): string {
  return rate === null ? '–' : `${rate === 1 ? 100 : Math.floor(rate * 1_000) / 10} %`;
}

function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
