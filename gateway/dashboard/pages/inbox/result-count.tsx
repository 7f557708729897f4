import { Text } from '@mantine/core';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { counted } from '../../parts/counted.ts';
import { RESULT_COUNT } from './inbox-documents.ts';
import type { ThreadsWanted } from './inbox-view.ts';

/** How many conversations a search finds. */
export function ResultCount({ wanted }: { wanted: ThreadsWanted }) {
  const { data } = useLiveQuery({
    query: RESULT_COUNT,
    variables: { ...wanted },
    kinds: ['EMAIL_THREADED'],
    gatherMs: 1_000,
  });
  const count = data?.inbox.totalCount;
  return (
    <Text size="xs" c="dimmed" px="xs" py={2} mih="1.4rem" role="status">
      {count === undefined ? '' : counted(count, 'conversation')}
    </Text>
  );
}
