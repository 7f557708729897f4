import { signInLinkUrl } from '../../core/accounts/auth-secret.ts';
import type { FirstAccount } from './first-account.ts';

export interface WelcomeOptions {
  smtpAddress: string;
  publicUrl: string;
  /** where the data is stored: DATA_DIR, or the address of the external database without its password */
  data: string;
  /** the account that this start created; null if it created none */
  firstAccount: FirstAccount | null;
  /** whether any account exists */
  hasAccounts: boolean;
  isSignUpOpen: boolean;
  /** the file that holds the key and the link of the first account; null when they are part of the text */
  secretsFile: string | null;
}

/** Returns the text that `npm start` prints before the JSON lines of the log. */
export function welcome(options: WelcomeOptions): string {
  const { smtpAddress, publicUrl, data, firstAccount, secretsFile } = options;
  const lines = [
    'Postroom is running. Press Ctrl-C to stop it.',
    '',
    `  SMTP      ${smtpAddress}`,
    `  HTTP      ${publicUrl}   (dashboard /, REST /api/e2, GraphQL /graphql)`,
    `  Data      ${data}`,
  ];
  if (firstAccount === null) return [...lines, ...accountLines(options), '', ''].join('\n');
  const { email, apiKey, signInToken, address } = firstAccount;
  if (secretsFile !== null)
    return [
      ...lines,
      `  Account   ${email}`,
      '',
      `API key: stored in ${secretsFile} (mode 0600)`,
      'The file also has a link that signs you in to the dashboard once, within 24 hours. Delete it when you have read it.',
      '',
      '',
    ].join('\n');
  return [
    ...lines,
    ...(signInToken === null
      ? []
      : [`  Dashboard ${signInLinkUrl(publicUrl, signInToken)}`, '            (signs you in once, within 24 hours)']),
    `  Account   ${email}`,
    `  API key   ${apiKey}   (shown only once)`,
    '',
    'Send your first mail, then read it:',
    '',
    String.raw`  printf 'From: you@example.com\nTo: ${address}\nDate: %s\nSubject: Hello\n\nA first mail\n' "$(date -R)" |`,
    `    curl --crlf smtp://${smtpAddress} --mail-from you@example.com --mail-rcpt ${address} --upload-file -`,
    '',
    `  curl -H 'Authorization: Bearer ${apiKey}' ${publicUrl}/api/e2/emails`,
    '',
    '',
  ].join('\n');
}

/** How to create an account when the start did not. The commands find the service through the same environment variables. */
function accountLines({ publicUrl, hasAccounts, isSignUpOpen }: WelcomeOptions): string[] {
  if (hasAccounts) return ['  Accounts  npx node bin/account.ts create EMAIL'];
  return [
    isSignUpOpen
      ? `  Accounts  none yet. Sign up at ${publicUrl}/sign-up, or:`
      : '  Accounts  none yet. Sign-up is closed.',
    '',
    'To create the first account and sign in, run these commands with the same environment:',
    '',
    '  npx node bin/account.ts create you@example.com',
    '  npx node bin/account.ts sign-in-link you@example.com',
  ];
}
