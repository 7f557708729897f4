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
  description: 'Where in an email something was found.',
  values: {
    SUBJECT: { value: 'subject', description: 'In the subject.' },
    TEXT: { value: 'text', description: 'In the plain-text body.' },
    HTML: { value: 'html', description: 'In the HTML body.' },
    HEADER: { value: 'header', description: 'In the header section.' },
  } as const,
});

const ExtractedCode = builder.objectRef<Extracts['codes'][number]>('ExtractedCode').implement({
  description: 'What looks like a code to be typed in once.',
  isOfDomain: true,
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As it stands there; digits that stand apart are joined.' }),
    foundIn: t.expose('foundIn', { type: [ExtractSource], description: 'Where it stands.' }),
    likelihood: t.exposeFloat('likelihood', { description: '0 to 1: how much speaks for it.' }),
  }),
});

const ExtractedLink = builder.objectRef<Extracts['links'][number]>('ExtractedLink').implement({
  description: 'A link in an email.',
  isOfDomain: true,
  fields: (t) => ({
    url: t.field({ type: 'URL', description: 'Of http, https or mailto.', resolve: ({ url }) => url }),
    text: t.exposeString('text', {
      nullable: true,
      description: 'What is clicked; null: the URL itself stands in the text.',
    }),
    foundIn: t.expose('foundIn', { type: [ExtractSource], description: 'Where it stands.' }),
    isUnsubscribe: t.exposeBoolean('isUnsubscribe', { description: 'Whether it ends a subscription.' }),
  }),
});

const ExtractsRef = builder.objectRef<Extracts>('Extracts').implement({
  description: 'What programs look for in mail.',
  isOfDomain: true,
  fields: (t) => ({
    codes: t.expose('codes', { type: [ExtractedCode], description: 'The likeliest first, ten at most.' }),
    links: t.expose('links', {
      type: [ExtractedLink],
      description: 'What the mail is likely about first, what unsubscribes last; a hundred at most.',
    }),
  }),
});

builder.objectFields(EmailNode, (t) => ({
  extracts: t.field({
    type: ExtractsRef,
    description: 'The codes and links in it.',
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
      'The first received email that fits all that is given, as soon as it is there with its thread; null: none came in time.',
    args: {
      address: t.arg.string({
        description: 'An address of yours: its id, or the address itself; with a plus-tag mail to that tag alone.',
      }),
      domain: t.arg.string({ description: 'A domain of yours: its id or name.' }),
      from: t.arg.string({ description: 'The sender’s address, or its domain.' }),
      subject: t.arg.string({ description: 'Part of the subject, in any case.' }),
      since: t.arg({
        type: 'DateTime',
        description: 'Mail accepted then or later counts, of the last 24 hours at most; null: what comes from now on.',
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
