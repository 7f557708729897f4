import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { counted } from '../../parts/counted.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { RELEASE } from '../activity/waiting-documents.ts';

interface Run {
  total: number;
  released: number;
  failed: number;
  /** why the last one could not be released */
  problem: string | null;
  state: 'running' | 'stopped' | 'done';
}

/** Releases all listed mail, one after the other, until it is stopped. */
export function ReleaseAll({ ids, onDone }: { ids: readonly string[]; onDone: () => void }) {
  const [run, setRun] = useState<Run | null>(null);
  const isStopped = useRef(false);
  const { act } = useAct(RELEASE, { quiet: true });
  const start = async () => {
    isStopped.current = false;
    const now: Run = { total: ids.length, released: 0, failed: 0, problem: null, state: 'running' };
    setRun({ ...now });
    for (const id of ids) {
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- the user may stop it between two
      if (isStopped.current) break;
      const { problem } = await act({ id });
      if (problem === null) now.released++;
      else Object.assign(now, { failed: now.failed + 1, problem: problem.message });
      setRun({ ...now });
    }
    // oxlint-disable-next-line typescript/no-unnecessary-condition -- as above
    setRun({ ...now, state: isStopped.current ? 'stopped' : 'done' });
    onDone();
  };
  const isRunning = run?.state === 'running';
  if (ids.length < 2 && run === null) return null;
  return (
    <Stack gap="xs">
      <Group>
        {isRunning ? (
          <Button
            {...needs('endpoints')}
            size="xs"
            variant="default"
            onClick={() => {
              isStopped.current = true;
            }}
          >
            Stop
          </Button>
        ) : (
          ids.length > 1 && (
            <ConfirmButton
              {...needs('endpoints')}
              label={`Release all ${ids.length} shown`}
              question={`Release ${counted(ids.length, 'email')}?`}
              about="Each email is delivered as if no guard rule had matched, one after the other. You can stop at any time."
              confirm="Release emails"
              act={async () => void start()}
            />
          )
        )}
      </Group>
      {run !== null && (
        <>
          <Progress
            value={run.total === 0 ? 100 : (100 * (run.released + run.failed)) / run.total}
            aria-label="Released emails"
          />
          <Text size="sm" role="status">
            {run.released} of {run.total} released
            {run.failed > 0 ? `, ${run.failed} failed (${run.problem ?? ''})` : ''}
            {run.state === 'stopped' ? '. Stopped.' : run.state === 'done' ? '. Done.' : ''}
          </Text>
        </>
      )}
    </Stack>
  );
}
