import { type Extracts, extractFrom } from '../../../core/mime/extracts.ts';
import { waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { access } from '../access.ts';
import { builder } from '../builder.ts';
import { EmailNode } from '../nodes.ts';
import { loadEmailParts } from './email-parts.ts';

/** Looking through hostile mail takes tens of milliseconds. */
const COST = 50;
const DEFAULT_TIMEOUT_SECONDS = 30;
/** What reading before and after a wait may take; milliseconds. */
const BESIDE_MS = 10_000;

const ExtractSource = builder.enumType('ExtractSource', {
  description: 'Part of an email.',
  values: {
    SUBJECT: { value: 'subject', description: 'The subject.' },
    TEXT: { value: 'text', description: 'The plain-text body.' },
    HTML: { value: 'html', description: 'The HTML body.' },
    HEADER: { value: 'header', description: 'The headers.' },
  } as const,
});

const ExtractedCode = builder.objectRef<Extracts['codes'][number]>('ExtractedCode').implement({
  description: 'A likely verification code.',
  isOfDomain: true,
  fields: (t) => ({
    code: t.exposeString('code', { description: 'The code, without spaces between its digits.' }),
    foundIn: t.expose('foundIn', { type: [ExtractSource], description: 'Where the code was found.' }),
    likelihood: t.exposeFloat('likelihood', { description: 'Confidence, from 0 to 1.' }),
  }),
});

const ExtractedLink = builder.objectRef<Extracts['links'][number]>('ExtractedLink').implement({
  description: 'A link in an email.',
  isOfDomain: true,
  fields: (t) => ({
    url: t.field({ type: 'URL', description: 'http, https or mailto URL.', resolve: ({ url }) => url }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'Link text. Null if the text is the URL itself.',
    }),
    foundIn: t.expose('foundIn', { type: [ExtractSource], description: 'Where the link was found.' }),
    isUnsubscribe: t.exposeBoolean('isUnsubscribe', {
      description: 'Whether the link unsubscribes from a mailing list.',
    }),
  }),
});

const ExtractsRef = builder.objectRef<Extracts>('Extracts').implement({
  description: 'Codes and links found in an email.',
  isOfDomain: true,
  fields: (t) => ({
    codes: t.expose('codes', { type: [ExtractedCode], description: 'Codes, most likely first, up to 10.' }),
    links: t.expose('links', {
      type: [ExtractedLink],
      description: 'Links, most relevant first and unsubscribe links last, up to 100.',
    }),
  }),
});

builder.objectFields(EmailNode, (t) => ({
  extracts: t.field({
    type: ExtractsRef,
    description: 'Verification codes and links found in the email.',
    complexity: { field: COST },
    resolve: async ({ id, subject }, _args, context) => {
      const [{ text, headers }, { html }] = await Promise.all([
        loadEmailParts(context, id, 'text'),
        loadEmailParts(context, id, 'html'),
      ]);
      return extractFrom({ subject, text, html, headers });
    },
  }),
}));

builder.queryFields((t) => ({
  waitForEmail: t.field({
    type: EmailNode,
    access: access.read,
    nullable: true,
    description:
      'Waits for a received email that matches all arguments and returns the first one once it has a thread. Returns null if none arrives in time.',
    args: {
      address: t.arg.string({
        description:
          'ID of an address of yours, or the address itself. An address with a plus tag matches mail to that tag only.',
      }),
      domain: t.arg.string({ description: 'ID or name of a domain of yours.' }),
      from: t.arg.string({ description: 'Email address or domain of the sender.' }),
      subject: t.arg.string({ description: 'Part of the subject, case-insensitive.' }),
      since: t.arg({
        type: 'DateTime',
        description: 'Also matches mail accepted since this time, up to 24 hours ago. Null matches mail from now on.',
      }),
      timeout: t.arg.int({ defaultValue: DEFAULT_TIMEOUT_SECONDS, description: 'Seconds to wait, 0 to 60.' }),
    },
    resolve: (_root, { timeout, ...given }, { operations, answerWithin }) => {
      const timeoutMs = (timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1_000;
      const filter = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
      if (timeoutMs >= 0 && timeoutMs <= 60_000) answerWithin(timeoutMs + BESIDE_MS);
      return waitForEmail(operations, filter, timeoutMs);
    },
  }),
}));
