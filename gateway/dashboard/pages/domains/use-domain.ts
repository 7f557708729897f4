import { useInterval } from '@mantine/hooks';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { DOMAIN } from './domain-documents.ts';

/** Records that appear one by one make no event; while some are missing, what the service saw is read again so often. Milliseconds. */
const READ_AGAIN_MS = 15_000;

/** One domain as it is now, also without a reload. */
export function useDomain(id: string) {
  const answer = useLiveQuery({
    query: DOMAIN,
    variables: { id },
    kinds: ['DOMAIN_VERIFIED', 'DOMAIN_FAILED', 'DOMAIN_RECORDS_LOST'],
    concerns: ({ domainId }) => domainId === id,
    types: ['Domain', 'EmailAddress'],
  });
  const isMissingSome = answer.data?.domain?.dnsRecords.some(({ status }) => status !== 'VERIFIED') ?? false;
  useInterval(
    () => {
      if (isMissingSome && document.visibilityState === 'visible') answer.refresh();
    },
    READ_AGAIN_MS,
    { autoInvoke: true },
  );
  return answer;
}
