import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle, IconClockPause } from '../../parts/icons.ts';
import type { AuthProblem } from './auth-calls.ts';

/** Shows the error of an account request. */
export function AuthProblemNote({ problem }: { problem: AuthProblem | null }) {
  if (problem === null) return null;
  const Icon = problem.status === 429 ? IconClockPause : IconAlertTriangle;
  return (
    <Alert color="red" variant="outline" icon={<Icon aria-hidden />} role="alert" py="sm">
      <Text size="sm">{words[problem.code ?? ''] ?? problem.message}</Text>
    </Alert>
  );
}

/** Texts for codes that need more explanation than the service's message. */
const words: Record<string, string> = {
  INVALID_EMAIL_OR_PASSWORD: 'The email address or the password is incorrect. Check both and try again.',
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: 'An account with this address already exists. Sign in instead.',
  EMAIL_PASSWORD_SIGN_UP_DISABLED: 'Sign-up is closed. Ask the operator for an account.',
  INVALID_PASSWORD: 'The current password is incorrect.',
};
