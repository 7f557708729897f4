import { Code, DataList, Group, Loader, Modal, Stack } from '@mantine/core';
import { type ComponentType, useState } from 'react';
import { useQuery } from 'urql';
import { useParams } from 'wouter';
import { mutation } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton, ConfirmButton } from '../../parts/buttons.tsx';
import { CopyButton } from '../../parts/command.tsx';
import { MainButton, QuietButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fact, RecordPage, Section, UrlTabs } from '../../parts/section.tsx';
import { ErrorAlert, Fine, Hint, Small, SmallLink, StatusBadge, Tag, TextLink } from '../../parts/text.tsx';
import { counted, exactTime } from '../../parts/words.ts';
import { FieldComing } from '../../shell/keys.ts';
import { later } from '../../shell/loading.tsx';
import { ApprovalActions } from '../approvals/approval-actions.tsx';
import { NotSpamButton, useMarkSpam } from '../inbox/message-acts.tsx';
import { mailboxText } from '../inbox/people.ts';
import { ScheduleActions, timeInZone } from '../scheduled/schedule-actions.tsx';
import { AttachmentsTab, AuthenticationTab } from './authentication-tab.tsx';
import { ChecksTab, HeadersTab, HtmlTab, RawTab, TextTab } from './content-tabs.tsx';
import { DeliveriesTab } from './deliveries-tab.tsx';
import { EMAIL, type EmailHeadData, EXTRACTS, RELEASE, RETRY_SENDING } from './email-documents.ts';
import { formatSize, readStanding, recipientWords, showSubject } from './email-words.ts';
import { ReprocessDialog } from './reprocess-dialog.tsx';
import { RecipientsTab, RoutingTab, TimelineTab } from './route-tabs.tsx';

interface Tab {
  name: string;
  label: string;
  Shown: ComponentType<{ id: string; subject: string }>;
  isOf?: (email: EmailHeadData) => boolean;
}

const isReceived = ({ type }: EmailHeadData) => type === 'RECEIVED';
/** Mail with a virus has no content here. */
const hasContent = ({ keptApart }: EmailHeadData) => keptApart !== 'VIRUS';
const tabs: Tab[] = [
  { name: 'timeline', label: 'Timeline', Shown: TimelineTab },
  { name: 'html', label: 'HTML', Shown: HtmlTab, isOf: hasContent },
  { name: 'text', label: 'Text', Shown: TextTab, isOf: hasContent },
  { name: 'raw', label: 'Raw', Shown: RawTab, isOf: hasContent },
  { name: 'headers', label: 'Headers', Shown: HeadersTab },
  { name: 'checks', label: 'Checks', Shown: ChecksTab, isOf: hasContent },
  { name: 'attachments', label: 'Attachments', Shown: AttachmentsTab, isOf: hasContent },
  { name: 'authentication', label: 'Authentication', Shown: AuthenticationTab, isOf: isReceived },
  { name: 'routing', label: 'Routing', Shown: RoutingTab, isOf: isReceived },
  { name: 'deliveries', label: 'Deliveries', Shown: DeliveriesTab, isOf: isReceived },
  { name: 'recipients', label: 'Recipients', Shown: RecipientsTab, isOf: (email) => !isReceived(email) },
];

/** One email with all its details. */
export function EmailPage() {
  const { id } = useParams<{ id: string }>();
  const query = useLiveQuery({
    query: EMAIL,
    variables: { id },
    kinds: 'all',
    concerns: ({ emailId }) => emailId === id,
  });
  return (
    <RecordPage
      query={query}
      find={({ email }) => email}
      kind="Email"
      icon="mail-question"
      missing="The workspace has no email with this ID. It may have been deleted, or the link may be incomplete."
      all={{ label: 'Show all emails', href: '/activity' }}
    >
      {(email) => (
        <Page title={showSubject(email)} back="/activity">
          <EmailHead email={email} />
          <Stack gap="md">
            <ExtractsCard id={email.id} />
            <EmailTabs email={email} />
          </Stack>
        </Page>
      )}
    </RecordPage>
  );
}

function EmailTabs({ email }: { email: EmailHeadData }) {
  const shown = tabs.filter(({ isOf }) => isOf === undefined || isOf(email));
  const count = email.attachmentCount;
  return (
    <UrlTabs
      label="Parts of the email"
      tabs={shown.map(({ name, label, Shown }) => ({
        name,
        label: name === 'attachments' && count > 0 ? `${label} (${count})` : label,
        content: <Shown id={email.id} subject={showSubject(email)} />,
      }))}
    />
  );
}

/** Number of links shown at first. */
const FIRST_LINKS = 3;

