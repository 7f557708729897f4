import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import type { Saving } from './use-saved-draft.ts';

/** Shows whether the draft is saved, and asks what to do when it was changed elsewhere. */
export function DraftState({ saving, keep, load }: { saving: Saving; keep: () => void; load: () => void }) {
  const { state } = saving;
  if (state === 'conflict' || state === 'gone') {
    const isGone = state === 'gone';
    return (
      <Alert
        color="yellow"
        variant="outline"
        role="alert"
        title={isGone ? 'This draft was sent or deleted' : 'This draft was changed elsewhere'}
      >
        <Stack gap={6} align="flex-start">
          <Text size="sm">
            {isGone
              ? 'Another tab, person or API key sent or deleted it. What you wrote here is not saved.'
              : 'Another tab, person or API key changed it. What you wrote since then is not saved.'}
          </Text>
          <Group gap="xs">
            <Button size="compact-sm" variant="default" onClick={keep}>
              {isGone ? 'Save as new draft' : 'Keep my version'}
            </Button>
            <Button size="compact-sm" variant="default" onClick={load}>
              {isGone ? 'Close' : 'Load other version'}
            </Button>
          </Group>
        </Stack>
      </Alert>
    );
  }
  return (
    <Text
      size="xs"
      c={state === 'failed' ? 'var(--mantine-color-error)' : 'dimmed'}
      role="status"
      className="postroom-wrap"
    >
      {state === 'failed' ? `Draft not saved: ${saving.problem.message}` : WORDS[state]}
    </Text>
  );
}

const WORDS = { none: '', saving: 'Saving draft…', saved: 'Draft saved' };
