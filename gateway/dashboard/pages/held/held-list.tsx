import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { graphql, type ResultOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconShieldCheck, IconTrash } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { subjectOf } from '../activity/email-words.ts';
import { ListFrame } from '../activity/list-frame.tsx';
import { useGrowingList } from '../activity/use-growing-list.ts';
import { RELEASE } from '../activity/waiting-documents.ts';
import { useDeleteMessage } from '../inbox/use-delete-message.ts';
import { KeptRow } from './kept-row.tsx';
import { ReleaseAll } from './release-all.tsx';

const HELD = graphql(`
  query DashboardHeld($wait: WaitReason!, $first: Int!, $after: String) {
    waitingEmails(for: $wait, first: $first, after: $after) {
      edges {
        cursor
        node { id subject preview createdAt isTest envelopeRecipient from { name address } guardRule { id name } }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Held = ResultOf<typeof HELD>['waitingEmails']['edges'][number]['node'];

const PAGE_SIZE = 50;
const pageOf = ({ waitingEmails }: ResultOf<typeof HELD>) => waitingEmails;

/** Received mail that a guard rule blocked, or that waits for the answer of a rule's model. */
export function HeldList({ wait }: { wait: 'BLOCKED' | 'REVIEW' }) {
  const list = useGrowingList({
    query: HELD,
    variables: { wait, first: PAGE_SIZE, after: null },
    kinds: ['EMAIL_BLOCKED', 'EMAIL_HELD', 'EMAIL_RELEASED', 'EMAIL_REPROCESSED', 'THREAD_TRASHED', 'THREAD_RESTORED'],
    types: ['Email'],
    pageOf,
  });
  return (
    <Stack gap="sm">
      <ReleaseAll ids={list.rows.map(({ id }) => id)} onDone={list.refresh} />
      <ListFrame
        list={list}
        label={wait === 'BLOCKED' ? 'Held emails' : 'Emails to review'}
        empty={wait === 'BLOCKED' ? <NothingBlocked /> : <NothingToReview />}
      >
        {(email) => <HeldRow key={email.id} email={email} />}
      </ListFrame>
    </Stack>
  );
}

function HeldRow({ email }: { email: Held }) {
  const { id, guardRule } = email;
  const remove = useDeleteMessage();
  const { act, isBusy } = useAct(RELEASE, { done: 'The email was released and is being delivered.' });
  const rule = guardRule !== null && (
    <Text size="sm">
      Guard rule:{' '}
      <Anchor component={Link} href={`/rules/${guardRule.id}`} size="sm" underline="always">
        {guardRule.name}
      </Anchor>
    </Text>
  );
  return (
    <KeptRow email={email} reason={rule}>
      <Group gap={6} wrap="nowrap">
        <Button
          {...needs('endpoints')}
          size="xs"
          variant="default"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => void remove(id)}
          aria-label={`Delete “${subjectOf(email)}”`}
        >
          Delete
        </Button>
        <Button
          {...needs('endpoints')}
          size="xs"
          leftSection={<IconShieldCheck size={16} aria-hidden />}
          loading={isBusy}
          onClick={() => void act({ id })}
          aria-label={`Release “${subjectOf(email)}”`}
        >
          Release
        </Button>
      </Group>
    </KeptRow>
  );
}

function NothingBlocked() {
  return (
    <EmptyState
      icon={IconShieldCheck}
      title="No held emails"
      about="Emails that a guard rule holds appear here. They are kept until you release or delete them."
    >
      <Button component={Link} href="/rules" variant="default">
        Guard rules
      </Button>
    </EmptyState>
  );
}

function NothingToReview() {
  return (
    <EmptyState
      icon={IconShieldCheck}
      title="No emails to review"
      about="If the model of a guard rule does not respond, the email waits here for your decision."
    />
  );
}
