import { Group, Skeleton, Stack, Text } from '@mantine/core';
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { CopyTextButton } from '../../parts/command.tsx';
import { MainButton } from '../../parts/controls.tsx';
import { Icon, type IconName } from '../../parts/icons.ts';
import { notify } from '../../parts/notify.tsx';
import { Hint, Small, WarningAlert } from '../../parts/text.tsx';
import type { AuthOutcome, AuthProblem } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/entry-parts.tsx';

interface AskedProps<Result> {
  asked: Asked<Result>;
  height: number;
  children: (result: Result) => ReactNode;
}

/** What a call responded. Until then a placeholder; an error is shown above what was there before. */
export function WhenRead<Result>({ asked: { result, problem }, height, children }: AskedProps<Result>) {
  return (
    <>
      <AuthProblemNote problem={problem} />
      {result === undefined && problem === null && <Skeleton h={height} />}
      {result !== undefined && children(result)}
    </>
  );
}

/** Shows a notification with the outcome of a call: `done` or the error. The page itself handles an ended session. Returns whether the call succeeded. */
export function tellOutcome({ problem }: AuthOutcome<unknown>, done: string): boolean {
  if (problem?.status === 401) return false;
  notify(
    problem === null
      ? { message: done, color: 'green' }
      : { title: 'The change was not saved', message: problem.message, color: 'red' },
  );
  return problem === null;
}

/** Makes a change, tells its outcome, and reads again after success. */
export async function change(made: Promise<AuthOutcome<unknown>>, done: string, readAgain: () => Promise<void>) {
  if (tellOutcome(await made, done)) await readAgain();
}

interface SettingRowProps {
  icon?: IconName;
  name: ReactNode;
  /** beside the name */
  marks?: ReactNode;
  about: ReactNode;
  /** the actions */
  children?: ReactNode;
}

/** An entry of a list of settings: its name in bold, what there is to know of it, and its actions. */
export function SettingRow({ icon, name, marks, about, children }: SettingRowProps) {
  return (
    <Group component="li" wrap="nowrap" align="flex-start" gap="sm">
      {icon !== undefined && <Icon name={icon} size={22} stroke={1.6} />}
      <Stack gap={0} flex={1} miw={0}>
        <Group gap="xs">
          <Text fw={600} className="postroom-wrap">
            {name}
          </Text>
          {marks}
        </Group>
        <Hint component="div" className="postroom-wrap">
          {about}
        </Hint>
      </Stack>
      {children}
    </Group>
  );
}

interface ShownOnceProps {
  title: string;
  about: string;
  /** what is copied */
  text: string;
  copyLabel: string;
  done: () => void;
  /** the secret as it is shown */
  children: ReactNode;
}

/** A secret that is shown only once, until it is `done` with. */
export function ShownOnce({ title, about, text, copyLabel, done, children }: ShownOnceProps) {
  return (
    <WarningAlert title={title}>
      <Stack>
        <Small>{about}</Small>
        {children}
        <Group>
          <CopyTextButton text={text} label={copyLabel} />
          <MainButton label="Done" onClick={done} />
        </Group>
      </Stack>
    </WarningAlert>
  );
}

/** Response of a call to `/api/auth`, while the component is mounted. */
interface Asked<Result> {
  /** undefined while loading */
  result: Result | undefined;
  problem: AuthProblem | null;
  askAgain: () => Promise<void>;
}

/** Calls `ask` immediately, and again on request. `ask` must be the same function each time. */
export function useAsked<Result>(ask: () => Promise<AuthOutcome<Result>>): Asked<Result> {
  const [state, setState] = useState<{ result: Result | undefined; problem: AuthProblem | null }>({
    result: undefined,
    problem: null,
  });
  const askAgain = useCallback(async () => {
    const { result, problem } = await ask();
    setState((before) => (problem === null ? { result, problem } : { result: before.result, problem }));
  }, [ask]);
  useEffect(() => void askAgain(), [askAgain]);
  return { ...state, askAgain };
}

/** Patterns of the User-Agent field (RFC 9110 §10.1.5). The first match counts, because browsers claim to be their predecessors. */
const browsers: [pattern: RegExp, words: string][] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bHeadlessChrome\//, 'Headless Chrome'],
  [/\bChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const systems: [pattern: RegExp, words: string][] = [
  [/\biPhone\b/, 'an iPhone'],
  [/\biPad\b/, 'an iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMacintosh\b/, 'a Mac'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** Returns the browser and its system, such as "Firefox on Windows". */
export function deviceWords(userAgent: string | null | undefined): string {
  const of = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser, system] = [of(browsers), of(systems)];
  if (system === undefined) return browser ?? 'Unknown program';
  return `${browser ?? 'A browser'} on ${system}`;
}

/** Returns whether it is a mobile device. */
export function isHandheld(userAgent: string | null | undefined): boolean {
  return /\biPhone\b|\biPad\b|\bAndroid\b/.test(userAgent ?? '');
}
