import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { builder } from '../builder.ts';
import type { GraphContext } from '../context.ts';
import { loadEmailParts } from './email-parts.ts';

interface NamedAddress {
  /** as a function when finding it out costs a look into the email's content */
  name: string | null | ((context: GraphContext) => Promise<string | null>);
  address: string;
}

export const Mailbox = builder.objectRef<NamedAddress>('Mailbox').implement({
  description: 'An email address with an optional display name (RFC 5322 §3.4).',
  isOfDomain: true,
  fields: (t) => ({
    name: t.string({
      nullable: true,
      description: 'Display name, decoded. Null if there is none.',
      resolve: ({ name }, _args, context) => (typeof name === 'function' ? name(context) : name),
    }),
    address: t.exposeString('address', {
      description:
        '`ada@example.org`. In received mail this is what the sender wrote, which may not be a valid address.',
    }),
  }),
});

/** The mailboxes of To or Cc: their addresses are known, their names are looked for when they are asked for. */
export function mailboxesOf(email: EmailSummary, field: 'to' | 'cc'): NamedAddress[] {
  return email[field].map((address, at) => ({
    address,
    async name(context) {
      const { addresses } = await loadEmailParts(context, email.id, null);
      const mailbox = addresses[field]?.addresses[at];
      return mailbox?.address === address ? mailbox.name : null;
    },
  }));
}

/** The mailboxes of a field that lists of emails do not know. */
export async function readMailboxes(
  context: GraphContext,
  email: EmailSummary,
  field: 'bcc' | 'replyTo',
): Promise<NamedAddress[]> {
  const { addresses } = await loadEmailParts(context, email.id, null);
  return addresses[field]?.addresses ?? [];
}
