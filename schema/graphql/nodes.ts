import { type Domain, loadDomains } from '../../operations/domains.ts';
import { type EmailAddress, loadEmailAddresses } from '../../operations/email-addresses.ts';
import { type EmailContent, type EmailSummary, loadContents, loadEmails } from '../../operations/emails.ts';
import { type Endpoint, loadEndpoints } from '../../operations/endpoints.ts';
import { loadThreads, type Thread } from '../../operations/threads.ts';
import { builder } from './builder.ts';

/**
 * The types that `node(id:)` reaches, apart from their fields, so that each can refer to the others. Every load goes by the operations
 * of the user who asks: an id of another user's is null, like one that nobody has.
 */
export const EmailNode = builder.loadableNodeRef<EmailSummary, string, string>('Email', {
  id: { resolve: (email) => email.id },
  load: (ids: string[], { operations }) => loadEmails(operations, ids).then(orNull),
});

export const ThreadNode = builder.loadableNodeRef<Thread, string, string>('Thread', {
  id: { resolve: (thread) => thread.id },
  load: (ids: string[], { operations }) => loadThreads(operations, ids).then(orNull),
});

export const DomainNode = builder.loadableNodeRef<Domain, string, string>('Domain', {
  id: { resolve: (domain) => domain.id },
  load: (ids: string[], { operations }) => loadDomains(operations, ids).then(orNull),
});

export const EmailAddressNode = builder.loadableNodeRef<EmailAddress, string, string>('EmailAddress', {
  id: { resolve: (address) => address.id },
  load: (ids: string[], { operations }) => loadEmailAddresses(operations, ids).then(orNull),
});

export const EndpointNode = builder.loadableNodeRef<Endpoint, string, string>('Endpoint', {
  id: { resolve: (endpoint) => endpoint.id },
  load: (ids: string[], { operations }) => loadEndpoints(operations, ids).then(orNull),
});

/** What only an opened email shows, by the email's id; empty while it has none. */
export const EmailContentRef = builder.loadableObjectRef<EmailContent & { emailId: string }, string>('EmailContent', {
  load: async (ids: string[], { operations }) => {
    const contents = await loadContents(operations, ids);
    return contents.map((content, at) => ({ ...(content ?? EMPTY_CONTENT), emailId: ids[at] ?? '' }));
  },
});

const EMPTY_CONTENT: EmailContent = {
  headers: [],
  addresses: { from: null, to: null, cc: null, bcc: null, replyTo: null },
  inReplyTo: [],
  references: [],
  text: null,
  html: null,
  attachments: [],
  authentication: null,
  tags: [],
};

/** A loader may answer null for an id, which its types leave out; the fields that load are nullable. */
function orNull<T>(loaded: readonly (T | null)[]): readonly T[] {
  return loaded as readonly T[];
}
