import { Anchor } from '@mantine/core';
import { SecondFactorSection } from '../pages/settings/sign-in-settings.tsx';
import { EntryCard } from '../pages/sign-in/entry-parts.tsx';
import { signOut } from './session-news.ts';

/** The only page of a person whose workspace requires a second factor that the session has not shown. */
export function SecondFactorPage() {
  return (
    <EntryCard
      title="Set up a second factor"
      about="This workspace requires one. Set up an authenticator app, or sign out and sign in with a passkey."
      below={
        <Anchor component="button" onClick={() => void signOut()} underline="always">
          Sign out
        </Anchor>
      }
    >
      <SecondFactorSection mayRequire={false} onTurnedOn={() => window.location.reload()} />
    </EntryCard>
  );
}
