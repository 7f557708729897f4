import { Box, Code, DataList, Group, List, Paper, Stack, Text, Timeline, Title, Tooltip } from '@mantine/core';
import type { ResultOf } from '../../graphql.ts';
import type { IconName } from '../../parts/icons.ts';
import { Postmark } from '../../parts/postmark.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Fact } from '../../parts/section.tsx';
import { RefusalNote, SendAgain } from '../../parts/send-again.tsx';
import { Fine, Hint, PageLink, Small, SmallLink, StatusBadge, Strong } from '../../parts/text.tsx';
import { exactTime } from '../../parts/words.ts';
import { EmailPart } from './content-tabs.tsx';
import { RECIPIENTS, ROUTE, TIMELINE } from './email-documents.ts';
import { chooseTone, formatDuration } from './email-words.ts';
import style from './timeline.module.css';
import styles from './transcript.module.css';

type Entry = NonNullable<ResultOf<typeof TIMELINE>['email']>['timeline']['entries'][number];

const icons: Partial<Record<Entry['kind'], IconName>> = {
  ACCEPTED: 'inbox',
  CREATED: 'pencil',
  AUTHENTICATED: 'shield-check',
  SCREENED: 'shield-check',
  SPAM: 'ban',
  NOT_SPAM: 'shield-check',
  PARSED: 'file-search',
  THREADED: 'arrows-join',
  ROUTED: 'arrow-fork',
  HELD: 'ban',
  DELIVERY_REQUESTED: 'refresh',
  DELIVERY_ATTEMPT: 'webhook',
  ACTION: 'bolt',
  SENDING_ATTEMPT: 'send',
  QUEUED: 'send',
  RESCHEDULED: 'calendar-clock',
  PAUSED: 'player-pause',
  READ: 'eye',
  UNREAD: 'eye',
  REPROCESSED: 'refresh',
};

/** Route of an email, oldest entry first. */
export function TimelineTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={TIMELINE}>
      {({ timeline }) => (
        <>
          {timeline.isCut && <Hint>Only the newest entries are shown.</Hint>}
          <ol className={style['route']} aria-label="Timeline">
            {timeline.entries.map((entry, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no id, and are only added at the end
              <Stop key={at} entry={entry} previous={timeline.entries[at - 1]?.at ?? null} />
            ))}
          </ol>
        </>
      )}
    </EmailPart>
  );
}

const clock = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

/** An entry, with its time; the day where it differs from the entry before. */
function Stop({ entry, previous }: { entry: Entry; previous: string | null }) {
  const { kind, at, title, detail, durationMs, isFailure, node } = entry;
  const place = node === null ? null : toLink(node);
  const date = new Date(at);
  const isNewDay = previous === null || day.format(date) !== day.format(new Date(previous));
  return (
    <li className={style['stop']} data-kind={kind}>
      <Tooltip label={exactTime(at)} events={{ hover: true, focus: true, touch: true }}>
        <time dateTime={at} className={style['time']}>
          {clock.format(date)}
          {isNewDay && <span className={style['after']}>{day.format(date)}</span>}
        </time>
      </Tooltip>
      <span className={style['line']}>
        <Postmark icon={isFailure ? 'alert-triangle' : (icons[kind] ?? 'check')} isFailure={isFailure} />
      </span>
      <div className={style['what']}>
        <Strong>{isFailure ? `Failure: ${title}` : title}</Strong>
        {detail !== null && <Small>{detail}</Small>}
        {(durationMs !== null || place !== null) && (
          <Fine>
            {durationMs !== null && `took ${formatDuration(durationMs)}`}
            {durationMs !== null && place !== null && ' · '}
            {place !== null && (
              <PageLink href={place.path} size="xs" underline="always">
                {place.label}
              </PageLink>
            )}
          </Fine>
        )}
      </div>
    </li>
  );
}

