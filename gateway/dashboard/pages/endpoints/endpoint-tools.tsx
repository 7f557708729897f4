import {
  Alert,
  Anchor,
  Checkbox,
  Group,
  List,
  Paper,
  PasswordInput,
  Progress,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
  Title,
} from '@mantine/core';
import { useRef, useState } from 'react';
import { mutation, type ResultOf } from '../../graphql.ts';
import { BusyButton, ConfirmButton } from '../../parts/buttons.tsx';
import { makeChoices } from '../../parts/choices.ts';
import { Command, CopyButton } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { Trouble } from '../../parts/form.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { CautionAlert, ErrorAlert, Hint, Small } from '../../parts/text.tsx';
import { type PayloadOf, useAct } from '../../parts/use-act.ts';
import { counted, formatCount } from '../../parts/words.ts';
import { Json } from '../activity/delivery-parts.tsx';
import type { Endpoint, Webhook } from './endpoint-values.ts';
import { FORMAT_CHOICES, type FORMATS } from './endpoint-values.ts';

const TEST = mutation('testEndpoint', 'isSuccessful message statusCode responseTimeMs responseBody payload urlTested');
type TestResult = PayloadOf<ResultOf<typeof TEST>>;

/** Sends a sample through the same code as real mail, and shows the request and the response. */
export function EndpointTest({ endpoint }: { endpoint: Endpoint }) {
  const isWebhook = endpoint.__typename === 'WebhookEndpoint';
  const [format, setFormat] = useState<keyof typeof FORMATS>(isWebhook ? endpoint.format : 'NATIVE');
  const [url, setUrl] = useState('');
  const [result, setResult] = useState<TestResult | null>(null);
  const { act, problem } = useAct(TEST, { quiet: true });
  const run = async () => {
    const ofWebhook = isWebhook ? { format, overrideUrl: url.trim() || null } : {};
    setResult((await act({ id: endpoint.id, ...ofWebhook })).payload);
  };
  return (
    <Stack gap="md">
      <Small maw="65ch">
        Sends a sample email in the same way as real mail, with the same payload, signature and URL rules.{' '}
        {isWebhook ? 'The test is not counted.' : 'The email is really sent and is listed among your sent emails.'}
      </Small>
      <Group align="flex-end" gap="sm">
        {isWebhook && (
          <>
            <Select
              label="Format"
              allowDeselect={false}
              value={format}
              onChange={(value) => setFormat(value as keyof typeof FORMATS)}
              data={FORMAT_CHOICES}
            />
            <TextInput
              label="URL for this test only"
              placeholder={endpoint.url}
              value={url}
              onChange={({ currentTarget }) => setUrl(currentTarget.value)}
              w={{ base: '100%', sm: 320 }}
            />
          </>
        )}
        <BusyButton label="Send test" icon="player-play" variant="filled" needed="endpoints" act={run} />
      </Group>
      <div aria-live="polite">
        <Trouble text={problem?.message} title="The test failed" />
        {result !== null && <TestOutcome result={result} />}
      </div>
    </Stack>
  );
}

function TestOutcome({ result }: { result: TestResult }) {
  const { isSuccessful, message, statusCode, responseTimeMs, urlTested, responseBody, payload } = result;
  return (
    <Paper withBorder p="md" bg="var(--postroom-raised)" data-test-result={isSuccessful ? 'success' : 'failure'}>
      <Stack gap="sm">
        <Alert
          color={isSuccessful ? 'green' : 'red'}
          variant="outline"
          title={isSuccessful ? 'The test succeeded' : 'The test failed'}
        >
          {message} {statusCode !== null && `The response status was ${statusCode}.`} It took {responseTimeMs} ms.
          {urlTested !== null && ` URL: ${urlTested}`}
        </Alert>
        {responseBody !== null && responseBody !== '' && <Json text={responseBody} label="Response" />}
        {payload !== null && <Json text={JSON.stringify(payload)} label="Request" />}
      </Stack>
    </Paper>
  );
}

const REPLAY = mutation('replayDeliveries', 'replayedCount hasMore until skipped { waiting succeeded deliveredAgain }');
type Skipped = PayloadOf<ResultOf<typeof REPLAY>>['skipped'];

