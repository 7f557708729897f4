import { Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { IconFingerprint, IconPlus } from '../../parts/icons.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { auth, type Passkey } from '../sign-in/auth-calls.ts';
import { AuthProblemNote } from '../sign-in/auth-problem-note.tsx';
import { addPasskey, canUsePasskeys } from '../sign-in/passkeys.ts';
import { useAuthSettings } from '../sign-in/use-auth-settings.ts';
import { deviceWords } from './device-words.ts';
import { Section } from './section.tsx';
import { tellOutcome } from './tell-outcome.ts';
import { useAsked } from './use-asked.ts';

/** Passkeys of the account. */
export function PasskeysSection() {
  const settings = useAuthSettings();
  const { answer, problem, askAgain } = useAsked(auth.passkeys);
  const [isBusy, setBusy] = useState(false);
  const canAdd = settings !== null && canUsePasskeys(settings.passkeyHost);
  const add = async () => {
    setBusy(true);
    const outcome = await addPasskey(deviceWords(navigator.userAgent));
    setBusy(false);
    if (outcome !== null && tellOutcome(outcome, 'The passkey was added.')) await askAgain();
  };
  return (
    <Section
      title="Passkeys"
      about="Sign in with a fingerprint, face or device PIN. A passkey cannot be guessed or phished."
      actions={
        canAdd && (
          <Button
            variant="default"
            leftSection={<IconPlus size={16} aria-hidden />}
            loading={isBusy}
            onClick={() => void add()}
          >
            Add passkey
          </Button>
        )
      }
    >
      <AuthProblemNote problem={problem} />
      {answer === undefined && problem === null && <Skeleton h={40} />}
      {answer?.length === 0 && <Text size="sm">No passkeys yet.</Text>}
      {answer !== undefined && answer.length > 0 && (
        <Stack gap="md" component="ul" p={0} m={0} aria-label="Passkeys" style={{ listStyle: 'none' }}>
          {answer.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} onChange={askAgain} />
          ))}
        </Stack>
      )}
      {settings !== null && !canAdd && (
        <Text size="sm" c="dimmed">
          Passkeys work only at {settings.passkeyHost}, over https or on localhost. Open this page there to add one.
        </Text>
      )}
    </Section>
  );
}

function PasskeyRow({ passkey, onChange }: { passkey: Passkey; onChange: () => Promise<void> }) {
  const [name, setName] = useState<string | null>(null);
  const shown = passkey.name ?? 'Passkey';
  const save = async () => {
    if (name !== null && tellOutcome(await auth.renamePasskey(passkey.id, name.trim()), 'The passkey was renamed.')) {
      setName(null);
      await onChange();
    }
  };
  return (
    <Group component="li" wrap="nowrap" align="flex-start" gap="sm">
      <IconFingerprint size={22} stroke={1.6} aria-hidden style={{ flexShrink: 0 }} />
      {name === null ? (
        <Stack gap={0} flex={1} miw={0}>
          <Text fw={600} className="postroom-wrap">
            {shown}
          </Text>
          <Text size="sm" c="dimmed">
            {passkey.createdAt != null && <RelativeTime at={passkey.createdAt} prefix="Added " />}
            {passkey.backedUp && ' · Synced across your devices'}
          </Text>
        </Stack>
      ) : (
        <form
          aria-label={`Rename ${shown}`}
          style={{ flex: 1 }}
          onSubmit={(event) => {
            event.preventDefault();
            void save();
          }}
        >
          <Group gap="xs" align="flex-end">
            <TextInput
              label="Name"
              value={name}
              maxLength={100}
              onChange={(event) => setName(event.currentTarget.value)}
              flex={1}
              ref={focusOnce}
            />
            <Button type="submit" disabled={name.trim() === ''}>
              Save
            </Button>
            <Button variant="default" onClick={() => setName(null)}>
              Cancel
            </Button>
          </Group>
        </form>
      )}
      {name === null && (
        <Group gap="xs" wrap="nowrap">
          <Button variant="default" size="xs" onClick={() => setName(shown)} aria-label={`Rename ${shown}`}>
            Rename
          </Button>
          <ConfirmButton
            label="Remove"
            question={`Remove ${shown}?`}
            about="You can no longer sign in with it. Also remove it from the device or password manager."
            confirm="Remove passkey"
            act={async () => {
              if (tellOutcome(await auth.removePasskey(passkey.id), 'The passkey was removed.')) await onChange();
            }}
          />
        </Group>
      )}
    </Group>
  );
}

const focusOnce = (input: HTMLInputElement | null) => input?.select();
