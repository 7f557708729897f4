import type { ShownKey } from './use-keys.ts';

/** Scope of a key. */
export type KeyScope = NonNullable<ShownKey['scopes']>[number];

/** The scopes with their descriptions. */
export const keyScopes: readonly { scope: KeyScope; label: string; about: string }[] = [
  {
    scope: 'READ',
    label: 'Read',
    about: 'Read all data: emails with attachments, threads, domains, deliveries and live events.',
  },
  {
    scope: 'SEND',
    label: 'Send',
    about: 'Send new emails, replies and forwards; reschedule or cancel scheduled emails; retry failed ones.',
  },
  {
    scope: 'MANAGE',
    label: 'Manage',
    about: 'Change everything else: domains, addresses, endpoints, guard rules, labels and API keys.',
  },
  {
    scope: 'APPROVE',
    label: 'Approve',
    about: 'Approve or reject emails that wait for approval, apart from those that the key itself sent.',
  },
];

/** Returns the rights of a key, such as "Read and send". */
export function scopesInWords(scopes: readonly KeyScope[] | null): string {
  if (scopes === null) return 'Full access';
  const labels = keyScopes.filter(({ scope }) => scopes.includes(scope)).map(({ label }) => label.toLowerCase());
  const text = new Intl.ListFormat('en').format(labels);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
