import { Badge, Code, Group, List, Paper, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue, useElementSize } from '@mantine/hooks';
import { Fragment, type MouseEvent } from 'react';
import { type UseQueryResponse, useQuery } from 'urql';
import type { ResultOf } from '../../graphql.ts';
import { Icon } from '../../parts/icons.ts';
import { listSource } from '../../parts/list.tsx';
import { MailFrame } from '../../parts/mail-frame.tsx';
import { ErrorNote, PageHeader } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fine, Hint, Small, SmallLink, Strong, Tag, TextLink, WarningAlert } from '../../parts/text.tsx';
import { counted } from '../../parts/words.ts';
import { showSubject } from '../activity/email-words.ts';
import { ListFrame, MailCard, useGrowingList } from '../activity/mail-list.tsx';
import { MessageAttachments } from '../inbox/message-body.tsx';
import { showName } from '../inbox/people.ts';
import { timeInZone } from '../scheduled/schedule-actions.tsx';
import { APPROVAL_KINDS, ApprovalActions, WAITING, WAITING_CONTENT } from './approval-actions.tsx';
import style from './sent-review.module.css';

type Waiting = ResultOf<typeof WAITING>['waitingEmails']['edges'][number]['node'];
type ContentRead = UseQueryResponse<ResultOf<typeof WAITING_CONTENT>>;
type Content = NonNullable<ResultOf<typeof WAITING_CONTENT>['email']>;
type RepliedThread = NonNullable<NonNullable<Content['approval']>['thread']>;

/** Each is shown in full. */
const LIST = listSource({
  label: 'Emails awaiting approval',
  query: WAITING,
  size: 10,
  kinds: APPROVAL_KINDS,
  types: ['Email', 'ApproveEmailPayload', 'RejectEmailPayload'],
});
/** Newest messages of the thread beside an email. */
const MESSAGES = 5;
/** A click so soon after the emails moved may be meant for another one. Milliseconds. */
const SETTLE_MS = 700;

/** Emails that wait for approval, newest first. */
export function ApprovalsPage() {
  const list = useGrowingList(LIST, { for: 'AWAITING_APPROVAL' });
  const { ref, height } = useElementSize();
  const layout = [...list.rows.map(({ id }) => id), height].join(' ');
  const [settled] = useDebouncedValue(layout, SETTLE_MS);
  return (
    <div ref={ref}>
      <PageHeader title="Approvals" about="Emails that are sent when you approve them, newest first." />
      <ListFrame
        list={list}
        empty={{
          icon: 'checks',
          title: 'No emails to approve',
          about: (
            <>
              Emails of an <TextLink href="/keys">API key</TextLink> whose send policy asks for approval wait here until
              you approve or reject them.
            </>
          ),
        }}
      >
        {(email) => <WaitingRow key={email.id} email={email} isStill={settled === layout} />}
      </ListFrame>
    </div>
  );
}

function WaitingRow({ email, isStill }: { email: Waiting; isStill: boolean }) {
  const { id, from, to, cc, bcc, approval, createdAt, scheduledAt, timezone } = email;
  const title = showSubject(email);
  const content = useQuery({ query: WAITING_CONTENT, variables: { id, last: MESSAGES } });
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
    <MailCard
      email={email}
      marks={marks.map((mark) => <Tag key={mark}>{mark}</Tag>)}
      details={
        <Stack gap="sm" mt="sm" pos="relative">
          {/* Before all the links of the email. */}
          <a className="postroom-skip" href={`#decide-${id}`} onClick={(event) => skipTo(event, `decide-${id}`)}>
            Skip to the decision
          </a>
          <WaitingContent content={content} title={title} />
          {/* In sight however long the email is, with what it decides about. */}
          <div className={style['decide']} role="group" aria-label="Decide" id={`decide-${id}`}>
            <Small truncate flex={1} miw={0}>
              {title} <Fine span>to {to.map(({ address }) => address).join(', ')}</Fine>
            </Small>
            <ApprovalActions id={id} title={title} isRead={content[0].data?.email != null} isStill={isStill} />
          </div>
        </Stack>
      }
    >
      <Small className="postroom-wrap">
        From {from.name === null ? from.address : `${from.name} (${from.address})`}
      </Small>
      {people.map(([field, list]) =>
        list.length === 0 ? null : (
          <Small key={field} className="postroom-wrap">
            {field} {list.map(({ address }) => address).join(', ')}
          </Small>
        ),
      )}
      <Fine>
        Written <RelativeTime at={createdAt} />
        {approval?.expiresAt != null && <RelativeTime at={approval.expiresAt} prefix=", rejected " />}
        {approval?.expiresAt != null && ' unless you approve it'}
        {scheduledAt !== null && `. To be sent at ${timeInZone(scheduledAt, timezone ?? 'UTC')}`}
      </Fine>
    </MailCard>
  );
}

/** Focuses the first button of an element, without a step in the browser's history. */
function skipTo(event: MouseEvent, id: string): void {
  event.preventDefault();
  document.querySelector<HTMLElement>(`#${CSS.escape(id)} button`)?.focus();
}

