import { Badge, Group } from '@mantine/core';
import { connection, type ResultOf } from '../../graphql.ts';
import {
  ChoiceFilter,
  FilterBar,
  FreeRow,
  listSource,
  PagedList,
  TextFilter,
  useUrlFilters,
} from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Hint, Small } from '../../parts/text.tsx';
import { formatCount } from '../../parts/words.ts';

const REFUSALS = connection(
  `refusals($filter: DoorRefusalFilter) { id reason recipient sender clientAddress network helo reply times createdAt lastAt }`,
);
type ShownRefusal = ResultOf<typeof REFUSALS>['refusals']['edges'][number]['node'];

const LIST = listSource({ label: 'Refusals', query: REFUSALS, size: 50, types: ['DoorRefusal'] });

/** Reasons, in words. */
const REASONS = [
  { value: 'UNKNOWN_RECIPIENT', label: 'Unknown recipient' },
  { value: 'UNAVAILABLE', label: 'Mailbox unavailable' },
  { value: 'EARLY_TALKER', label: 'Spoke before its turn' },
  { value: 'OWN_NAME', label: 'Used our name' },
  { value: 'SENDER_DOMAIN', label: 'Sender accepts no mail' },
  { value: 'BLOCK_LIST', label: 'Block list' },
  { value: 'GREYLIST', label: 'Greylisted' },
  { value: 'DMARC', label: 'DMARC' },
  { value: 'MESSAGE_RATE', label: 'Too many messages' },
  { value: 'CONTENT', label: 'Content' },
] as const;

/** Mail that was refused before it was accepted: why an expected message did not come. */
export function RefusalsPage() {
  const filters = useUrlFilters(['q', 'reason']);
  return (
    <Page
      title="Refused at the door"
      about="Mail to your domains that was refused in the last 7 days, before it was accepted. The sender got the reply that is shown."
    >
      <FilterBar filters={filters}>
        <TextFilter label="Recipient, sender or client" maxLength={320} width={300} />
        <ChoiceFilter name="reason" label="Reason" choices={REASONS} width={220} />
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{ filter: { search: filters.get('q'), reason: filters.choice('reason', REASONS) } }}
        filters={filters}
        empty={{
          icon: 'mail-off',
          title: 'No mail was refused',
          about: 'Mail that is refused before it is accepted appears here for 7 days, with the reason.',
          filtered: {
            title: 'No matching refusals',
            about: 'Change the filters. Mail that is not here either was accepted, or never reached this server.',
            all: 'Show all refusals',
          },
        }}
      >
        {(refusal) => <RefusalRow key={refusal.id} refusal={refusal} />}
      </PagedList>
    </Page>
  );
}

/** A refused message, with the reply that its sender got. */
function RefusalRow({ refusal }: { refusal: ShownRefusal }) {
  const { reason, recipient, sender, clientAddress, network, helo, reply, times, lastAt } = refusal;
  return (
    <FreeRow>
      <Group gap="sm" wrap="wrap" justify="space-between">
        <Small className="postroom-wrap" miw={0} flex="1 1 16rem">
          <b dir="auto">{recipient ?? 'Several recipients'}</b> from{' '}
          <bdi>{sender === null ? 'several senders' : sender === '' ? 'the null sender (a bounce)' : sender}</bdi>
        </Small>
        <Group gap="sm" wrap="nowrap">
          <Badge variant="outline" color="gray">
            {REASONS.find(({ value }) => value === reason)?.label ?? reason}
          </Badge>
          <Hint>
            {times > 1 && `${formatCount(times)} times, last `}
            <RelativeTime at={lastAt} />
          </Hint>
        </Group>
      </Group>
      <Small className="postroom-wrap">
        <bdi>{reply}</bdi>
      </Small>
      <Hint className="postroom-wrap">
        Client {network === null ? 'of several networks, last' : ''} {clientAddress}
        {helo !== null && (
          <>
            , which called itself <bdi>{helo}</bdi>
          </>
        )}
      </Hint>
    </FreeRow>
  );
}
