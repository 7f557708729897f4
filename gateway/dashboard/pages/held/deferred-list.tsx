import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { graphql, type ResultOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconSend } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import { subjectOf } from '../activity/email-words.ts';
import { ListCard } from '../activity/list-card.tsx';
import { ListFrame } from '../activity/list-frame.tsx';
import { useGrowingList } from '../activity/use-growing-list.ts';
import { RETRY_SENDING } from '../activity/waiting-documents.ts';
import { LastReply } from './last-reply.tsx';

const DEFERRED = graphql(`
  query DashboardDeferred($first: Int!, $after: String) {
    waitingEmails(for: DEFERRED, first: $first, after: $after) {
      edges {
        cursor
        node {
          id subject createdAt from { name address }
          recipients { id address status attemptCount lastCode lastEnhancedStatus lastText nextAttemptAt }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Deferred = ResultOf<typeof DEFERRED>['waitingEmails']['edges'][number]['node'];

const PAGE_SIZE = 30;
const pageOf = ({ waitingEmails }: ResultOf<typeof DEFERRED>) => waitingEmails;

/** Deferred sent mail, each with the server's last reply and the next attempt. */
export function DeferredList() {
  const list = useGrowingList({
    query: DEFERRED,
    variables: { first: PAGE_SIZE, after: null },
    kinds: ['EMAIL_DELAYED', 'EMAIL_DELIVERED', 'EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_SENT'],
    types: ['Email', 'Recipient'],
    pageOf,
  });
  return (
    <ListFrame
      list={list}
      label="Deferred emails"
      empty={
        <EmptyState
          icon={IconSend}
          title="No deferred emails"
          about="Emails that a server temporarily refused appear here. Postroom retries them for five days."
        />
      }
    >
      {(email) => <DeferredRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function DeferredRow({ email }: { email: Deferred }) {
  const { act, isBusy } = useAct(RETRY_SENDING, { done: 'The email is being sent again.' });
  const waiting = email.recipients.filter(({ status, attemptCount }) => status === 'PENDING' && attemptCount > 0);
  return (
    <ListCard id={email.id}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} miw={0} flex="1 1 18rem">
          <Anchor
            component={Link}
            href={`/emails/${email.id}?tab=recipients`}
            fw={600}
            c="inherit"
            className="postroom-wrap"
          >
            {subjectOf(email)}
          </Anchor>
          <Text size="sm" c="dimmed" className="postroom-wrap">
            from {email.from.address}, <RelativeTime at={email.createdAt} />
          </Text>
        </Stack>
        <Button
          {...needs('send', 'everything')}
          size="xs"
          leftSection={<IconSend size={16} aria-hidden />}
          loading={isBusy}
          onClick={() => void act({ id: email.id })}
          aria-label={`Retry now: “${subjectOf(email)}”`}
        >
          Retry now
        </Button>
      </Group>
      <Stack gap="xs" mt="xs">
        {waiting.map((recipient) => (
          <div key={recipient.id}>
            <Text size="sm" className="postroom-wrap">
              {recipient.address}: {recipient.attemptCount} {recipient.attemptCount === 1 ? 'try' : 'tries'}
              {recipient.nextAttemptAt !== null && (
                <>
                  , next <RelativeTime at={recipient.nextAttemptAt} />
                </>
              )}
            </Text>
            <LastReply recipient={recipient} />
          </div>
        ))}
      </Stack>
    </ListCard>
  );
}
