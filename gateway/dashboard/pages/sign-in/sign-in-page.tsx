import { Anchor, Stack } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { EntryCard } from './entry-card.tsx';
import { withNext } from './next-path.ts';
import { SignInForm } from './sign-in-form.tsx';
import { useAuthSettings } from './use-auth-settings.ts';
import { useEntry } from './use-entry.ts';

/** Signs in and continues to the requested page. */
export function SignInPage() {
  const { next, enter } = useEntry();
  const settings = useAuthSettings();
  const [search] = useSearchParams();
  const isErased = search.get('account') === 'erased';
  return (
    <EntryCard
      title="Sign in"
      about={
        isErased
          ? 'Your account is closed, and its data is being erased.'
          : next === '/'
            ? undefined
            : 'Then you continue to the page that you requested.'
      }
      below={
        settings?.signUp === true && (
          <>
            No account yet?{' '}
            <Anchor component={Link} href={withNext('/sign-up', next)} underline="always">
              Sign up
            </Anchor>
          </>
        )
      }
    >
      <Stack>
        <SignInForm passkeyHost={settings?.passkeyHost ?? null} onSignedIn={enter} />
        <Anchor component={Link} href={withNext('/forgot-password', next)} size="sm" ta="center">
          Forgot your password?
        </Anchor>
      </Stack>
    </EntryCard>
  );
}
