import { createContextCache } from '@pothos/core';
import DataLoader from 'dataloader';
import type { EmailSummary } from '../../../operations/emails/emails.ts';
import { readSecurityWarnings, type SecurityWarning } from '../../../operations/emails/security-warnings.ts';
import { authenticationOf } from '../../../operations/emails/stored-authentication.ts';
import { builder, enumValues } from '../builder.ts';
import type { GraphContext } from '../context.ts';
import { EmailNode } from '../nodes.ts';
import { loadEmailParts } from './email-content.ts';

/** The HTML of hostile mail takes tens of milliseconds, and known people are compared with each sender. */
const COST = 50;

const SecurityWarningKind = builder.enumType('SecurityWarningKind', {
  description: 'How an email may deceive its reader.',
  values: enumValues<SecurityWarning['kind']>({
    link_text: 'The text of a link names another host than its target.',
    lookalike_host: 'The host of a link imitates another name with letters of other alphabets.',
    address_in_name: 'The display name of the sender contains another address.',
    imitated_name: 'The display name of the sender is that of a person known by another address.',
    lookalike_domain: 'The domain of the sender looks like that of a known person, or like one of the user.',
  }),
});

const SecurityWarningRef = builder.objectRef<SecurityWarning>('SecurityWarning').implement({
  description: 'What in a received email may deceive its reader.',
  isOfDomain: true,
  fields: (t) => ({
    kind: t.expose('kind', { type: SecurityWarningKind, description: 'How the email may deceive.' }),
    text: t.exposeString('text', { description: 'One or two sentences.' }),
    shown: t.exposeString('shown', { description: 'What the reader sees: a host, an address, a name or a domain.' }),
    actual: t.exposeString('actual', {
      description:
        'What it stands for: the host of the link in ASCII, or the address of the sender or its domain in ASCII.',
    }),
  }),
});

const warningsOf = createContextCache(
  (context: GraphContext) =>
    new DataLoader<EmailSummary, SecurityWarning[], string>(
      async (emails) => {
        const parts = await Promise.all(emails.map(({ id }) => loadEmailParts(context, id, 'html')));
        const mails = emails.map((email, at) => ({
          email,
          html: parts[at]?.html ?? null,
          authentication: authenticationOf(parts[at]?.authentication ?? null),
        }));
        return readSecurityWarnings(context.reads, mails);
      },
      { cacheKeyFn: ({ id }) => id },
    ),
);

builder.objectFields(EmailNode, (t) => ({
  securityWarnings: t.field({
    type: [SecurityWarningRef],
    description: 'Deceptive links, display names and domains in a received email, up to 22. Empty for sent mail.',
    complexity: { field: COST },
    resolve: (email, _args, context) => warningsOf(context).load(email),
  }),
}));
