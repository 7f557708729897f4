import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { useEffect, useEffectEvent } from 'react';
import { IconCircleCheck } from '../../parts/icons.ts';
import { CheckDns, useDnsCheck } from './check-dns.tsx';
import { ConflictNote } from './domain-advice.tsx';
import type { ShownDomain } from './domain-documents.ts';
import { RecordList } from './record-list.tsx';

/** Interval of the DNS checks while this step is open. Milliseconds. */
const ASK_AGAIN_MS = 20_000;

/** Step that waits until DNS has the records. It checks automatically and shows each record as it is found. */
export function AwaitRecords({
  domain,
  refresh,
  back,
  next,
}: {
  domain: ShownDomain;
  refresh: () => void;
  back: () => void;
  next: () => void;
}) {
  const { check } = useDnsCheck(domain.id, refresh);
  const isVerified = domain.status === 'VERIFIED';
  const isComplete = domain.dnsRecords.every(({ status }) => status === 'VERIFIED');
  const ask = useEffectEvent(() => {
    if (!isComplete && document.visibilityState === 'visible') void check();
  });
  useEffect(() => ask(), []);
  useInterval(() => ask(), ASK_AGAIN_MS, { autoInvoke: true });
  return (
    <Stack maw={980}>
      <CheckDns domain={domain} refresh={refresh} />
      {isVerified ? (
        <Alert
          color="green"
          variant="outline"
          icon={<IconCircleCheck aria-hidden />}
          title={`${domain.name} is verified`}
          role="status"
        >
          <Text size="sm">
            {domain.canReceive
              ? 'The domain can receive and send mail.'
              : 'The domain can send mail. To receive mail, publish its MX record.'}
          </Text>
        </Alert>
      ) : (
        <Text size="sm" c="dimmed">
          Postroom checks DNS every 20 seconds while this page is open, and continues in the background. New records are
          often seen within minutes; a resolver may remember for an hour that they were missing. You may leave: nothing
          is lost.
        </Text>
      )}
      <ConflictNote conflict={domain.dnsConflict} />
      <RecordList records={domain.dnsRecords} zone={domain.parent?.name ?? domain.name} />
      <Group justify="space-between">
        <Button variant="default" onClick={back}>
          Back to records
        </Button>
        <Button disabled={!isVerified} onClick={next}>
          Continue
        </Button>
      </Group>
    </Stack>
  );
}
