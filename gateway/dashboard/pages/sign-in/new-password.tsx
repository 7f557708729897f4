import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** Characters of a password. */
const LENGTH = { least: 8, most: 128 };

/** Why a password cannot be taken; null: it can. */
export function newPasswordFault(password: string): string | null {
  if (password.length < LENGTH.least) return `Must have at least ${LENGTH.least} characters.`;
  if (password.length > LENGTH.most) return `Must have at most ${LENGTH.most} characters.`;
  return null;
}

/** Asks for a new password. It can be looked at, so that nobody has to type it twice. */
export function NewPassword(props: PasswordInputProps) {
  return (
    <Password
      label="Password"
      description={`${LENGTH.least} characters or more. Four unrelated words make a good password.`}
      autoComplete="new-password"
      {...props}
    />
  );
}

/** Asks for a password. */
export function Password(props: PasswordInputProps) {
  return (
    <PasswordInput
      label="Password"
      autoComplete="current-password"
      visibilityToggleFocusable
      visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
      {...props}
    />
  );
}
