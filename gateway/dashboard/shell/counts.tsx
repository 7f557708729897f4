import { Badge } from '@mantine/core';
import { useEffect } from 'react';
import { graphql } from '../graphql.ts';
import { CHANGES, useLive } from '../live/live-context.tsx';
import { useLiveQuery } from '../live/use-live-query.ts';
import { showNotice } from '../parts/notify.tsx';
import { setUnreadCount } from '../parts/tab-title.ts';
import { counted, formatCount } from '../parts/words.ts';
import { useIsInTeam, useViewer } from './viewer.ts';

const DRAFT_COUNT = graphql(`query DraftCount { drafts(first: 1) { totalCount } }`);

/** Number of drafts. */
export function DraftCount() {
  const { data } = useLiveQuery({
    query: DRAFT_COUNT,
    kinds: ['EMAIL_SENT', 'EMAIL_SCHEDULED'],
    types: ['Draft', 'DeleteDraftPayload', 'SendDraftPayload'],
  });
  const count = data?.drafts.totalCount ?? 0;
  return count === 0 ? null : <Count count={count} about={counted(count, 'draft')} />;
}

const UNREAD_COUNT = graphql(`
  query UnreadCount($filter: InboxFilter!) { inbox(first: 1, filter: $filter) { totalCount } }
`);

const ARRIVED = ['EMAIL_THREADED', 'EMAIL_RELEASED'] as const;

/** Number of conversations in the inbox that are unread, in a team by the person; also shown in the tab's title. */
export function UnreadCount() {
  const isInTeam = useIsInTeam();
  const { data } = useLiveQuery({
    query: UNREAD_COUNT,
    variables: { filter: isInTeam ? { isUnreadByMe: true } : { isUnread: true } },
    kinds: [...CHANGES.read, ...CHANGES.archived, ...CHANGES.grouped, ...CHANGES.snoozed, ...ARRIVED],
    gatherMs: 1_000,
  });
  const count = data?.inbox.totalCount ?? 0;
  useEffect(() => setUnreadCount(count), [count]);
  return count === 0 ? null : <Count count={count} about={`${count} unread`} />;
}

const APPROVAL_COUNT = graphql(`
  query ApprovalCount { emails(first: 1, filter: { status: AWAITING_APPROVAL, timeRange: ALL }) { totalCount } }
`);

/** Number of emails that wait for approval. */
export function ApprovalCount() {
  const { data } = useLiveQuery({
    query: APPROVAL_COUNT,
    kinds: ['EMAIL_APPROVAL_REQUESTED', 'EMAIL_APPROVED', 'EMAIL_REJECTED', 'EMAIL_CANCELLED'],
    types: ['Email', 'ApproveEmailPayload', 'RejectEmailPayload'],
  });
  const count = data?.emails.totalCount ?? 0;
  return count === 0 ? null : <Count count={count} about={counted(count, 'email to approve', 'emails to approve')} />;
}

function Count({ count, about }: { count: number; about: string }) {
  return (
    <Badge variant="default" size="sm" aria-label={about}>
      {count > 9_999 ? '9,999+' : formatCount(count)}
    </Badge>
  );
}

/** Shows a notice when a note mentions the signed-in person. */
export function MentionNotices() {
  const { person } = useViewer();
  useLive(['THREAD_NOTE_ADDED', 'THREAD_NOTE_EDITED'], (event) => {
    const { by, mentions } = (event?.data ?? {}) as { by?: string; mentions?: string[] };
    if (person === null || event?.threadId == null || mentions?.includes(person.id) !== true || by === person.name)
      return;
    showNotice(`${by ?? 'A member'} mentioned you in a note`, {
      link: { label: 'Open conversation', path: `/inbox/${event.threadId}` },
    });
  });
  return null;
}
