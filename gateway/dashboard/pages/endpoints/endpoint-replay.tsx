import { Alert, Button, Group, List, Progress, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { graphql } from '../../graphql.ts';
import { counted, formatCount } from '../../parts/counted.ts';
import { IconPlayerStop, IconRepeat } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { RetryWaiting } from './retry-waiting.tsx';

const REPLAY = graphql(`
  mutation DashboardReplay($input: ReplayDeliveriesInput!) {
    replayDeliveries(input: $input) {
      __typename
      ... on ReplayDeliveriesPayload { replayedCount hasMore until skipped { waiting succeeded deliveredAgain } }
      ... on Error { message code }
    }
  }
`);

const HOUR_MS = 3_600_000;
const since = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last 24 hours' },
  { value: '168', label: 'the last 7 days' },
  { value: '720', label: 'the last 30 days' },
];
/** Emails per request: few enough that the progress is visible and that it can be stopped. */
const PART = 200;

/** Replays the deliveries of a period in several requests. Can be stopped between two of them. */
export function EndpointReplay({ id, isActive }: { id: string; isActive: boolean }) {
  const [hours, setHours] = useState('24');
  const [status, setStatus] = useState<'FAILED' | 'ALL'>('FAILED');
  const [count, setCount] = useState(0);
  const [state, setState] = useState<'idle' | 'running' | 'stopped' | 'done'>('idle');
  const [problem, setProblem] = useState<string | null>(null);
  const [skipped, setSkipped] = useState<Skipped | null>(null);
  const isStopped = useRef(false);
  const { act } = useAct(REPLAY, { quiet: true });
  const run = async () => {
    isStopped.current = false;
    setCount(0);
    setProblem(null);
    setSkipped(null);
    setState('running');
    const from = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
    let until: string | null = null;
    for (let done = 0; ; ) {
      const { payload, problem: why } = await act({ input: { id, since: from, until, status, limit: PART } });
      if (why !== null) {
        setProblem(why.message);
        return setState('stopped');
      }
      // Later calls count what the earlier ones delivered.
      if (until === null) setSkipped(payload.skipped);
      done += payload.replayedCount;
      setCount(done);
      if (!payload.hasMore) return setState('done');
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may stop it between two parts
      if (isStopped.current) return setState('stopped');
      // The same period again, so that nothing is delivered twice.
      until = payload.until;
    }
  };
  return (
    <Stack gap="md">
      <Text size="sm" maw="65ch">
        Delivers each email of the period again, in the order of its first delivery. Skips emails that are still pending
        or were delivered again since. Receivers can use the email id to ignore duplicates.
      </Text>
      {!isActive && (
        <Alert color="orange" variant="outline" title="Endpoint is off">
          Turn the endpoint on first.
        </Alert>
      )}
      <Group align="flex-end" gap="sm">
        <Select
          label="Period"
          allowDeselect={false}
          value={hours}
          onChange={(value) => setHours(value ?? '24')}
          data={since}
          disabled={state === 'running'}
        />
        <SegmentedControl
          aria-label="Emails to replay"
          value={status}
          onChange={(value) => setStatus(value as 'FAILED' | 'ALL')}
          disabled={state === 'running'}
          data={[
            { value: 'FAILED', label: 'Failed' },
            { value: 'ALL', label: 'All' },
          ]}
        />
        {state === 'running' ? (
          <Button
            variant="default"
            leftSection={<IconPlayerStop size={16} aria-hidden />}
            onClick={() => (isStopped.current = true)}
          >
            Stop
          </Button>
        ) : (
          <Button
            {...needs('endpoints')}
            leftSection={<IconRepeat size={16} aria-hidden />}
            disabled={!isActive}
            onClick={() => void run()}
          >
            Replay emails
          </Button>
        )}
      </Group>
      {state === 'running' && <Progress value={100} animated striped aria-label="Replaying" />}
      <Text size="sm" role="status" data-replay={state}>
        {state === 'running' && `${emails(count)} so far.`}
        {state === 'done' &&
          (count === 0
            ? 'No email of this period had to be delivered again.'
            : `${inWords(count)} delivered again. See Deliveries for the results.`)}
        {state === 'stopped' && problem === null && `Stopped after ${emails(count)}.`}
      </Text>
      {state !== 'running' && skipped !== null && <SkippedNote skipped={skipped} />}
      <RetryWaiting id={id} isActive={isActive} />
      {problem !== null && (
        <Alert color="red" variant="outline" title="The replay stopped because of an error">
          {problem} {count > 0 && `Before that, ${inWords(count)} delivered again.`}
        </Alert>
      )}
    </Stack>
  );
}

type Skipped = { waiting: number; succeeded: number; deliveredAgain: number };

/** What the replay left out, and why. */
function SkippedNote({ skipped: { waiting, succeeded, deliveredAgain } }: { skipped: Skipped }) {
  const reasons = [
    [waiting, 'still waiting for a retry, or being attempted now'],
    [succeeded, 'delivered successfully'],
    [deliveredAgain, 'delivered again since, or about to be'],
  ] as const;
  const told = reasons.filter(([count]) => count > 0);
  if (told.length === 0) return null;
  return (
    <div>
      <Text size="sm">Skipped deliveries:</Text>
      <List size="sm">
        {told.map(([count, reason]) => (
          <List.Item key={reason}>{`${formatCount(count)} ${reason}`}</List.Item>
        ))}
      </List>
    </div>
  );
}

function inWords(count: number): string {
  return `${emails(count)} ${count === 1 ? 'is' : 'are'}`;
}

function emails(count: number): string {
  return counted(count, 'email');
}
