import { Badge, Group, Progress, Stack } from '@mantine/core';
import { type ReactNode, useRef, useState } from 'react';
import { connection, graphql } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ActButton, BusyButton, ConfirmButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { type ListRow, listSource } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { UrlTabs } from '../../parts/section.tsx';
import { Hint, Small, TextLink } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { RELEASE } from '../activity/email-documents.ts';
import { showSubject } from '../activity/email-words.ts';
import { ListFrame, MailCard, useGrowingList } from '../activity/mail-list.tsx';
import { NotSpamButton, useDeleteMessage } from '../inbox/message-acts.tsx';
import { showName } from '../inbox/people.ts';
import { DeferredList, UndeliveredList } from './sent-lists.tsx';

const COUNTS = graphql(`
  query DashboardHeldCounts {
    overview(hours: 1) { waiting { blocked review deferred } }
    bounced: emails(first: 1, filter: { type: SENT, status: BOUNCED, timeRange: ALL }) { totalCount }
    failed: emails(first: 1, filter: { type: SENT, status: FAILED, timeRange: ALL }) { totalCount }
    spam: emails(first: 1, filter: { spam: ONLY, timeRange: ALL }) { totalCount }
  }
`);

const TABS = [
  { name: 'blocked', label: 'Held', content: <HeldList wait="BLOCKED" /> },
  { name: 'review', label: 'To review', content: <HeldList wait="REVIEW" /> },
  { name: 'deferred', label: 'Deferred', content: <DeferredList /> },
  { name: 'bounced', label: 'Bounced', content: <UndeliveredList status="BOUNCED" /> },
  { name: 'failed', label: 'Failed', content: <UndeliveredList status="FAILED" /> },
  { name: 'spam', label: 'Spam', content: <SpamList /> },
] as const;
type TabName = (typeof TABS)[number]['name'];

/** The service counts only up to this number. */
const COUNTED_TO = 10_000;

/** Held, deferred and bounced mail, and spam. */
export function HeldPage() {
  const { data } = useLiveQuery({ query: COUNTS, kinds: 'all', types: ['Email'] });
  const waiting = data?.overview.waiting;
  const counts: Record<TabName, number | undefined> = {
    blocked: waiting?.blocked,
    review: waiting?.review,
    deferred: waiting?.deferred,
    bounced: data?.bounced.totalCount,
    failed: data?.failed.totalCount,
    spam: data?.spam.totalCount,
  };
  // Without a choice in the URL, the first tab that has something; the choice stays when its last email leaves.
  const [first, setFirst] = useState<TabName | null>(null);
  const withMail = TABS.find(({ name }) => (counts[name] ?? 0) > 0)?.name;
  if (first === null && data !== undefined) setFirst(withMail ?? 'blocked');
  return (
    <Page title="Held and blocked" about="Held, deferred and bounced mail, and spam.">
      <UrlTabs
        label="Kind of mail"
        start={first ?? withMail ?? 'blocked'}
        tabs={TABS.map((tab) => ({ ...tab, mark: <Count of={counts[tab.name]} /> }))}
      />
    </Page>
  );
}

function Count({ of }: { of: number | undefined }) {
  if (of === undefined) return null;
  return (
    <Badge variant="default" size="sm" radius="sm">
      {of >= COUNTED_TO ? '10,000+' : of}
    </Badge>
  );
}

const HELD_LIST = listSource({
  label: 'Held emails',
  query: connection(`waitingEmails($for: WaitReason!) {
    id subject preview createdAt isTest envelopeRecipient from { name address } guardRule { id name }
  }`),
  size: 50,
  kinds: ['EMAIL_BLOCKED', 'EMAIL_HELD', 'EMAIL_RELEASED', 'EMAIL_REPROCESSED', 'THREAD_TRASHED', 'THREAD_RESTORED'],
  types: ['Email'],
});
const REVIEW_LIST = { ...HELD_LIST, label: 'Emails to review' };
type Held = ListRow<typeof HELD_LIST>;

/** Received mail that a guard rule blocked, or that waits because the model of a rule did not respond. */
function HeldList({ wait }: { wait: 'BLOCKED' | 'REVIEW' }) {
  const list = useGrowingList(wait === 'BLOCKED' ? HELD_LIST : REVIEW_LIST, { for: wait });
  return (
    <Stack gap="sm">
      <ReleaseAll ids={list.rows.map(({ id }) => id)} onDone={list.refresh} />
      <ListFrame list={list} empty={{ icon: 'shield-check', ...HELD_EMPTY[wait] }}>
        {(email) => <HeldRow key={email.id} email={email} />}
      </ListFrame>
    </Stack>
  );
}

const HELD_EMPTY = {
  BLOCKED: {
    title: 'No held emails',
    about: 'Emails that a guard rule holds appear here. They are kept until you release or delete them.',
    action: <QuietButton label="Guard rules" href="/rules" />,
  },
  REVIEW: {
    title: 'No emails to review',
    about: 'If the model of a guard rule does not respond, the email waits here for your decision.',
  },
};

