import { Badge, Group, Paper, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useQuery } from 'urql';
import { mutation, type ResultOf, record } from '../../graphql.ts';
import { QuietButton } from '../../parts/controls.tsx';
import { Icon } from '../../parts/icons.ts';
import { notify } from '../../parts/notify.tsx';
import { Fine, Small, Strong } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useRight } from '../../shell/viewer.ts';
import { showName } from './people.ts';

const INVITATION = record(`email {
  id
  extracts {
    event {
      method uid status summary location start end timeZone isAllDay recurrence
      organizer { name address }
      attendees { name address status }
    }
  }
  thread {
    id
    messages(last: 10) { edges { node { id type extracts { event { method uid attendees { status } } } } } }
  }
}`);

const REPLY = mutation('replyToEvent', 'organizer response');

type InvitedBy = NonNullable<ResultOf<typeof INVITATION>['email']>;
type Event = NonNullable<InvitedBy['extracts']['event']>;
type Response = 'ACCEPTED' | 'TENTATIVE' | 'DECLINED';

const RESPONSES: { response: Response; label: string; done: string }[] = [
  { response: 'ACCEPTED', label: 'Accept', done: 'accepted' },
  { response: 'TENTATIVE', label: 'Maybe', done: 'may come' },
  { response: 'DECLINED', label: 'Decline', done: 'declined' },
];

/** The event of an invitation, with the response of the user, and buttons that respond by mail. Nothing if the email has none. */
export function InvitationCard({ emailId }: { emailId: string }) {
  const [{ data, fetching }] = useQuery({ query: INVITATION, variables: { id: emailId } });
  const [chosen, setChosen] = useState<Response | null>(null);
  const [comment, setComment] = useState('');
  const { act, isBusy } = useAct(REPLY);
  const maySend = useRight('send');
  const event = data?.email?.extracts.event;
  if (event == null)
    return fetching && data === undefined ? <Skeleton h={90} aria-label="Loading the invitation" /> : null;
  const given = chosen ?? findResponse(data?.email, event);
  const isCancelled = event.status === 'CANCELLED' || event.method === 'CANCEL';
  const isAsked = event.method === 'REQUEST' && !isCancelled && event.organizer !== null;
  const reply = async (response: Response) => {
    const { payload } = await act({ emailId, response, comment: comment.trim() === '' ? null : comment.trim() });
    if (payload === null) return;
    setChosen(response);
    setComment('');
    notify({ message: `${payload.organizer} gets your response by mail.`, color: 'green' });
  };
  return (
    <Paper withBorder p="sm" component="section" aria-label="Invitation">
      <Stack gap={6}>
        <Group gap="xs">
          <Icon name="calendar" size={18} />
          <Text fw={600} className="postroom-wrap">
            {event.summary === '' ? 'Event without a title' : event.summary}
          </Text>
          {isCancelled && (
            <Badge variant="outline" color="red">
              Cancelled
            </Badge>
          )}
          {event.method === 'REPLY' && <Badge variant="default">Reply</Badge>}
        </Group>
        <Small>{formatTime(event)}</Small>
        {event.recurrence !== null && <Fine className="postroom-wrap">{`Repeats: ${event.recurrence}`}</Fine>}
        {event.location !== null && <Small className="postroom-wrap">{event.location}</Small>}
        <Fine className="postroom-wrap">
          {event.organizer !== null && `From ${showName(event.organizer)}`}
          {event.organizer?.name != null && ` (${event.organizer.address})`}
          {event.attendees.length > 0 &&
            ` · ${event.attendees.map((each) => `${showName(each)}${STATUSES[each.status]}`).join(', ')}`}
        </Fine>
        {given !== null && (
          <Strong role="status">{`You ${RESPONSES.find(({ response }) => response === given)?.done ?? ''}.`}</Strong>
        )}
        {isAsked && maySend && (
          <Group gap="xs" align="flex-end">
            {RESPONSES.map(({ response, label }) => (
              <QuietButton
                key={response}
                label={label}
                size="xs"
                variant={given === response ? 'filled' : 'default'}
                aria-pressed={given === response}
                disabled={isBusy}
                onClick={() => void reply(response)}
              />
            ))}
            <TextInput
              size="xs"
              flex="1 1 10rem"
              aria-label="Comment for the organizer"
              placeholder="Comment (optional)"
              value={comment}
              maxLength={1_000}
              onChange={(change) => setComment(change.currentTarget.value)}
            />
          </Group>
        )}
      </Stack>
    </Paper>
  );
}

const STATUSES: Record<Event['attendees'][number]['status'], string> = {
  NEEDS_ACTION: '',
  ACCEPTED: ' (accepted)',
  DECLINED: ' (declined)',
  TENTATIVE: ' (may come)',
  DELEGATED: ' (sends someone else)',
};

/** Returns the last response that was sent in the conversation; null: none. */
function findResponse(email: InvitedBy | null | undefined, { uid }: Event): Response | null {
  const last = email?.thread?.messages.edges.findLast(
    ({ node }) =>
      node.type !== 'RECEIVED' && node.extracts.event?.method === 'REPLY' && node.extracts.event.uid === uid,
  );
  const status = last?.node.extracts.event?.attendees[0]?.status;
  return RESPONSES.find(({ response }) => response === status)?.response ?? null;
}

const day = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' });
const local = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short', timeZone: 'UTC' });
const instant = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'short' });
const zoneName = new Intl.DateTimeFormat('en', { timeZoneName: 'short', hour: 'numeric' });

/** Formats when the event is: an instant in the time zone of the browser, with that of the sender if it is another one. */
function formatTime({ start, end, isAllDay, timeZone }: Event): string {
  if (start === null) return 'No time given';
  if (isAllDay) {
    const first = new Date(`${start}T00:00:00Z`);
    const last = end === null ? first : new Date(Date.parse(`${end}T00:00:00Z`) - 86_400_000);
    return last > first ? day.formatRange(first, last) : day.format(first);
  }
  if (!start.endsWith('Z')) {
    const from = new Date(`${start}Z`);
    return `${end === null ? local.format(from) : local.formatRange(from, new Date(`${end}Z`))}, local time`;
  }
  const from = new Date(start);
  const shown = end === null ? instant.format(from) : instant.formatRange(from, new Date(end));
  const zone = zoneName.formatToParts(from).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return `${shown} ${zone}${timeZone === null || timeZone === own ? '' : ` (written in ${timeZone})`}`;
}
