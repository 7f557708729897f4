import { Alert, Button, CopyButton, Group, Skeleton, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { IconType } from '../../parts/icons.ts';
import { notify } from '../../parts/notify.ts';
import type { AuthOutcome } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import type { Asked } from './use-asked.ts';

/** What a call responded. Until then a placeholder; an error is shown above what was there before. */
export function Answered<Answer>({
  asked: { answer, problem },
  height,
  children,
}: {
  asked: Asked<Answer>;
  height: number;
  children: (answer: Answer) => ReactNode;
}) {
  return (
    <>
      <AuthProblemNote problem={problem} />
      {answer === undefined && problem === null && <Skeleton h={height} />}
      {answer !== undefined && children(answer)}
    </>
  );
}

/**
 * Shows a notification with the outcome of a call: `done` or the error. The page itself handles an ended session. Returns whether the call
 * succeeded.
 */
export function tellOutcome({ problem }: AuthOutcome<unknown>, done: string): boolean {
  if (problem?.status === 401) return false;
  notify(
    problem === null
      ? { message: done, color: 'green' }
      : { title: 'The change was not saved', message: problem.message, color: 'red' },
  );
  return problem === null;
}

/** An entry of a list of settings: its name in bold, what there is to know of it, and its actions. */
export function SettingRow({
  icon: Icon,
  name,
  marks,
  about,
  children,
}: {
  icon?: IconType;
  name: ReactNode;
  /** beside the name */
  marks?: ReactNode;
  about: ReactNode;
  /** the actions */
  children?: ReactNode;
}) {
  return (
    <Group component="li" wrap="nowrap" align="flex-start" gap="sm">
      {Icon !== undefined && <Icon size={22} stroke={1.6} aria-hidden style={{ flexShrink: 0 }} />}
      <Stack gap={0} flex={1} miw={0}>
        <Group gap="xs">
          <Text fw={600} className="postroom-wrap">
            {name}
          </Text>
          {marks}
        </Group>
        <Text size="sm" c="dimmed" component="div" className="postroom-wrap">
          {about}
        </Text>
      </Stack>
      {children}
    </Group>
  );
}

/** Button that copies a text. */
export function CopyTextButton({ text, label, size = 'sm' }: { text: string; label: string; size?: 'xs' | 'sm' }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button variant="default" size={size} onClick={copy}>
          {copied ? 'Copied' : label}
        </Button>
      )}
    </CopyButton>
  );
}

/** A secret that is shown only once, until it is `done` with. */
export function ShownOnce({
  title,
  about,
  text,
  copyLabel,
  done,
  children,
}: {
  title: string;
  about: string;
  /** what is copied */
  text: string;
  copyLabel: string;
  done: () => void;
  /** the secret as it is shown */
  children: ReactNode;
}) {
  return (
    <Alert color="yellow" variant="outline" title={title}>
      <Stack>
        <Text size="sm">{about}</Text>
        {children}
        <Group>
          <CopyTextButton text={text} label={copyLabel} />
          <Button onClick={done}>Done</Button>
        </Group>
      </Stack>
    </Alert>
  );
}
