import { PasswordInput, type PasswordInputProps } from '@mantine/core';

/** Allowed length of a password in characters. */
const LENGTH = { least: 10, most: 128 };

/** Returns why a password is not allowed; null if it is. */
export function newPasswordFault(password: string): string | null {
  if (password.length < LENGTH.least) return `Must have at least ${LENGTH.least} characters.`;
  if (password.length > LENGTH.most) return `Must have at most ${LENGTH.most} characters.`;
  return null;
}

/** Field for a new password. The user can show it, so it is entered only once. */
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

/** Field for a password. */
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
