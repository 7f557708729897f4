import { useInterval } from '@mantine/hooks';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { DOMAIN } from './domain-documents.ts';

/** Interval of reading the domain while records are missing, because a record that appears causes no event. Milliseconds. */
const READ_AGAIN_MS = 15_000;

/** Returns one domain, updated live. */
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
