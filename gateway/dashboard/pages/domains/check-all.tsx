import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useClient } from 'urql';
import { graphql } from '../../graphql.ts';
import { IconRefresh } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { VERIFY_DOMAINS } from './domain-documents.ts';

const IDS = graphql(`
  query DomainIds($after: String) {
    domains(first: 100, after: $after) { edges { node { id } } pageInfo { hasNextPage endCursor } }
  }
`);
/** Domains per request, which are checked in parallel within the time limit of a request. */
const BATCH = 5;

interface Work {
  done: number;
  total: number;
  verified: number;
  state: 'running' | 'stopped' | 'done' | 'failed';
}

/** Checks the DNS of all domains, a few at a time. Can be stopped. Returns the button and the progress display. */
export function useCheckAll(): { button: React.ReactNode; progress: React.ReactNode } {
  const client = useClient();
  const { act } = useAct(VERIFY_DOMAINS);
  const [work, setWork] = useState<Work | null>(null);
  const isWanted = useRef(false);
  useEffect(() => () => void (isWanted.current = false), []);

  const allIds = async () => {
    const ids: string[] = [];
    for (let after: string | null = null; ; ) {
      const { data } = await client.query(IDS, { after }, { requestPolicy: 'network-only' }).toPromise();
      if (data === undefined) return ids;
      ids.push(...data.domains.edges.map(({ node }) => node.id));
      if (!data.domains.pageInfo.hasNextPage) return ids;
      after = data.domains.pageInfo.endCursor;
    }
  };
  const run = async () => {
    isWanted.current = true;
    setWork({ done: 0, total: 0, verified: 0, state: 'running' });
    const ids = await allIds();
    let progress: Work = { done: 0, total: ids.length, verified: 0, state: 'running' };
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may stop it between two batches
    while (progress.done < ids.length && isWanted.current) {
      const batch = ids.slice(progress.done, progress.done + BATCH);
      const { payload } = await act({ input: { ids: batch } });
      if (payload === null) return setWork({ ...progress, state: 'failed' });
      const verified = payload.domains.filter(({ status }) => status === 'VERIFIED').length;
      progress = { ...progress, done: progress.done + batch.length, verified: progress.verified + verified };
      setWork(progress);
    }
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- as above
    setWork({ ...progress, state: isWanted.current ? 'done' : 'stopped' });
  };
  const isRunning = work?.state === 'running';
  return {
    button: (
      <Button
        {...needs('domains')}
        variant="default"
        leftSection={<IconRefresh size={16} aria-hidden />}
        disabled={isRunning}
        onClick={() => void run()}
      >
        Check all
      </Button>
    ),
    progress: work !== null && (
      <Stack gap={6} mb="md">
        <Group justify="space-between" gap="xs">
          <Text size="sm" aria-live="polite">
            {wordsOf(work)}
          </Text>
          {isRunning && (
            <Button size="xs" variant="default" onClick={() => void (isWanted.current = false)}>
              Stop
            </Button>
          )}
        </Group>
        <Progress
          value={work.total === 0 ? 100 : (100 * work.done) / work.total}
          animated={isRunning}
          aria-label="Checked domains"
        />
      </Stack>
    ),
  };
}

function wordsOf({ done, total, verified, state }: Work): string {
  const count = `${done} of ${total} domains checked, ${verified} verified`;
  if (state === 'running') return total === 0 ? 'Listing domains' : count;
  return state === 'done' ? `Done: ${count}` : state === 'stopped' ? `Stopped: ${count}` : `Failed: ${count}`;
}
