import { Anchor, Button, Group, List, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { graphql, mutation, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { DialogButton } from '../../parts/buttons.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { Trouble } from '../../parts/form.tsx';
import { IconFingerprint, IconTrash } from '../../parts/icons.ts';
import { Loaded, Section } from '../../parts/section.tsx';
import { Hint, Small, WarningAlert } from '../../parts/text.tsx';
import { useAct } from '../../parts/use-act.ts';
import { counted } from '../../parts/words.ts';
import { announceSignOut, leaveErased } from '../../shell/session-news.ts';
import { useRight, useViewer } from '../../shell/viewer.ts';
import { type AuthOutcome, auth } from '../sign-in/auth-calls.ts';
import { Password, useAuthSettings } from '../sign-in/entry-parts.tsx';
import { canUsePasskeys, signInByPasskey } from '../sign-in/passkeys.ts';
import { startExport } from './account-settings.tsx';
import { useAsked } from './setting-parts.tsx';

const PREVIEW = graphql(`
  query PreviewErasure {
    viewer { erasurePreview { emails unsentEmails threads drafts domains addresses endpoints guardRules apiKeys } }
  }
`);
const ERASE = mutation('eraseAccount', 'email');

/** Erases the account, after its owner typed its address and signed in again. */
export function EraseSection() {
  const isOwner = useRight('erasure');
  return (
    <Section
      title="Erase account"
      about="Erases all mail, domains, keys and settings of this account. This cannot be undone."
    >
      {!isOwner && <Hint>Only the owner of the workspace can erase it.</Hint>}
      <Group>
        <DialogButton
          label="Erase account"
          title="Erase this account?"
          icon={IconTrash}
          size="sm"
          dialogSize="lg"
          disabled={!isOwner}
        >
          {(close) => <EraseDialog close={close} />}
        </DialogButton>
      </Group>
    </Section>
  );
}

function EraseDialog({ close }: { close: () => void }) {
  const query = useLiveQuery({ query: PREVIEW });
  return (
    <Stack>
      <Loaded query={query}>{({ viewer }) => <Erased counts={viewer.erasurePreview} />}</Loaded>
      <Small>
        To keep a copy,{' '}
        <Anchor
          href="/api/auth/export"
          download
          underline="always"
          onClick={(event) => {
            event.preventDefault();
            void startExport();
          }}
        >
          export the account
        </Anchor>{' '}
        first, and wait until the download has ended.
      </Small>
      <ConfirmErasure close={close} />
    </Stack>
  );
}

type Counts = ResultOf<typeof PREVIEW>['viewer']['erasurePreview'];

/** Counting stops there. */
const MAX_COUNTED = 100_000;

/** What goes, and what that means. */
function Erased({ counts }: { counts: Counts }) {
  const { emails, threads, drafts, domains, addresses, endpoints, guardRules, apiKeys, unsentEmails } = counts;
  return (
    <>
      <Small>This is erased within minutes and cannot be restored:</Small>
      <List size="sm">
        <List.Item>
          {[
            atLeast(emails, 'email'),
            atLeast(threads, 'thread'),
            ...(drafts > 0 ? [atLeast(drafts, 'draft')] : []),
          ].join(', ')}
        </List.Item>
        <List.Item>
          {atLeast(domains, 'domain')} with {atLeast(addresses, 'address', 'addresses')}: they reject mail at once, and
          other accounts can add the domains
        </List.Item>
        <List.Item>
          {[atLeast(endpoints, 'endpoint'), atLeast(guardRules, 'guard rule'), atLeast(apiKeys, 'API key')].join(', ')}:
          keys and webhooks stop at once
        </List.Item>
        {unsentEmails > 0 && (
          <List.Item>{atLeast(unsentEmails, 'email')} in the queue or scheduled: never sent</List.Item>
        )}
      </List>
    </>
  );
}

function atLeast(count: number, one: string, several?: string): string {
  return counted(count, one, several).replace(' ', count >= MAX_COUNTED ? ' or more ' : ' ');
}

/** Signs in again, because the service erases an account only within minutes of a sign-in, and erases it. */
function ConfirmErasure({ close }: { close: () => void }) {
  const { person, email } = useViewer();
  const settings = useAuthSettings();
  const { result: credentials } = useAsked(auth.credentials);
  const { result: passkeys } = useAsked(auth.passkeys);
  const { act } = useAct(ERASE, { quiet: true });
  const [typed, setTyped] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState<'password' | 'passkey' | null>(null);
  const [trouble, setTrouble] = useState<string | null>(null);
  const isTyped = typed.trim().toLowerCase() === email;
  const hasPassword = credentials?.hasPassword === true;
  const hasPasskey =
    passkeys !== undefined && passkeys.length > 0 && settings !== null && canUsePasskeys(settings.passkeyHost);

  const erase = async (by: 'password' | 'passkey', signIn: () => Promise<AuthOutcome<unknown> | null>) => {
    setBusy(by);
    setTrouble(await eraseAfter(signIn));
    setBusy(null);
  };
  const confirmByPasskey = async (): Promise<AuthOutcome<unknown> | null> => {
    const outcome = await signInByPasskey('optional', new AbortController().signal);
    if (outcome?.problem !== null || outcome.result.user.id === person?.id) return outcome;
    await auth.signOut();
    const message = 'This passkey belongs to another account. Reload the page and sign in again.';
    return { result: null, problem: { message, code: null, status: 0, fields: {} } };
  };
  const eraseAfter = async (signIn: () => Promise<AuthOutcome<unknown> | null>): Promise<string | null> => {
    const outcome = await signIn();
    if (outcome === null) return null;
    if (outcome.problem !== null)
      return outcome.problem.code === 'INVALID_PASSWORD' ? 'This is not your password.' : outcome.problem.message;
    const { problem } = await act({ confirmEmail: typed });
    if (problem !== null) return problem.message;
    announceSignOut();
    leaveErased();
    return null;
  };

  return (
    <form
      aria-label="Erase account"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (isTyped && password !== '') void erase('password', () => auth.confirmSignIn(password));
      }}
    >
      <Stack>
        <TextInput
          label={`Type ${email} to confirm`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {hasPassword && (
          <Password
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            label="Your password"
          />
        )}
        {credentials !== undefined && passkeys !== undefined && !hasPassword && !hasPasskey && (
          <WarningAlert title="Set a password first">
            The account is erased only after you sign in again. Set a password or add a passkey under Security.
          </WarningAlert>
        )}
        <Trouble text={trouble} />
        <Group justify="flex-end">
          <QuietButton label="Cancel" onClick={close} />
          {hasPasskey && (
            <Button
              {...(hasPassword ? { variant: 'default' } : { color: 'red.9' })}
              leftSection={<IconFingerprint size={16} aria-hidden />}
              disabled={!isTyped || busy === 'password'}
              loading={busy === 'passkey'}
              onClick={() => void erase('passkey', confirmByPasskey)}
            >
              Erase with passkey
            </Button>
          )}
          {hasPassword && (
            <Button
              type="submit"
              color="red.9"
              disabled={!isTyped || password === '' || busy === 'passkey'}
              loading={busy === 'password'}
            >
              Erase account
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
