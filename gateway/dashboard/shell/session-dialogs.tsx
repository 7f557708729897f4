import { Anchor, Group, Modal, Stack } from '@mantine/core';
import { useState } from 'react';
import type { SessionChange } from '../client.ts';
import type { AuthProblem } from '../pages/sign-in/auth-calls.ts';
import { useAuthSettings } from '../pages/sign-in/entry-parts.tsx';
import { withNext } from '../pages/sign-in/next-path.ts';
import { SignInForm } from '../pages/sign-in/sign-in-form.tsx';
import { MainButton, QuietButton } from '../parts/controls.tsx';
import { ErrorAlert, Small } from '../parts/text.tsx';
import { activateWorkspace } from './session-news.ts';
import { SecondFactorStep } from './sign-in-steps.tsx';
import type { Viewer } from './viewer.ts';

interface SessionStoppedProps {
  stop: Exclude<SessionChange, 'role'>;
  viewer: Viewer;
  /** called when the session serves the page again */
  onReturn: () => void;
}

const TITLES: Record<SessionStoppedProps['stop'], string> = {
  ended: 'Your session has ended',
  'second-factor': 'Set up a second factor',
  'other-workspace': 'This browser is in another workspace',
};

/** Dialog over a page whose session serves it no more. The page then goes on with its unsaved input, or is left. */
export function SessionStopped({ stop, viewer, onReturn }: SessionStoppedProps) {
  return (
    <Modal
      opened
      onClose={() => undefined}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
      title={TITLES[stop]}
      centered
      zIndex={400}
    >
      {stop === 'ended' && <SignInAgain viewer={viewer} onReturn={onReturn} />}
      {stop === 'second-factor' && <SecondFactor viewer={viewer} onReturn={onReturn} />}
      {stop === 'other-workspace' && <WorkspaceChoice viewer={viewer} onReturn={onReturn} />}
    </Modal>
  );
}

type StopProps = Omit<SessionStoppedProps, 'stop'>;

/** Returns what makes the workspace of the page the active one again, and why that is not possible. */
function useReturn({ viewer, onReturn }: StopProps) {
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const goBack = async () => {
    const why = await activateWorkspace(viewer.id);
    setProblem(why);
    if (why === null) onReturn();
  };
  const name = viewer.person?.workspaceName ?? 'the workspace of this page';
  const about = problem?.code === 'WORKSPACE_NOT_FOUND' ? `You are no longer a member of ${name}.` : problem?.message;
  return { goBack, name, about };
}

/** Loads the page again, in the workspace that the session is in now. */
const leavePage = () => window.location.assign('/');

function SignInAgain(props: StopProps) {
  const settings = useAuthSettings();
  const { viewer } = props;
  const { pathname, search, hash } = window.location;
  const { goBack, about } = useReturn(props);
  if (about !== undefined)
    return (
      <Stack>
        <Small role="alert">{about} You are signed in again, in another workspace.</Small>
        <MainButton label="Continue there" onClick={leavePage} />
      </Stack>
    );
  return (
    <Stack>
      <Small>Sign in again to continue on this page.</Small>
      <SignInForm
        email={viewer.person?.email ?? viewer.email ?? ''}
        passkeyHost={settings?.passkeyHost ?? null}
        singleSignOn={settings?.singleSignOn ?? null}
        returnTo={pathname + search + hash}
        onSignedIn={({ id }) => (id === viewer.person?.id ? void goBack() : window.location.reload())}
      />
      <Anchor href={withNext('/sign-in', pathname + search + hash)} size="sm" ta="center">
        Go to sign-in
      </Anchor>
    </Stack>
  );
}

function SecondFactor(props: StopProps) {
  const { goBack, about } = useReturn(props);
  return (
    <Stack>
      {about !== undefined && <ErrorAlert role="alert">{about}</ErrorAlert>}
      <SecondFactorStep onDone={() => void goBack()} />
    </Stack>
  );
}

/** After another tab switched the workspace: this page belongs to the one before. */
function WorkspaceChoice(props: StopProps) {
  const { goBack, name, about } = useReturn(props);
  return (
    <Stack>
      <Small>This page shows the workspace {name}. Another tab has switched to another one.</Small>
      {about !== undefined && <ErrorAlert role="alert">{about}</ErrorAlert>}
      <Group justify="flex-end">
        <QuietButton label="Open the other workspace" onClick={leavePage} />
        <MainButton label={`Back to ${name}`} onClick={() => void goBack()} data-autofocus />
      </Group>
    </Stack>
  );
}