/** Codes and links found in a message, with copy buttons. Renders nothing if there are none. */
function ExtractsCard({ id }: { id: string }) {
  const [{ data }] = useQuery({ query: EXTRACTS, variables: { id } });
  const [isWhole, setWhole] = useState(false);
  const codes = data?.email?.extracts.codes ?? [];
  const links = data?.email?.extracts.links ?? [];
  if (codes.length === 0 && links.length === 0) return null;
  const shown = isWhole ? links : links.slice(0, FIRST_LINKS);
  return (
    <Section title="Codes and links" p="md">
      <Stack gap="xs">
        {codes.length > 0 && (
          <Group gap="md">
            {codes.map(({ code }) => (
              <Group key={code} gap={4} wrap="nowrap">
                <Code fz="md">{code}</Code>
                <CopyButton text={code} label={`Copy code ${code}`} />
              </Group>
            ))}
          </Group>
        )}
        {shown.map(({ url, text, isUnsubscribe }) => (
          <Group key={`${url} ${text}`} gap={4} wrap="nowrap" justify="space-between">
            <div>
              <Small className="postroom-wrap">{isUnsubscribe ? `Unsubscribe: ${text ?? ''}` : text}</Small>
              <Fine ff="monospace" className="postroom-wrap">
                {url}
              </Fine>
            </div>
            <CopyButton text={url} label={`Copy link ${text ?? url}`} />
          </Group>
        ))}
        {links.length > FIRST_LINKS && (
          <QuietButton
            w="fit-content"
            label={isWhole ? 'Show fewer links' : `Show all ${links.length} links`}
            size="xs"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
          />
        )}
      </Stack>
    </Section>
  );
}

type Mailboxes = readonly { name: string | null; address: string }[];

/** Participants, status and actions of an email; all other facts on request, so that its route and its mail are seen at once. */
function EmailHead({ email }: { email: EmailHeadData }) {
  const [isOpen, setOpen] = useState(false);
  const { from, to, cc, bcc, scheduledAt, timezone, guardRule, failureReason } = email;
  const recipients = recipientWords(email.recipients);
  const all = [...to, ...cc, ...bcc];
  return (
    <Stack component="section" gap="xs" mb="md" aria-label="Email">
      <Group gap="xs">
        <span role="status">
          <StatusBadge {...readStanding(email)} />
        </span>
        {recipients !== null && <Tag>{recipients}</Tag>}
        {email.isTest && <Tag>test</Tag>}
        {email.type === 'RECEIVED' && <Tag>{email.isRead ? 'read' : 'unread'}</Tag>}
        <Small component="span" className="postroom-wrap">
          {mailboxText(from)} → {all.slice(0, SHOWN).map(mailboxText).join(', ')}
          {all.length > SHOWN && ` and ${counted(all.length - SHOWN, 'other')}`}
        </Small>
        <Hint component="span">
          <RelativeTime at={email.createdAt} />
        </Hint>
        {email.thread !== null && (
          <SmallLink href={`/inbox/${email.thread.id}`} underline="always">
            Open thread
          </SmallLink>
        )}
        <QuietButton
          label="Details"
          size="compact-xs"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          rightSection={<Icon name="chevron-down" size={14} />}
        />
      </Group>
      {scheduledAt !== null && email.type === 'SCHEDULED' && (
        <Small>
          Scheduled for {timeInZone(scheduledAt, timezone ?? 'UTC')}, <RelativeTime at={scheduledAt} />
        </Small>
      )}
      {failureReason !== null && <Small className="postroom-wrap">Failure reason: {failureReason}</Small>}
      {guardRule !== null && (
        <Small className="postroom-wrap">
          Guard rule: <TextLink href={`/rules/${guardRule.id}`}>{guardRule.name}</TextLink>
        </Small>
      )}
      {isOpen && <Facts email={email} />}
      <EmailActions email={email} />
    </Stack>
  );
}

/** Recipients that are shown without the details. */
const SHOWN = 3;

function Facts({ email }: { email: EmailHeadData }) {
  const { from, to, cc, bcc, replyTo } = email;
  return (
    <DataList orientation="horizontal" labelWidth={110} my="xs">
      <Fact name="From">{mailboxText(from)}</Fact>
      <People name="To" mailboxes={to} />
      <People name="Cc" mailboxes={cc} />
      <People name="Bcc" mailboxes={bcc} />
      <People name="Reply-To" mailboxes={replyTo} />
      {email.envelopeRecipient !== null && <Fact name="Received for">{email.envelopeRecipient}</Fact>}
      <Fact name={email.type === 'RECEIVED' ? 'Received' : 'Written'}>{exactTime(email.createdAt)}</Fact>
      {email.sentAt !== null && <Fact name="Sent">{exactTime(email.sentAt)}</Fact>}
      {email.tags.length > 0 && (
        <Fact name="Tags">{email.tags.map(({ name, value }) => `${name}: ${value}`).join(', ')}</Fact>
      )}
      <Fact name="Message-ID">
        <Group gap={4} wrap="nowrap">
          <Small ff="monospace" className="postroom-wrap">
            {email.messageId}
          </Small>
          <CopyButton text={email.messageId} label="Copy Message-ID" />
        </Group>
      </Fact>
      {email.size !== null && <Fact name="Size">{formatSize(email.size)}</Fact>}
    </DataList>
  );
}