function HeldRow({ email }: { email: Held }) {
  const { id, guardRule } = email;
  const remove = useDeleteMessage();
  const rule = guardRule !== null && (
    <Small>
      Guard rule: <TextLink href={`/rules/${guardRule.id}`}>{guardRule.name}</TextLink>
    </Small>
  );
  return (
    <KeptRow email={email} reason={rule}>
      <Group gap={6} wrap="nowrap">
        <BusyButton
          label="Delete"
          icon="trash"
          needed="endpoints"
          size="xs"
          act={() => remove(id)}
          aria-label={`Delete “${showSubject(email)}”`}
        />
        <ActButton {...RELEASE} aria-label={`Release “${showSubject(email)}”`} input={{ id }} />
      </Group>
    </KeptRow>
  );
}

/** How far the release of several emails is. */
interface Run {
  total: number;
  released: number;
  failed: number;
  /** why the last one could not be released */
  problem: string | null;
  state: 'running' | 'stopped' | 'done';
}

/** Releases all listed mail, one after the other, until it is stopped. */
function ReleaseAll({ ids, onDone }: { ids: readonly string[]; onDone: () => void }) {
  const [run, setRun] = useState<Run | null>(null);
  const isStopped = useRef(false);
  const { act } = useAct(RELEASE.mutation, { quiet: true });
  const start = async () => {
    isStopped.current = false;
    const now: Run = { total: ids.length, released: 0, failed: 0, problem: null, state: 'running' };
    setRun({ ...now });
    for (const id of ids) {
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may stop it between two
      if (isStopped.current) break;
      const { problem } = await act({ id });
      if (problem === null) now.released++;
      else Object.assign(now, { failed: now.failed + 1, problem: problem.message });
      setRun({ ...now });
    }
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- as above
    setRun({ ...now, state: isStopped.current ? 'stopped' : 'done' });
    onDone();
  };
  const isRunning = run?.state === 'running';
  if (ids.length < 2 && run === null) return null;
  return (
    <Stack gap="xs">
      <Group>
        {isRunning && (
          <QuietButton
            label="Stop"
            needed="endpoints"
            size="xs"
            onClick={() => {
              isStopped.current = true;
            }}
          />
        )}
        {!isRunning && ids.length > 1 && (
          <ConfirmButton
            needed="endpoints"
            label={`Release all ${ids.length} shown`}
            question={`Release ${counted(ids.length, 'email')}?`}
            about="Each email is delivered as if no guard rule had matched, one after the other. You can stop at any time."
            confirm="Release emails"
            act={async () => void start()}
          />
        )}
      </Group>
      {run !== null && (
        <>
          <Progress
            value={run.total === 0 ? 100 : (100 * (run.released + run.failed)) / run.total}
            aria-label="Released emails"
          />
          <Small role="status">
            {run.released} of {run.total} released
            {run.failed > 0 && `, ${run.failed} failed (${run.problem ?? ''})`}
            {run.state === 'stopped' && '. Stopped.'}
            {run.state === 'done' && '. Done.'}
          </Small>
        </>
      )}
    </Stack>
  );
}

const SPAM_LIST = listSource({
  label: 'Spam',
  query: connection(`emails($filter: EmailFilter) {
    id subject preview createdAt envelopeRecipient keptApart
    from { name address }
    security { virus spam { score required by symbols { name description } } }
  }`),
  size: 50,
  kinds: ['EMAIL_SPAM', 'EMAIL_NOT_SPAM'],
  types: ['Email'],
});
type Spam = ListRow<typeof SPAM_LIST>;

/** Received mail in the folder Spam and in quarantine. */
function SpamList() {
  const list = useGrowingList(SPAM_LIST, { filter: { spam: 'ONLY', timeRange: 'ALL' } });
  return (
    <ListFrame
      list={list}
      empty={{
        icon: 'shield-check',
        title: 'No spam',
        about:
          'Emails that the spam filter or a member marks as spam appear here for 30 days, as do emails with a virus.',
      }}
    >
      {(email) => <SpamRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function SpamRow({ email }: { email: Spam }) {
  const { keptApart, security } = email;
  const reason = <Small className="postroom-wrap">{explainSpam(security)}</Small>;
  return (
    <KeptRow email={email} reason={reason}>
      {keptApart === 'VIRUS' ? (
        <Badge color="red" variant="outline" c="var(--mantine-color-text)">
          Quarantine
        </Badge>
      ) : (
        <NotSpamButton email={email} />
      )}
    </KeptRow>
  );
}

/** Rules of the filter that are named in a row. */
const NAMED_RULES = 3;

function explainSpam({ virus, spam }: Spam['security']): string {
  if (virus !== null) return `Virus: ${virus}`;
  if (spam.by === 'USER') return 'A member marked it as spam.';
  const rules = spam.symbols.slice(0, NAMED_RULES).map(({ name, description }) => description || name);
  const score = spam.score === null ? '' : `Score ${spam.score}. `;
  return `${score}${rules.join('; ')}`;
}

interface KeptRowProps {
  email: Pick<Held, 'id' | 'subject' | 'preview' | 'createdAt' | 'envelopeRecipient' | 'from'>;
  /** why the email is kept */
  reason: ReactNode;
  /** what can be done with it */
  children: ReactNode;
}

/** An email that is kept apart from the inbox: held by a rule, or spam. */
function KeptRow({ email, reason, children }: KeptRowProps) {
  const { preview, createdAt, envelopeRecipient, from } = email;
  return (
    <MailCard email={email} actions={children}>
      <Hint className="postroom-wrap">
        {showName(from)} to {envelopeRecipient}, <RelativeTime at={createdAt} />
      </Hint>
      <Small lineClamp={2} className="postroom-wrap">
        {preview}
      </Small>
      {reason}
    </MailCard>
  );
}
