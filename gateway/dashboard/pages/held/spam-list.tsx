import { Badge, Button, Text } from '@mantine/core';
import { graphql, type ResultOf } from '../../graphql.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconShieldCheck } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { subjectOf } from '../activity/email-words.ts';
import { ListFrame } from '../activity/list-frame.tsx';
import { useGrowingList } from '../activity/use-growing-list.ts';
import { useMarkNotSpam } from '../inbox/use-mark-spam.ts';
import { KeptRow } from './kept-row.tsx';

const SPAM = graphql(`
  query DashboardSpam($first: Int!, $after: String) {
    emails(first: $first, after: $after, filter: { spam: ONLY, timeRange: ALL }) {
      edges {
        cursor
        node {
          id subject preview createdAt envelopeRecipient keptApart from { name address }
          security { virus spam { score required by symbols { name description } } }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`);

type Spam = ResultOf<typeof SPAM>['emails']['edges'][number]['node'];

const PAGE_SIZE = 50;
const pageOf = ({ emails }: ResultOf<typeof SPAM>) => emails;

/** Received mail in the folder Spam and in quarantine. */
export function SpamList() {
  const list = useGrowingList({
    query: SPAM,
    variables: { first: PAGE_SIZE, after: null },
    kinds: ['EMAIL_SPAM', 'EMAIL_NOT_SPAM'],
    types: ['Email'],
    pageOf,
  });
  return (
    <ListFrame list={list} label="Spam" empty={<NoSpam />}>
      {(email) => <SpamRow key={email.id} email={email} />}
    </ListFrame>
  );
}

function SpamRow({ email }: { email: Spam }) {
  const { id, keptApart, security } = email;
  const { markNotSpam, isBusy } = useMarkNotSpam();
  const reason = (
    <Text size="sm" className="postroom-wrap">
      {reasonOf(security)}
    </Text>
  );
  return (
    <KeptRow email={email} reason={reason}>
      {keptApart === 'VIRUS' ? (
        <Badge color="red" variant="outline" c="var(--mantine-color-text)" tt="none">
          Quarantine
        </Badge>
      ) : (
        <Button
          {...needs('organize')}
          size="xs"
          leftSection={<IconShieldCheck size={16} aria-hidden />}
          loading={isBusy}
          onClick={() => void markNotSpam(id)}
          aria-label={`“${subjectOf(email)}” is not spam`}
        >
          Not spam
        </Button>
      )}
    </KeptRow>
  );
}

/** Rules of the filter that are named in a row. */
const NAMED_RULES = 3;

function reasonOf({ virus, spam }: Spam['security']): string {
  if (virus !== null) return `Virus: ${virus}`;
  if (spam.by === 'USER') return 'A member marked it as spam.';
  const rules = spam.symbols.slice(0, NAMED_RULES).map(({ name, description }) => description || name);
  const score = spam.score === null ? '' : `Score ${spam.score}. `;
  return `${score}${rules.join('; ')}`;
}

function NoSpam() {
  return (
    <EmptyState
      icon={IconShieldCheck}
      title="No spam"
      about="Emails that the spam filter or a member marks as spam appear here for 30 days, as do emails with a virus."
    />
  );
}
