import { Anchor, Group, Paper, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { sizeText } from '../../composer/attachments.ts';
import { CHANGES } from '../../live/live-context.tsx';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { archivePath, hasPreview, isInlineImage } from '../../parts/attachment-paths.ts';
import type { PreviewedAttachment } from '../../parts/attachment-preview.tsx';
import { IconButton } from '../../parts/controls.tsx';
import { FileDownload } from '../../parts/file-download.tsx';
import { Icon } from '../../parts/icons.ts';
import { MailFrame, QuotedTextButton } from '../../parts/mail-frame.tsx';
import { ErrorNote } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { ScreeningFindings, SecurityWarnings } from '../../parts/screening.tsx';
import { SendAgain } from '../../parts/send-again.tsx';
import { Fine, Hint, Small, StatusBadge, WarningAlert } from '../../parts/text.tsx';
import { hasThumbnail, Thumbnail } from '../../parts/thumbnail.tsx';
import { later } from '../../shell/loading.tsx';
import { chooseTone } from '../activity/email-words.ts';
import style from './inbox.module.css';
import { MessageEnvelope } from './message-envelope.tsx';
import { useReadEarly } from './read-early.ts';
import { MESSAGE_BODY, type MessageBodyData, type ThreadMessage } from './thread-documents.ts';

const InvitationCard = later(
  async () => (await import('./invitation-card.tsx')).InvitationCard,
  () => <Skeleton h={90} />,
);

/** Everything below the head of a message. */
export function MessageBody({ message }: { message: ThreadMessage }) {
  const { data, error, refresh } = useLiveQuery({
    query: MESSAGE_BODY,
    variables: { id: message.id },
    isFresh: useReadEarly(message.id),
    kinds: [...CHANGES.delivered, 'EMAIL_REPROCESSED'],
    concerns: (event) => event.emailId === message.id,
  });
  const email = data?.email;
  return (
    <>
      <MessageEnvelope message={message} body={email ?? null} />
      {error !== undefined && email === undefined && <ErrorNote error={error} retry={refresh} />}
      {email === undefined && error === undefined && <Skeleton h={60} aria-label="Loading the message" />}
      {email === null && <Small>This message was deleted.</Small>}
      {email != null && (
        <>
          <SecurityWarnings warnings={email.securityWarnings} />
          <ScreeningFindings injection={email.security.injection} />
          {email.content.parseError !== null && (
            <WarningAlert icon={<Icon name="alert-triangle" />} title="This message could only be parsed in part">
              <Small>{`${email.content.parseError}. You can download the whole message from its page.`}</Small>
            </WarningAlert>
          )}
          {email.attachments.some(isCalendar) && <InvitationCard emailId={email.id} />}
          <MessageWords email={email} title={message.subject || '(no subject)'} />
          <MessageAttachments emailId={email.id} attachments={email.attachments} html={email.content.html} />
          {message.type !== 'RECEIVED' && (
            <MessageRecipients emailId={email.id} recipients={email.recipients} failureReason={message.failureReason} />
          )}
        </>
      )}
    </>
  );
}

function isCalendar({ contentType, filename }: { contentType: string; filename: string }): boolean {
  return /^text\/calendar\b|^application\/ics\b/i.test(contentType) || /\.ics$/i.test(filename);
}

interface MessageWordsProps {
  email: {
    id: string;
    content: Pick<MessageBodyData['content'], 'html' | 'text' | 'cleanedText' | 'isTruncated'>;
  };
  title: string;
}

/** The HTML body, or the text without quoted parts, which can be expanded. */
function MessageWords({ email, title }: MessageWordsProps) {
  const [isWhole, setWhole] = useState(false);
  const { html, text, cleanedText, isTruncated } = email.content;
  if (html !== null) return <MailFrame emailId={email.id} title={title} />;
  if (text === null || text.trim() === '') return <Hint>This message has no text.</Hint>;
  const typed = cleanedText?.trim() ?? '';
  const hasMore = typed !== '' && typed.length < text.trim().length;
  return (
    <Stack gap="xs" align="flex-start">
      <Small component="div" className={style['text'] ?? ''}>
        {hasMore && !isWhole ? typed : text.trimEnd()}
      </Small>
      <Group gap="xs">
        {hasMore && (
          <QuotedTextButton
            what={/^>/m.test(text) ? 'quoted text' : 'the rest'}
            isShown={isWhole}
            toggle={() => setWhole(!isWhole)}
          />
        )}
        {isTruncated && <Fine>The message is truncated. You can download the whole message from its page.</Fine>}
      </Group>
    </Stack>
  );
}

interface MessageRecipientsProps {
  emailId: string;
  recipients: MessageBodyData['recipients'];
  failureReason: string | null;
}

/** Status of a sent message for each recipient, with the reason in words, or else the server's last reply. Each is said once. */
function MessageRecipients({ emailId, recipients, failureReason }: MessageRecipientsProps) {
  const isExplained = recipients.some(({ refusal, lastText }) => refusal !== null || lastText !== null);
  return (
    <Stack gap={4} role="group" aria-label="Delivery">
      {recipients.map(({ id, address, status, lastText, lastCode, refusal, nextAttemptAt, settledAt }) => (
        <Group key={id} gap="xs" align="baseline">
          <StatusBadge status={status} tone={chooseTone(status)} />
          <Text size="xs" fw={600} className="postroom-wrap">
            {address}
          </Text>
          <Fine className="postroom-wrap">
            {settledAt !== null && <RelativeTime at={settledAt} />}
            {settledAt === null && nextAttemptAt !== null && <RelativeTime at={nextAttemptAt} prefix="next attempt " />}
            {status !== 'DELIVERED' && refusal !== null && ` · ${refusal.title}. ${refusal.advice}`}
            {status !== 'DELIVERED' && refusal === null && lastText !== null && ` · ${lastCode ?? ''} ${lastText}`}
          </Fine>
          {(status === 'BOUNCED' || status === 'FAILED') && <SendAgain emailId={emailId} address={address} />}
        </Group>
      ))}
      {failureReason !== null && !isExplained && <Fine>{failureReason}</Fine>}
    </Stack>
  );
}

const AttachmentPreview = later(async () => (await import('../../parts/attachment-preview.tsx')).AttachmentPreview);

/** Attachments of an email that are scaled down in the page. */
const MAX_THUMBNAILS = 24;

interface MessageAttachmentsProps {
  emailId: string;
  attachments: readonly (Omit<MessageBodyData['attachments'][number], 'contentId'> & { contentId?: string | null })[];
  /** the HTML that is shown beside them, whose images are not listed; null: list all */
  html?: string | null;
}

/** Attachments of a message with size, preview and download link. */
export function MessageAttachments({ emailId, attachments, html = null }: MessageAttachmentsProps) {
  const [previewed, setPreviewed] = useState<PreviewedAttachment | null>(null);
  const listed = attachments.filter(
    ({ contentType, contentId = null }) => !isInlineImage({ contentType, contentId }, html),
  );
  if (listed.length === 0) return null;
  return (
    <Group gap="xs" role="group" aria-label="Attachments">
      {listed.map(({ index, filename, contentType, size, downloadUrl }) => (
        <Paper key={index} withBorder px="sm" py={6} radius="md">
          <Group gap="xs" wrap="nowrap">
            <FileDownload
              label={`${filename} · program, ${sizeText(size)}`}
              path={readPath(downloadUrl)}
              files={[{ filename, contentType }]}
              maw="100%"
              plain={(link) => (
                <Anchor {...link} size="sm" underline="hover" c="inherit" py={2}>
                  <Group gap="xs" wrap="nowrap">
                    {index < MAX_THUMBNAILS && hasThumbnail({ contentType, size }) ? (
                      <Thumbnail emailId={emailId} index={index} fallback={<Icon name="file" size={16} />} />
                    ) : (
                      <Icon name="file" size={16} />
                    )}
                    <span className="postroom-wrap">{filename}</span>
                    <Fine component="span" style={{ whiteSpace: 'nowrap' }} title={contentType}>
                      {sizeText(size)}
                    </Fine>
                    <Icon name="download" size={15} aria-label="Download" />
                  </Group>
                </Anchor>
              )}
            />
            {hasPreview(contentType, filename) && (
              <IconButton
                label={`Preview ${filename}`}
                icon="eye"
                iconSize={16}
                size="sm"
                title="Preview"
                onClick={() =>
                  setPreviewed({ emailId, index, filename, contentType, downloadPath: readPath(downloadUrl) })
                }
              />
            )}
          </Group>
        </Paper>
      ))}
      {listed.length > 1 && (
        <FileDownload label="Download all" path={archivePath(emailId)} files={attachments} size="compact-sm" />
      )}
      {previewed !== null && <AttachmentPreview attachment={previewed} close={() => setPreviewed(null)} />}
    </Group>
  );
}

/** Returns the URL on this origin, whatever the service's public URL is. */
function readPath(url: string): string {
  const { pathname, search } = new URL(url, window.location.href);
  return pathname + search;
}
