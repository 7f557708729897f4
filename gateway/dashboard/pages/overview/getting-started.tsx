import { Group, Title } from '@mantine/core';
import { useEffect, useState } from 'react';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { readStored, writeStored } from '../../parts/browser-storage.ts';
import { QuietButton } from '../../parts/controls.tsx';
import type { IconName } from '../../parts/icons.ts';
import { Row, Rows } from '../../parts/list.tsx';
import { Postmark } from '../../parts/postmark.tsx';
import { Hint, SmallLink } from '../../parts/text.tsx';
import { useViewer } from '../../shell/viewer.ts';

const STARTED = graphql(`
  query DashboardGettingStarted {
    emailAddresses(first: 1) { totalCount }
    received: emails(first: 1, filter: { type: RECEIVED }) { edges { node { id } } }
    sent: emails(first: 1, filter: { type: SENT }) { edges { node { id } } }
    endpoints(first: 1) { totalCount }
    apiKeys(first: 20) { edges { node { id lastUsedAt } } }
  }
`);

interface Step {
  icon: IconName;
  title: string;
  about: string;
  path: string;
  /** the right that it needs */
  right: string;
  isDone: (data: ResultOf<typeof STARTED>) => boolean;
}

const ALL_STEPS: Step[] = [
  {
    icon: 'at',
    title: 'Create an address',
    about: 'Mail to it is received and stored.',
    path: '/addresses?new',
    right: 'domains',
    isDone: ({ emailAddresses }) => emailAddresses.totalCount > 0,
  },
  {
    icon: 'inbox',
    title: 'Receive an email',
    about: 'A command or a click sends the first one.',
    path: '/welcome',
    right: 'read',
    isDone: ({ received }) => received.edges.length > 0,
  },
  {
    icon: 'send',
    title: 'Send an email',
    about: 'Write one, or reply to the first.',
    path: '/inbox?compose=new',
    right: 'send',
    isDone: ({ sent }) => sent.edges.length > 0,
  },
  {
    icon: 'webhook',
    title: 'Deliver mail to your program',
    about: 'An endpoint posts each email as a signed webhook, or forwards it.',
    path: '/endpoints?new=webhook',
    right: 'endpoints',
    isDone: ({ endpoints }) => endpoints.totalCount > 0,
  },
  {
    icon: 'key',
    title: 'Call the API',
    about: 'Make a request with an API key.',
    path: '/keys',
    right: 'keys',
    isDone: ({ apiKeys }) => apiKeys.edges.some(({ node }) => node.lastUsedAt !== null),
  },
];

/** First steps of an account that the person may take, until all are done or the list is hidden in this browser. */
export function GettingStarted() {
  const { id, person } = useViewer();
  const steps = ALL_STEPS.filter(({ right }) => person?.rights.includes(right) === true);
  const name = `postroom-started-${id}`;
  const [isOver, setOver] = useState(() => readStored(name) !== null);
  const { data } = useLiveQuery({
    query: STARTED,
    kinds: ['EMAIL_RECEIVED', 'EMAIL_SENT'],
    types: ['EmailAddress', 'Endpoint', 'ApiKey', 'Email'],
    isPaused: isOver,
    gatherMs: 2_000,
  });
  const isComplete = data !== undefined && steps.every(({ isDone }) => isDone(data));
  useEffect(() => {
    if (isComplete) writeStored(name, 'done');
  }, [isComplete, name]);
  if (isOver || data === undefined || isComplete) return null;
  const done = steps.filter(({ isDone }) => isDone(data)).length;
  const hide = () => {
    writeStored(name, 'hidden');
    setOver(true);
  };
  return (
    <section aria-labelledby="started-title">
      <Group justify="space-between" mb="xs">
        <Title order={2} id="started-title">
          Getting started
        </Title>
        <Group gap="sm">
          <Hint role="status">
            {done} of {steps.length} done
          </Hint>
          <QuietButton label="Hide" size="compact-sm" onClick={hide} />
        </Group>
      </Group>
      <Rows label="First steps">
        {steps.map(({ icon, title, about, path, isDone }) => (
          <Row
            key={path}
            name={
              <>
                <Postmark icon={isDone(data) ? 'check' : icon} />
                {isDone(data) ? (
                  <Hint>{title}: done</Hint>
                ) : (
                  <SmallLink href={path} fw={600}>
                    {title}
                  </SmallLink>
                )}
              </>
            }
            about={isDone(data) ? '' : about}
          />
        ))}
      </Rows>
    </section>
  );
}
