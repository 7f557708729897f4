import { Anchor, Badge, Group, Paper, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core';
import { useQuery } from 'urql';
import { Link } from 'wouter';
import type { ResultOf } from '../../graphql.ts';
import { counted } from '../../parts/counted.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconChecks } from '../../parts/icons.ts';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { PageHeader } from '../../parts/page-header.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { nameOf, subjectOf } from '../activity/email-words.ts';
import { ListCard } from '../activity/list-card.tsx';
import { ListFrame } from '../activity/list-frame.tsx';
import { useGrowingList } from '../activity/use-growing-list.ts';
import { MessageAttachments } from '../inbox/message-attachments.tsx';
import { timeInZone } from '../scheduled/time-in-zone.ts';
import { ApprovalActions } from './approval-actions.tsx';
import { APPROVAL_KINDS, WAITING, WAITING_CONTENT } from './approval-documents.ts';
import { ReviewNotes, ReviewParts } from './sent-review.tsx';

type Waiting = ResultOf<typeof WAITING>['waitingEmails']['edges'][number]['node'];
type Content = NonNullable<ResultOf<typeof WAITING_CONTENT>['email']>;
type AnsweredThread = NonNullable<NonNullable<Content['approval']>['thread']>;

/** Each is shown in full. */
const PAGE_SIZE = 10;
/** Newest messages of the thread beside an email. */
const MESSAGES = 5;

/** Emails that wait for approval, newest first. */
export function ApprovalsPage() {
  const list = useGrowingList({
    query: WAITING,
    variables: { first: PAGE_SIZE, after: null },
    kinds: APPROVAL_KINDS,
    types: ['Email', 'ApproveEmailPayload', 'RejectEmailPayload'],
    pageOf: ({ waitingEmails }) => waitingEmails,
  });
  return (
    <>
      <PageHeader title="Approvals" about="Emails that are sent when you approve them, newest first." />
      <ListFrame
        list={list}
        label="Emails awaiting approval"
        empty={
          <EmptyState
            icon={IconChecks}
            title="No emails to approve"
            about={
              <>
                Emails of an{' '}
                <Anchor component={Link} href="/keys" underline="always">
                  API key
                </Anchor>{' '}
                whose send policy asks for approval wait here until you approve or reject them.
              </>
            }
          />
        }
      >
        {(email) => <WaitingRow key={email.id} email={email} />}
      </ListFrame>
    </>
  );
}

function WaitingRow({ email }: { email: Waiting }) {
  const { id, from, to, cc, bcc, approval, createdAt, scheduledAt, timezone } = email;
  const title = subjectOf(email);
  const marks = [
    approval?.sentBy == null ? 'by a person or webhook' : `by API key ${approval.sentBy}`,
    ...(approval?.reasonToWait === 'ON_REVIEW' ? ['follows mail with text aimed at agents'] : []),
    ...(approval?.reasonToWait === 'NEW_RECIPIENTS' ? ['new recipient'] : []),
  ];
  const people = [
    ['To', to],
    ['Cc', cc],
    ['Bcc', bcc],
  ] as const;
  return (
    <ListCard id={id}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" gap="sm">
          <Stack gap={2} miw={0} flex="1 1 18rem">
            <Group gap="xs">
              <Anchor component={Link} href={`/emails/${id}`} fw={600} c="inherit" className="postroom-wrap">
                {title}
              </Anchor>
              {marks.map((mark) => (
                <Badge key={mark} variant="default" tt="none" radius="sm" fw={600}>
                  {mark}
                </Badge>
              ))}
            </Group>
            <Text size="sm" className="postroom-wrap">
              From {from.name === null ? from.address : `${from.name} (${from.address})`}
            </Text>
            {people.map(([field, list]) =>
              list.length === 0 ? null : (
                <Text key={field} size="sm" className="postroom-wrap">
                  {field} {list.map(({ address }) => address).join(', ')}
                </Text>
              ),
            )}
            <Text size="xs" c="dimmed">
              Written <RelativeTime at={createdAt} />
              {approval?.expiresAt != null && <RelativeTime at={approval.expiresAt} prefix=", rejected " />}
              {approval?.expiresAt != null && ' unless you approve it'}
              {scheduledAt !== null && `. To be sent at ${timeInZone(scheduledAt, timezone ?? 'UTC')}`}
            </Text>
          </Stack>
          <Group gap="xs" role="group" aria-label="Decide">
            <ApprovalActions id={id} title={title} />
          </Group>
        </Group>
        <WaitingContent id={id} title={title} />
      </Stack>
    </ListCard>
  );
}

/** The message in full, with the thread that it answers beside it. */
function WaitingContent({ id, title }: { id: string; title: string }) {
  const [{ data, error }, execute] = useQuery({ query: WAITING_CONTENT, variables: { id, last: MESSAGES } });
  const email = data?.email;
  if (email == null)
    return error === undefined ? (
      <Skeleton h={60} aria-label="Loading the message" />
    ) : (
      <ErrorNote error={error} retry={() => execute({ requestPolicy: 'network-only' })} />
    );
  const thread = email.approval?.thread ?? null;
  return (
    <SimpleGrid cols={{ base: 1, md: thread === null ? 1 : 2 }} spacing="sm">
      <Paper withBorder p="md" radius="md" component="section" aria-label="Message">
        <Stack gap="sm">
          {email.review !== null && <ReviewNotes review={email.review} />}
          {email.content.html !== null && <MailFrame emailId={email.id} title={title} />}
          {email.review !== null && <ReviewParts review={email.review} />}
          <MessageAttachments emailId={email.id} attachments={email.attachments} />
        </Stack>
      </Paper>
      {thread !== null && <ThreadBeside thread={thread} />}
    </SimpleGrid>
  );
}

function ThreadBeside({ thread: { id, messageCount, messages } }: { thread: AnsweredThread }) {
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Conversation">
      <Stack gap="sm">
        <Anchor component={Link} href={`/inbox/${id}`} size="sm" fw={600} underline="always">
          {`Conversation, ${counted(messageCount, 'message')}`}
        </Anchor>
        {messages.edges.map(({ node: { id: messageId, from, createdAt, preview } }) => (
          <Stack key={messageId} gap={0}>
            <Text size="sm" fw={600} className="postroom-wrap">
              {nameOf(from)}{' '}
              <Text span size="xs" c="dimmed">
                <RelativeTime at={createdAt} />
              </Text>
            </Text>
            <Text size="sm" c="dimmed" lineClamp={4} className="postroom-wrap">
              {preview}
            </Text>
          </Stack>
        ))}
      </Stack>
    </Paper>
  );
}