const HOUR_MS = 3_600_000;
const PERIODS = [
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
    const since = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString();
    let until: string | null = null;
    for (let done = 0; ; ) {
      const { payload, problem: why } = await act({ id, since, until, status, limit: PART });
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
  const isRunning = state === 'running';
  const delivered = `${counted(count, 'email is', 'emails are')} delivered again.`;
  return (
    <Stack gap="md">
      <Small maw="65ch">
        Delivers each email of the period again, in the order of its first delivery. Skips emails that are still pending
        or were delivered again since. Receivers can use the email id to ignore duplicates.
      </Small>
      {!isActive && <CautionAlert title="Endpoint is off">Turn the endpoint on first.</CautionAlert>}
      <Group align="flex-end" gap="sm">
        <Select
          label="Period"
          allowDeselect={false}
          value={hours}
          onChange={(value) => setHours(value ?? '24')}
          data={PERIODS}
          disabled={isRunning}
        />
        <SegmentedControl
          aria-label="Emails to replay"
          value={status}
          onChange={(value) => setStatus(value as 'FAILED' | 'ALL')}
          disabled={isRunning}
          data={makeChoices({ FAILED: 'Failed', ALL: 'All' })}
        />
        {isRunning ? (
          <QuietButton label="Stop" icon="player-stop" onClick={() => (isStopped.current = true)} />
        ) : (
          <MainButton
            label="Replay emails"
            icon="repeat"
            needed="endpoints"
            disabled={!isActive}
            onClick={() => void run()}
          />
        )}
      </Group>
      {isRunning && <Progress value={100} animated striped aria-label="Replaying" />}
      <Small role="status" data-replay={state}>
        {isRunning && `${counted(count, 'email')} so far.`}
        {state === 'done' &&
          (count === 0
            ? 'No email of this period had to be delivered again.'
            : `${delivered} See Deliveries for the results.`)}
        {state === 'stopped' && problem === null && `Stopped after ${counted(count, 'email')}.`}
      </Small>
      {!isRunning && skipped !== null && <SkippedNote skipped={skipped} />}
      <RetryWaiting id={id} isActive={isActive} />
      {problem !== null && (
        <ErrorAlert title="The replay stopped because of an error">
          {problem} {count > 0 && `Before that, ${delivered}`}
        </ErrorAlert>
      )}
    </Stack>
  );
}

/** What the replay left out, and why. */
function SkippedNote({ skipped: { waiting, succeeded, deliveredAgain } }: { skipped: Skipped }) {
  const reasons = [
    { count: waiting, reason: 'still waiting for a retry, or being attempted now' },
    { count: succeeded, reason: 'delivered successfully' },
    { count: deliveredAgain, reason: 'delivered again since, or about to be' },
  ].filter(({ count }) => count > 0);
  if (reasons.length === 0) return null;
  return (
    <div>
      <Small>Skipped deliveries:</Small>
      <List size="sm">
        {reasons.map(({ count, reason }) => (
          <List.Item key={reason}>{`${formatCount(count)} ${reason}`}</List.Item>
        ))}
      </List>
    </div>
  );
}

const RETRY_WAITING = mutation('retryWaitingDeliveries', 'retriedCount hasMore');

/** A button that attempts all deliveries now that wait for their retry. */
function RetryWaiting({ id, isActive }: { id: string; isActive: boolean }) {
  const { act } = useAct(RETRY_WAITING);
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState('');
  const run = async () => {
    setRunning(true);
    let count = 0;
    for (let hasMore = true; hasMore; ) {
      const { payload } = await act({ id });
      if (payload === null) break;
      count += payload.retriedCount;
      hasMore = payload.hasMore;
      setOutcome(
        count === 0
          ? 'No delivery is waiting for a retry.'
          : `${counted(count, 'delivery is', 'deliveries are')} attempted now.`,
      );
    }
    setRunning(false);
  };
  return (
    <Group gap="sm">
      <QuietButton
        label="Retry all waiting now"
        icon="player-track-next"
        needed="endpoints"
        disabled={!isActive}
        loading={isRunning}
        onClick={() => void run()}
      />
      <Small role="status">{outcome}</Small>
    </Group>
  );
}

const ROTATE = mutation(
  'rotateEndpointSecret',
  'endpoint { __typename id signingSecrets { secret validUntil } verificationToken }',
);

const VERIFY = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.POSTROOM_SECRET);   // whsec_…
// In your handler. body is the unparsed text of the request.
const payload = webhook.verify(body, request.headers);`;

/** Signing secrets of an endpoint, their rotation, and sample code that verifies a request. */
export function SigningTab({ endpoint }: { endpoint: Webhook }) {
  const [isTokenReplaced, setTokenReplaced] = useState(false);
  const { act } = useAct(ROTATE, { done: 'A new secret was created. The old secret stays valid for 24 hours.' });
  return (
    <Stack gap="lg" maw={760}>
      <section aria-labelledby="secrets-title">
        <Title order={2} id="secrets-title" mb="xs">
          Signing secrets
        </Title>
        <Hint mb="sm">
          Requests are signed according to{' '}
          <Anchor
            href="https://www.standardwebhooks.com"
            target="_blank"
            rel="noopener noreferrer"
            inherit
            underline="always"
          >
            Standard Webhooks
          </Anchor>
          , with the headers webhook-id, webhook-timestamp and webhook-signature.
        </Hint>
        <Stack gap="sm">
          {endpoint.signingSecrets.map(({ secret, validUntil }, at) => (
            <Secret
              key={secret}
              label={at === 0 ? 'Secret' : 'Previous secret'}
              value={secret}
              validUntil={validUntil}
            />
          ))}
          <Secret
            label="Verification token (X-Webhook-Verification-Token)"
            value={endpoint.verificationToken}
            validUntil={null}
          />
        </Stack>
        <Group mt="md">
          <ConfirmButton
            needed="endpoints"
            label="Rotate secret"
            question="Rotate the signing secret?"
            about="For 24 hours, requests have a signature for each secret so that your receiver can switch. After that the old secret is invalid."
            act={() => act({ id: endpoint.id, replaceVerificationToken: isTokenReplaced })}
          >
            <Checkbox
              label="Also replace the verification token now"
              checked={isTokenReplaced}
              onChange={({ currentTarget }) => setTokenReplaced(currentTarget.checked)}
            />
          </ConfirmButton>
        </Group>
      </section>
      <section aria-labelledby="verify-title">
        <Title order={2} id="verify-title" mb="xs">
          Verify a request
        </Title>
        <Command text={VERIFY} label="Copy code" />
      </section>
    </Stack>
  );
}

function Secret({ label, value, validUntil }: { label: string; value: string; validUntil: string | null }) {
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <PasswordInput
        label={label}
        value={value}
        readOnly
        ff="monospace"
        flex={1}
        visibilityToggleButtonProps={{ 'aria-label': `Show ${label.toLowerCase()}`, tabIndex: 0 }}
        description={validUntil === null ? undefined : <RelativeTime at={validUntil} prefix="valid until " />}
      />
      <CopyButton text={value} label={`Copy ${label.toLowerCase()}`} />
    </Group>
  );
}