function People({ name, mailboxes }: { name: string; mailboxes: Mailboxes }) {
  return mailboxes.length === 0 ? null : <Fact name={name}>{mailboxes.map(mailboxText).join(', ')}</Fact>;
}

const MARK = mutation('updateEmail', 'email { id isRead isArchived }');
const RETRY = mutation('retryEmail', 'deliveries { id }');

/** Actions that the current state of the email allows. */
function EmailActions({ email }: { email: EmailHeadData }) {
  const { id, type, status, keptApart } = email;
  if (keptApart === 'VIRUS') return <QuarantineNote email={email} />;
  return (
    <Group gap="xs" mt="sm" role="group" aria-label="Actions">
      {keptApart === 'SPAM' && <NotSpamButton email={email} />}
      {type !== 'SCHEDULED' && <ReplyActions email={email} />}
      {type === 'RECEIVED' && <ReceivedActions email={email} />}
      {type === 'SCHEDULED' && <ScheduleActions email={email} />}
      {status === 'AWAITING_APPROVAL' && <ApprovalActions id={id} title={showSubject(email)} />}
      {type === 'SENT' && <SentActions email={email} />}
      {type !== 'SCHEDULED' && <ReprocessDialog emailId={id} isReceived={type === 'RECEIVED'} />}
    </Group>
  );
}

/** What is said about mail with a virus. Nothing can be done with it but for owners, who can download it after a warning. */
function QuarantineNote({ email: { id, security } }: { email: EmailHeadData }) {
  const virus = security.virus ?? 'unknown';
  return (
    <ErrorAlert icon={<Icon name="shield-x" />} title={`In quarantine: ${virus}`}>
      <Small mb="xs">
        This email has a virus. Its text and attachments cannot be opened here, no endpoint gets it, and it is deleted
        after 30 days.
      </Small>
      <ConfirmButton
        needed={['export', 'everything']}
        label="Download"
        question="Download an email with a virus?"
        about={`The file has the virus ${virus} and can harm the computer that opens it. Download it only to examine it.`}
        confirm="Download the virus"
        act={async () => window.location.assign(`/api/e2/emails/${id}/quarantine?confirm=${encodeURIComponent(virus)}`)}
      />
    </ErrorAlert>
  );
}

function ReceivedActions({ email: { id, guardStatus, isRead, isArchived, keptApart } }: { email: EmailHeadData }) {
  const markSpam = useMarkSpam();
  if (keptApart !== null) return null;
  return (
    <>
      {guardStatus === null ? (
        <ActButton
          label="Deliver again"
          icon="refresh"
          needed={['send', 'everything']}
          mutation={RETRY}
          input={{ id }}
          done="The email is being delivered again."
        />
      ) : (
        <ActButton {...RELEASE} input={{ id }} />
      )}
      <ActButton
        label={isRead ? 'Mark as unread' : 'Mark as read'}
        icon={isRead ? 'mail' : 'mail-opened'}
        needed="organize"
        mutation={MARK}
        input={{ id, isRead: !isRead }}
      />
      <ActButton
        label={isArchived ? 'Unarchive' : 'Archive'}
        icon="archive"
        needed="organize"
        mutation={MARK}
        input={{ id, isArchived: !isArchived }}
      />
      <QuietButton label="Spam" icon="ban" needed="organize" size="xs" onClick={() => void markSpam(id)} />
    </>
  );
}

function SentActions({ email: { id, recipients } }: { email: EmailHeadData }) {
  const isDeferred = recipients.some(({ status, attemptCount }) => status === 'PENDING' && attemptCount > 0);
  if (!isDeferred) return null;
  return <ActButton {...RETRY_SENDING} input={{ id }} />;
}

const Composer = later(
  async () => (await import('../../composer/composer.tsx')).Composer,
  ({ close }) => (
    <>
      <FieldComing cancel={close} />
      <Loader aria-label="Loading" />
    </>
  ),
);

/** Buttons that reply to or forward an email without leaving its page. */
function ReplyActions({ email }: { email: EmailHeadData }) {
  const [mode, setMode] = useState<'reply' | 'forward' | null>(null);
  const close = () => setMode(null);
  return (
    <>
      <MainButton label="Reply" icon="arrow-back-up" needed="send" size="xs" onClick={() => setMode('reply')} />
      <QuietButton label="Forward" icon="arrow-forward-up" needed="send" size="xs" onClick={() => setMode('forward')} />
      <Modal
        opened={mode !== null}
        onClose={close}
        size="xl"
        title={`${mode === 'forward' ? 'Forward' : 'Reply to'} “${showSubject(email)}”`}
      >
        {mode !== null && <Composer mode={mode} emailId={email.id} close={close} />}
      </Modal>
    </>
  );
}
