import { Paper, SimpleGrid, Text, Tooltip } from '@mantine/core';
import { SENDING_RATE } from './sending-rate.ts';

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
      <Figure label="Received" value={count(totals.received)} about={totals.received === 1 ? 'email' : 'emails'} />
      <Figure label="Sent" value={count(totals.sent)} about={`${count(totals.delivered)} delivered`} />
      <Figure
        label="Sending success"
        definition={SENDING_RATE}
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
        definition="Share of attempted deliveries whose last attempt succeeded. An email to two endpoints has two deliveries. Deliveries that are being retried count as failed until they succeed."
        value={percent(webhooks.successRate)}
        about={webhookResults(webhooks)}
      />
      <Figure
        label="Webhook time, p95"
        definition="95 of 100 deliveries had their response within this time. Of each delivery, the last attempt counts."
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

/** What became of the attempted deliveries, of which the rate is a share. */
function webhookResults({ successful, failed, retrying, successRate }: Webhooks): string {
  if (successRate === null) return 'no deliveries yet';
  const attempted = `of ${counted(successful + failed + retrying, 'delivery', 'deliveries')}`;
  if (failed + retrying === 0) return `${attempted}, none failed`;
  const parts = [failed > 0 ? `${count(failed)} failed` : '', retrying > 0 ? `${count(retrying)} being retried` : ''];
  return `${attempted}, ${parts.filter((part) => part !== '').join(', ')}`;
}

function counted(number: number, one: string, many: string): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

function Figure({
  label,
  value,
  about,
  definition = null,
}: {
  label: string;
  value: string;
  about: string;
  /** what a rate or time is computed from */
  definition?: string | null;
}) {
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)">
      {definition === null ? (
        <Text size="sm" c="dimmed">
          {label}
        </Text>
      ) : (
        <Tooltip label={definition} multiline maw={280} events={{ hover: true, focus: true, touch: true }}>
          <Text size="sm" c="dimmed" tabIndex={0} td="underline dotted" w="fit-content">
            {label}
          </Text>
        </Tooltip>
      )}
      <Text fz="1.6rem" fw={700} lh={1.3} data-figure={label}>
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

/** Returns milliseconds in words, such as `40 ms` or `1.5 s`. */
export function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
