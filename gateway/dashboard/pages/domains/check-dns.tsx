import { Alert, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { IconRefresh } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { type ShownDomain, VERIFY_DOMAIN } from './domain-documents.ts';

/** Number of records found, time of the last check, and a button that checks again. */
export function CheckDns({ domain, refresh }: { domain: ShownDomain; refresh: () => void }) {
  const { check, isBusy, problem } = useDnsCheck(domain.id, refresh);
  const { dnsRecords: records, lastCheckedAt, lastCheckError } = domain;
  const seen = records.filter(({ status }) => status === 'VERIFIED').length;
  return (
    <Stack gap={6}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" component="div" aria-live="polite">
          <Text span fw={600}>
            {seen} of {records.length} records found
          </Text>{' '}
          <Text span c="dimmed">
            {isBusy ? (
              'Checking DNS…'
            ) : lastCheckedAt === null ? (
              'DNS not checked yet'
            ) : (
              <RelativeTime at={lastCheckedAt} prefix="last checked " />
            )}
          </Text>
        </Text>
        <Button
          {...needs('domains')}
          size="xs"
          variant="default"
          leftSection={<IconRefresh size={14} aria-hidden />}
          loading={isBusy}
          onClick={() => void check()}
        >
          Check DNS
        </Button>
      </Group>
      <Progress
        value={isBusy ? 100 : (100 * seen) / Math.max(1, records.length)}
        animated={isBusy}
        striped={isBusy}
        aria-label={isBusy ? 'Checking DNS' : 'Records found'}
      />
      {problem !== null && <Trouble text={problem.message} />}
      {problem === null && lastCheckError !== null && (
        <Trouble
          text={`${lastCheckError}. The states of the records are from the last successful check. Try again in a moment.`}
        />
      )}
    </Stack>
  );
}

function Trouble({ text }: { text: string }) {
  return (
    <Alert color="yellow" variant="outline" role="status" p="xs">
      <Text size="sm">{text}</Text>
    </Alert>
  );
}

/** Starts a DNS check of a domain. */
export function useDnsCheck(id: string, done: () => void) {
  const { act, isBusy } = useAct(VERIFY_DOMAIN, { quiet: true });
  const [problem, setProblem] = useState<Problem | null>(null);
  const check = async () => {
    const outcome = await act({ input: { id } });
    setProblem(outcome.problem);
    done();
  };
  return { check, isBusy, problem };
}
