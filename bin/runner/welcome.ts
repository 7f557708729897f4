import { signInLinkUrl } from '../../core/accounts/auth-secret.ts';
import type { FirstAccount } from './first-account.ts';

export interface WelcomeOptions {
  smtpAddress: string;
  publicUrl: string;
  /** where the data are: DATA_DIR or the external database, without its password */
  data: string;
  /** null when there is none to show */
  firstAccount: FirstAccount | null;
  /** whether there is any account */
  hasAccounts: boolean;
  isSignUpOpen: boolean;
}

/** The lines that a person reads at start; JSON lines of the log follow. */
export function welcome(options: WelcomeOptions): string {
  const { smtpAddress, publicUrl, data, firstAccount } = options;
  const lines = [
    'Postroom is running. Press Ctrl-C to stop it.',
    '',
    `  SMTP      ${smtpAddress}`,
    `  HTTP      ${publicUrl}   (dashboard /, REST /api/e2, GraphQL /graphql)`,
    `  Data      ${data}`,
  ];
  if (firstAccount === null) return [...lines, ...accountLines(options), '', ''].join('\n');
  const { email, apiKey, signInToken, address } = firstAccount;
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
    `  swaks --server ${smtpAddress} --from you@example.com --to ${address} --header 'Subject: Hello' --body 'A first mail'`,
    `  curl -H 'Authorization: Bearer ${apiKey}' ${publicUrl}/api/e2/emails`,
    '',
    '',
  ].join('\n');
}

/** How to get an account where the start does not create one. The commands find the service by the same environment. */
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
