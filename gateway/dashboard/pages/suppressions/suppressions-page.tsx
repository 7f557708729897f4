import { connection, mutation } from '../../graphql.ts';
import { ConfirmButton, CreateButton } from '../../parts/buttons.tsx';
import { RecordForm, useRecordForm } from '../../parts/form.tsx';
import {
  ChoiceFilter,
  FilterBar,
  type ListRow,
  listSource,
  PagedList,
  Row,
  RowName,
  TextFilter,
  UrlDialog,
  useUrlFilters,
} from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { REMOVE_SUPPRESSION, RefusalNote } from '../../parts/send-again.tsx';
import { Hint, Small, SmallLink } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';

const LIST = listSource({
  label: 'Suppressions',
  query: connection(`suppressions($filter: SuppressionFilter) {
    id address reason list detail refusal { title advice } createdAt email { id subject }
  }`),
  size: 50,
  kinds: ['EMAIL_BOUNCED', 'EMAIL_COMPLAINED'],
  types: ['Suppression', 'RemoveSuppressionPayload'],
});
type ShownSuppression = ListRow<typeof LIST>;

const CHOICES = [
  { value: 'BOUNCE', label: 'Bounced' },
  { value: 'COMPLAINT', label: 'Complaint' },
  { value: 'MANUAL', label: 'Manual' },
  { value: 'UNSUBSCRIBE', label: 'Unsubscribed' },
] as const;

/** Addresses that receive no mail. */
export function SuppressionsPage() {
  const filters = useUrlFilters(['q', 'reason']);
  return (
    <Page
      title="Suppressions"
      about="Addresses that Postroom does not send mail to, after a bounce, a complaint, an unsubscription from a list, or by your choice."
      actions={<CreateButton label="Suppress address" needed="policies" onClick={() => filters.set({ new: '' })} />}
    >
      <FilterBar filters={filters}>
        <TextFilter label="Search suppressions" placeholder="Part of the address" />
        <ChoiceFilter name="reason" label="Reason" choices={CHOICES} />
      </FilterBar>
      <PagedList
        list={LIST}
        variables={{ filter: { search: filters.get('q'), reason: filters.choice('reason', CHOICES) } }}
        filters={filters}
        empty={{
          icon: 'ban',
          title: 'No suppressions yet',
          about:
            'Postroom adds an address after a permanent bounce or a complaint and then refuses to send to it, which protects your sender reputation.',
          filtered: 'suppressions',
        }}
      >
        {(suppression) => <SuppressionRow key={suppression.id} suppression={suppression} />}
      </PagedList>
      <UrlDialog title="Suppress address" filters={filters}>
        {(close) => <SuppressionForm done={close} />}
      </UrlDialog>
    </Page>
  );
}

/** Reasons with their texts, and what removing a suppression with that reason means. */
const REASONS: Record<ShownSuppression['reason'], { words: string; removal: string }> = {
  BOUNCE: {
    words: 'Bounced: the server permanently refused mail',
    removal:
      'If the address still does not exist, the next email bounces and the address is suppressed again. Bounces harm your sender reputation.',
  },
  COMPLAINT: {
    words: 'Complaint: the recipient reported mail as spam',
    removal: 'Do this only if the recipient asked for mail. Another complaint harms all mail of your domain.',
  },
  UNSUBSCRIBE: {
    words: 'Unsubscribed by the recipient',
    removal: 'Do this only if the recipient asked for mail of this list again.',
  },
  MANUAL: { words: 'Added manually', removal: 'The address was added manually.' },
};

function SuppressionRow({ suppression }: { suppression: ShownSuppression }) {
  const { address, reason, list, detail, refusal, createdAt, email, id } = suppression;
  const { act } = useAct(REMOVE_SUPPRESSION, { done: `The suppression of ${address} was removed.` });
  return (
    <Row
      name={<RowName>{address}</RowName>}
      about={
        <>
          {REASONS[reason].words}
          {list !== null && ` from the list "${list}"`}, <RelativeTime at={createdAt} />
        </>
      }
      actions={
        <ConfirmButton
          needed="policies"
          label="Remove"
          aria-label={`Remove suppression of ${address}`}
          question={`Send mail to ${address} again?`}
          about={REASONS[reason].removal}
          confirm="Remove suppression"
          act={() => act({ idOrAddress: id })}
        />
      }
    >
      <RefusalNote refusal={refusal} />
      {detail !== null && <Hint>{detail}</Hint>}
      {email !== null && (
        <SmallLink href={`/emails/${email.id}`}>
          {email.subject === '' ? 'Caused by this email' : `Caused by the email "${email.subject}"`}
        </SmallLink>
      )}
    </Row>
  );
}

const SUPPRESS = mutation('suppressAddress', 'suppression { id address reason }');
/** Maximum length of a note in characters, as in the service. */
const MAX_DETAIL = 500;

/** Adds an address to the list. */
function SuppressionForm({ done }: { done: () => void }) {
  const { act } = useAct(SUPPRESS, { quiet: true, done: 'Postroom no longer sends mail to this address.' });
  const form = useRecordForm({
    values: { address: '', detail: '' },
    validate: {
      address: (text) => (/^\S+@\S+$/.test(text.trim()) ? null : 'Enter a complete address, such as ann@example.com.'),
    },
    submit: ({ address, detail }) => act({ address: address.trim(), detail: detail.trim() || null }),
    saved: done,
  });
  return (
    <RecordForm form={form} submit="Suppress address">
      <Small>Postroom refuses to send mail to the address until you remove the suppression.</Small>
      <form.Text name="address" label="Address" type="email" data-autofocus />
      <form.Text name="detail" label="Note" description="Optional. Visible only to you." maxLength={MAX_DETAIL} />
    </RecordForm>
  );
}
