import { Badge, Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { IconDeviceDesktop, IconDeviceMobile } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { signOutEverywhere } from '../../shell/sign-out.ts';
import { type AuthSession, auth } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { deviceWords, isHandheld } from './device-words.ts';
import { Section } from './section.tsx';
import { tellOutcome } from './tell-outcome.ts';
import { useAsked } from './use-asked.ts';

/** Active sessions of the account. */
export function SessionsSection() {
  const { answer, problem, askAgain } = useAsked(readSessions);
  return (
    <Section
      title="Sessions"
      about="Browsers where you are signed in. A session ends after 12 hours of inactivity, and after 30 days at the latest."
      actions={
        <Group gap="xs">
          {answer !== undefined && answer.sessions.length > 1 && <EndOthersButton onEnd={askAgain} />}
          <ConfirmButton
            label="Sign out everywhere"
            size="sm"
            question="Sign out everywhere?"
            about="All browsers are signed out, including this one. API keys keep working."
            confirm="Sign out everywhere"
            act={signOutEverywhere}
          />
        </Group>
      }
    >
      <AuthProblemNote problem={problem} />
      {answer === undefined && problem === null && <Skeleton h={90} />}
      <Stack gap="md" component="ul" p={0} m={0} aria-label="Sessions" style={{ listStyle: 'none' }}>
        {answer?.sessions.map((session) => (
          <SessionRow key={session.id} session={session} isCurrent={session.id === answer.currentId} onEnd={askAgain} />
        ))}
      </Stack>
    </Section>
  );
}

function EndOthersButton({ onEnd }: { onEnd: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const end = async () => {
    setBusy(true);
    const isDone = tellOutcome(await auth.endOtherSessions(), 'All other browsers were signed out.');
    setBusy(false);
    if (isDone) await onEnd();
  };
  return (
    <Button variant="default" size="sm" loading={isBusy} onClick={() => void end()}>
      Sign out all other sessions
    </Button>
  );
}

/** This browser's session first, then the most recently used one. */
async function readSessions() {
  const [all, current] = await Promise.all([auth.sessions(), auth.session()]);
  if (all.problem !== null) return all;
  const currentId = current.answer?.session.id ?? null;
  const rank = ({ id, updatedAt }: AuthSession) => (id === currentId ? Infinity : Date.parse(updatedAt));
  const sessions = all.answer.toSorted((one, other) => (rank(other) > rank(one) ? 1 : -1));
  return { answer: { sessions, currentId }, problem: null };
}

function SessionRow({
  session,
  isCurrent,
  onEnd,
}: {
  session: AuthSession;
  isCurrent: boolean;
  onEnd: () => Promise<void>;
}) {
  const [isBusy, setBusy] = useState(false);
  const device = deviceWords(session.userAgent);
  const Icon = isHandheld(session.userAgent) ? IconDeviceMobile : IconDeviceDesktop;
  const end = async () => {
    setBusy(true);
    const isDone = tellOutcome(await auth.endSession(session.id), `${device} was signed out.`);
    setBusy(false);
    if (isDone) await onEnd();
  };
  return (
    <Group component="li" wrap="nowrap" align="flex-start" gap="sm">
      <Icon size={22} stroke={1.6} aria-hidden style={{ flexShrink: 0 }} />
      <Stack gap={0} flex={1} miw={0}>
        <Group gap="xs">
          <Text fw={600}>{device}</Text>
          {isCurrent && (
            <Badge variant="outline" color="gray" tt="none">
              this browser
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" className="postroom-wrap">
          {session.ipAddress != null && session.ipAddress !== '' && `${session.ipAddress} · `}
          <RelativeTime at={session.createdAt} prefix="Signed in " />
          <RelativeTime at={session.updatedAt} prefix=" · Last used " />
        </Text>
      </Stack>
      {!isCurrent && (
        <Button
          variant="default"
          size="xs"
          loading={isBusy}
          onClick={() => void end()}
          aria-label={`Sign out ${device}`}
        >
          Sign out
        </Button>
      )}
    </Group>
  );
}
