import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { VariablesOf } from '../../graphql.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { needs } from '../../parts/needs.ts';
import { RefusalNote } from '../../parts/refusal-note.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Row, RowList } from '../../parts/row-list.tsx';
import { useAct } from '../../parts/use-act.ts';
import { LIFT, REASONS, type ShownSuppression, SUPPRESSIONS } from './suppression-documents.ts';

const PAGE = 50;

/** The first `pages` pages of suppressions. */
export function SuppressionList({
  filter,
  pages,
  more,
  empty,
}: {
  filter: NonNullable<VariablesOf<typeof SUPPRESSIONS>['filter']> | null;
  pages: number;
  more: () => void;
  empty: ReactNode;
}) {
  return (
    <RowList
      label="Suppressions"
      read={(after) => ({
        query: SUPPRESSIONS,
        variables: { first: PAGE, after, filter },
        kinds: ['EMAIL_BOUNCED', 'EMAIL_COMPLAINED'],
        types: ['Suppression', 'RemoveSuppressionPayload'],
      })}
      pageOf={({ suppressions }) => suppressions}
      pages={pages}
      more={more}
      empty={empty}
    >
      {(suppression) => <SuppressionRow key={suppression.id} suppression={suppression} />}
    </RowList>
  );
}

function SuppressionRow({ suppression }: { suppression: ShownSuppression }) {
  const { act } = useAct(LIFT, { done: `The suppression of ${suppression.address} was removed.` });
  const { address, reason, list, detail, refusal, createdAt, email, id } = suppression;
  return (
    <Row
      name={
        <Text fw={600} size="sm" className="postroom-wrap">
          {address}
        </Text>
      }
      about={
        <>
          {REASONS[reason].words}
          {list !== null && ` from the list "${list}"`}, <RelativeTime at={createdAt} />
        </>
      }
      actions={
        <ConfirmButton
          {...needs('policies')}
          label="Remove"
          aria-label={`Remove suppression of ${address}`}
          question={`Send mail to ${address} again?`}
          about={REASONS[reason].lifting}
          confirm="Remove suppression"
          act={() => act({ input: { idOrAddress: id } })}
        />
      }
    >
      {refusal !== null && <RefusalNote refusal={refusal} />}
      {detail !== null && (
        <Text size="sm" c="dimmed">
          {detail}
        </Text>
      )}
      {email !== null && (
        <Anchor component={Link} href={`/emails/${email.id}`} size="sm">
          {email.subject === '' ? 'Caused by this email' : `Caused by the email "${email.subject}"`}
        </Anchor>
      )}
    </Row>
  );
}