/** Returns the page of the object of an entry, if there is one. */
function toLink({ __typename: type, id }: { __typename: string; id: string }): { path: string; label: string } | null {
  if (type === 'Delivery') return { path: '?tab=deliveries', label: 'Deliveries' };
  if (type === 'Recipient') return { path: '?tab=recipients', label: 'Recipients' };
  if (type === 'Email') return { path: `/emails/${id}`, label: 'Open email' };
  if (type === 'Thread') return { path: `/inbox/${id}`, label: 'Open thread' };
  if (type === 'GuardRule') return { path: `/rules/${id}`, label: 'Open rule' };
  return type.endsWith('Endpoint') ? { path: `/endpoints/${id}`, label: 'Open endpoint' } : null;
}

const vias: Record<string, string> = {
  ADDRESS: 'the endpoint of its address',
  CATCH_ALL: 'the catch-all of its domain',
  GUARD_RULE: 'a guard rule',
  WEBHOOK: 'the webhook of its address',
};

/** The route of received mail and its reasons. */
export function RoutingTab({ id }: { id: string }) {
  return (
    <EmailPart id={id} query={ROUTE}>
      {({ route }) =>
        route === null ? (
          <Text c="dimmed">Only received mail is routed.</Text>
        ) : (
          <Stack gap="md">
            <Text size="md" fw={600}>
              {route.reason}
            </Text>
            <DataList orientation="horizontal">
              <Fact name="Recipient">{route.recipient}</Fact>
              <Fact name="Accepted by">
                {route.address?.address ??
                  (route.domain === null ? 'a deleted address' : `the catch-all of ${route.domain.name}`)}
              </Fact>
              {route.rule !== null && (
                <Fact name="Guard rule">
                  <SmallLink href={`/rules/${route.rule.id}`} underline="always">
                    {route.rule.name}
                  </SmallLink>
                </Fact>
              )}
              {route.endpoint !== null && (
                <Fact name="Endpoint">
                  <SmallLink href={`/endpoints/${route.endpoint.id}`} underline="always">
                    {route.endpoint.name}
                  </SmallLink>
                  {route.via === null ? '' : `, by ${vias[route.via] ?? route.via.toLowerCase()}`}
                </Fact>
              )}
            </DataList>
            {route.matches.length > 0 && (
              <div>
                <Title order={2} mb="xs">
                  Matched by the rule
                </Title>
                <List size="sm">
                  {route.matches.map(({ criterion, value }) => (
                    <List.Item key={`${criterion} ${value}`}>
                      {criterion}: “{value}”
                    </List.Item>
                  ))}
                </List>
              </div>
            )}
            <div>
              <Title order={2} mb="sm">
                Steps
              </Title>
              <Timeline bulletSize={16} lineWidth={2} active={route.steps.length - 1}>
                {route.steps.map(({ step, at, detail, durationMs }, index) => (
                  <Timeline.Item
                    // biome-ignore lint/suspicious/noArrayIndexKey: steps have no id, and are only added at the end
                    key={index}
                    title={<Strong component="span">{step.charAt(0) + step.slice(1).toLowerCase()}</Strong>}
                  >
                    <Small className="postroom-wrap">{detail}</Small>
                    <Fine>
                      {at === null ? 'pending' : exactTime(at)}
                      {durationMs === null ? '' : `, ${formatDuration(durationMs)}`}
                    </Fine>
                  </Timeline.Item>
                ))}
              </Timeline>
            </div>
          </Stack>
        )
      }
    </EmailPart>
  );
}

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
        <StatusBadge status={isDeferred ? 'DEFERRED' : status} tone={isDeferred ? 'warning' : chooseTone(status)} />
      </Group>
      <Hint>
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
      </Hint>
      <RefusalNote refusal={refusal} />
      {(status === 'BOUNCED' || status === 'FAILED') && <SendAgain emailId={emailId} address={address} />}
      {attempts.length === 0 && lastText === null && <Small mt="xs">No delivery attempt yet.</Small>}
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
        {durationMs === null ? ', in progress' : `, ${formatDuration(durationMs)}`}
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
