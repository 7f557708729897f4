import { Anchor, Stack } from '@mantine/core';
import { Link, useSearchParams } from 'wouter';
import { PROVIDER_PROBLEMS } from '../../../../core/accounts/sign-in.ts';
import type { AuthProblem } from './auth-calls.ts';
import { AuthProblemNote } from './auth-problem-note.tsx';
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
        <AuthProblemNote problem={providerProblem(search)} />
        <SignInForm
          passkeyHost={settings?.passkeyHost ?? null}
          singleSignOn={settings?.singleSignOn ?? null}
          returnTo={next}
          onSignedIn={enter}
        />
        <Anchor component={Link} href={withNext('/forgot-password', next)} size="sm" ta="center">
          Forgot your password?
        </Anchor>
      </Stack>
    </EntryCard>
  );
}

/** Returns why single sign-on failed, from the address of the page; null if it did not. Only texts of our own are shown. */
function providerProblem(search: URLSearchParams): AuthProblem | null {
  const code = search.get('problem') ?? '';
  if (!Object.hasOwn(PROVIDER_PROBLEMS, code)) return null;
  const reference = /^[\w-]{1,64}$/.exec(search.get('reference') ?? '')?.[0];
  const text = PROVIDER_PROBLEMS[code as keyof typeof PROVIDER_PROBLEMS];
  const message = reference === undefined ? text : `${text} Reference for the help desk: ${reference}`;
  return { message, code: null, status: 0, fields: {} };
}
