import type { ShownKey } from './use-keys.ts';

/** What a key may be good for. */
export type KeyScope = NonNullable<ShownKey['scopes']>[number];

/** The scopes, with what each is for. */
export const keyScopes: readonly { scope: KeyScope; label: string; about: string }[] = [
  {
    scope: 'READ',
    label: 'Read',
    about: 'See everything: mail with its attachments, threads, domains, deliveries, and events as they happen.',
  },
  {
    scope: 'SEND',
    label: 'Send',
    about: 'Send new emails, replies and forwards; change or cancel those that wait; try again those that failed.',
  },
  {
    scope: 'MANAGE',
    label: 'Manage',
    about: 'Change everything else: domains, addresses, endpoints, guard rules, labels, and API keys too.',
  },
];

/** What a key may do, as "Read and send". */
export function scopesInWords(scopes: readonly KeyScope[] | null): string {
  if (scopes === null) return 'Full rights';
  const labels = keyScopes.filter(({ scope }) => scopes.includes(scope)).map(({ label }) => label.toLowerCase());
  const text = new Intl.ListFormat('en').format(labels);
  return text.charAt(0).toUpperCase() + text.slice(1);
}