/** The message in full, with the thread that it replies to beside it. */
function WaitingContent({ content, title }: { content: ContentRead; title: string }) {
  const [{ data, error }, execute] = content;
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
      <Paper withBorder p="md" radius="md" role="group" aria-label="Message">
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

function ThreadBeside({ thread: { id, messageCount, messages } }: { thread: RepliedThread }) {
  return (
    <Paper withBorder p="md" radius="md" role="group" aria-label="Conversation">
      <Stack gap="sm">
        <SmallLink href={`/inbox/${id}`} fw={600} underline="always">
          {`Conversation, ${counted(messageCount, 'message')}`}
        </SmallLink>
        {messages.edges.map(({ node: { id: messageId, from, createdAt, preview } }) => (
          <Stack key={messageId} gap={0}>
            <Strong className="postroom-wrap">
              {showName(from)}{' '}
              <Fine span>
                <RelativeTime at={createdAt} />
              </Fine>
            </Strong>
            <Hint lineClamp={4} className="postroom-wrap">
              {preview}
            </Hint>
          </Stack>
        ))}
      </Stack>
    </Paper>
  );
}

type Review = NonNullable<NonNullable<ResultOf<typeof WAITING_CONTENT>['email']>['review']>;
type Part = Review['parts'][number];
type Piece = Part['pieces'][number];
type UnseenKind = NonNullable<Piece['unseen']>['kind'];

const KINDS: Record<UnseenKind, string> = {
  HIDDEN: 'hidden',
  TINY: 'too small',
  SAME_COLOR: 'same color',
  OFF_SCREEN: 'off screen',
  SOME_READERS: 'some readers',
  COLLAPSED: 'folded',
  COMMENT: 'comment',
  ATTRIBUTE: 'attribute',
  CODE: 'not shown',
  INVISIBLE_CHARACTERS: 'invisible',
  GAP: 'gap',
};

/** What to look at before an email is approved. */
function ReviewNotes({ review: { notes, parts, isTruncated } }: { review: Review }) {
  const pieces = parts.flatMap((part) => part.pieces);
  const unseen = pieces.filter((piece) => piece.unseen !== null && piece.unseen.kind !== 'COLLAPSED').length;
  if (notes.length === 0 && unseen === 0 && !isTruncated) return null;
  return (
    <WarningAlert icon={<Icon name="alert-triangle" />} title="Look at this before you approve">
      <List size="sm" className="postroom-wrap">
        {unseen > 0 && (
          <List.Item>
            {unseen === 1
              ? '1 piece of text that readers do not see'
              : `${unseen} pieces of text that readers do not see`}
            , marked below
          </List.Item>
        )}
        {notes.map(({ kind, where, detail }) => (
          <List.Item key={`${kind} ${where} ${detail}`}>
            {where}: {detail}
          </List.Item>
        ))}
        {isTruncated && (
          <List.Item>The message is longer than shown here. Download it from its page to see all of it.</List.Item>
        )}
      </List>
    </WarningAlert>
  );
}

/** All fields and parts of an email as it is sent. */
function ReviewParts({ review: { fields, parts } }: { review: Review }) {
  return (
    <Stack gap="sm" role="group" aria-label="As it is sent">
      <Title order={2} size="h6">
        As it is sent
      </Title>
      {parts.map((part) => (
        <PartWords key={part.path ?? 'stray'} part={part} />
      ))}
      <details open>
        <Text component="summary" size="xs">
          {counted(fields.length, 'header field')}
        </Text>
        <dl className={style['fields']}>
          {fields.map(({ name, value }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and names repeat
            <Fragment key={index}>
              <Fine component="dt">{name}</Fine>
              <Text component="dd" size="xs">
                {value}
              </Text>
            </Fragment>
          ))}
        </dl>
      </details>
    </Stack>
  );
}

function PartWords({ part }: { part: Part }) {
  const { path, contentType, disposition, filename, sizeBytes, source, pieces } = part;
  const label = path === null ? 'Text outside the parts' : `Part ${path}`;
  const about = [contentType, disposition, filename, `${sizeBytes} bytes`].filter((each) => each !== null).join(', ');
  return (
    <Stack gap={4} role="group" aria-label={label}>
      <Strong className="postroom-wrap">
        {label} <Fine span>{about}</Fine>
      </Strong>
      {pieces.length > 0 && (
        <div className={style['text']}>
          {pieces.map((piece, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and pieces repeat
            <PieceWords key={index} piece={piece} />
          ))}
        </div>
      )}
      {source !== null && contentType !== 'text/plain' && (
        <details>
          <Text component="summary" size="xs">
            Source
          </Text>
          <Code block className={style['source'] ?? ''}>
            {source}
          </Code>
        </details>
      )}
    </Stack>
  );
}

function PieceWords({ piece: { text, unseen, target } }: { piece: Piece }) {
  const address = target === null ? '' : ` (${target})`;
  if (unseen === null) return <Small span>{target === null ? text : `${text}${address}`}</Small>;
  return (
    <Group
      gap={6}
      component="mark"
      bg="transparent"
      c="inherit"
      className={style['unseen'] ?? ''}
      data-unseen={unseen.kind}
    >
      <Badge size="xs" color="yellow" variant="outline" c="inherit" title={unseen.detail}>
        {KINDS[unseen.kind]}
      </Badge>
      <Fine span>{unseen.detail}</Fine>
      <Small span className={style['text'] ?? ''}>
        {`${text.trim()}${address}`}
      </Small>
    </Group>
  );
}
