import { isFrequentPassword } from './frequent-passwords.ts';

/** Length of a new password; characters. */
export const PASSWORD_LENGTH = { least: 10, most: 128 };

/** Returns why a text cannot be a new password, as the end of a sentence that begins with its field; null if it can. Never repeats it. */
export function newPasswordFault(password: string): string | null {
  if (password.length < PASSWORD_LENGTH.least) return `must have ${PASSWORD_LENGTH.least} characters or more`;
  if (password.length > PASSWORD_LENGTH.most) return `must have ${PASSWORD_LENGTH.most} characters at most`;
  if (isFrequentPassword(password)) return 'must not be one of the 100,000 most common passwords';
  return null;
}
