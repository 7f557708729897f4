import { Box, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ResultOf } from '../../graphql.ts';
import { RefusalNote } from '../../parts/refusal-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { SendAgain } from '../../parts/send-again.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { RECIPIENTS } from './email-documents.ts';
import { EmailPart } from './email-part.tsx';
import { durationOf, toneOf } from './email-words.ts';
import styles from './transcript.module.css';

type Recipient = NonNullable<ResultOf<typeof RECIPIENTS>['email']>['recipients'][number];

/** Recipients of sent mail, each with its status and every attempt with the server's reply. */
export function RecipientsTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={RECIPIENTS}>
      {({ recipients }) =>
        recipients.length === 0 ? (
          <Text c="dimmed">This email has no recipients.</Text>
        ) : (
          recipients.map((recipient) => <RecipientCard key={recipient.id} emailId={id} recipient={recipient} />)
        )
      }
    </EmailPart>
  );
}

function RecipientCard({ emailId, recipient }: { emailId: string; recipient: Recipient }) {
  const { address, status, attempts, nextAttemptAt, settledAt, complainedAt, lastText, refusal } = recipient;
  const isReported = lastText !== null && lastText !== attempts.at(-1)?.text;
  const isDeferred = status === 'PENDING' && recipient.attemptCount > 0;
  return (
    <Paper withBorder p="md" component="section" aria-label={address}>
      <Group justify="space-between" mb="xs">
        <Title order={2} className="postroom-wrap">
          {address}
        </Title>
        <StatusBadge status={isDeferred ? 'DEFERRED' : status} tone={isDeferred ? 'warning' : toneOf(status)} />
      </Group>
      <Text size="sm" c="dimmed">
        {nextAttemptAt !== null && status === 'PENDING' && (
          <>
            Next try <RelativeTime at={nextAttemptAt} />.{' '}
          </>
        )}
        {settledAt !== null && (
          <>
            Settled <RelativeTime at={settledAt} />.{' '}
          </>
        )}
        {complainedAt !== null && (
          <>
            Reported as unwanted <RelativeTime at={complainedAt} />.
          </>
        )}
      </Text>
      <RefusalNote refusal={refusal} />
      {(status === 'BOUNCED' || status === 'FAILED') && <SendAgain emailId={emailId} address={address} />}
      {attempts.length === 0 && lastText === null && (
        <Text size="sm" mt="xs">
          No delivery attempt yet.
        </Text>
      )}
      {isReported && (
        <Code block mt="xs" className="postroom-wrap" style={{ whiteSpace: 'pre-wrap' }}>
          {lastText}
        </Code>
      )}
      <Stack gap="sm" mt="sm">
        {attempts.map((attempt) => (
          <AttemptTalk key={attempt.number} address={address} attempt={attempt} />
        ))}
      </Stack>
    </Paper>
  );
}

function AttemptTalk({ address, attempt }: { address: string; attempt: Recipient['attempts'][number] }) {
  const { number, startedAt, durationMs, outcome, host, remoteAddress, isTls, code, enhancedStatus, text } = attempt;
  const server = host ?? (remoteAddress === null ? 'No server was reached' : 'A relay or this service');
  const reply = [code, enhancedStatus, text].filter((part) => part !== null).join(' ');
  return (
    <Box className={styles['talk']} tabIndex={0} role="region" aria-label={`${address}, attempt ${number}`}>
      <div className={styles['ours']}>
        # attempt {number}, <RelativeTime at={startedAt} />
        {durationMs === null ? ', in progress' : `, ${durationOf(durationMs)}`}
        {outcome === null ? '' : `: ${outcome.toLowerCase()}`}
      </div>
      <div className={styles['ours']}>
        # {server}
        {remoteAddress === null ? '' : ` [${remoteAddress}]`}
        {isTls === null ? '' : isTls ? ', over TLS' : ', without TLS'}
      </div>
      {reply !== '' && <div className={styles['theirs']}>{reply}</div>}
    </Box>
  );
}
