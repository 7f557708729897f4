import { type Extracts, extractFrom } from '../../../core/mime/extracts.ts';
import { builder, enumValues } from '../builder.ts';
import { EmailNode } from '../nodes.ts';
import { loadEmailParts } from './email-content.ts';

/** Extracting from hostile mail takes tens of milliseconds. */
const COST = 50;

const ExtractSource = builder.enumType('ExtractSource', {
  description: 'Part of an email.',
  values: enumValues<Extracts['codes' | 'links'][number]['foundIn'][number]>({
    subject: 'The subject.',
    text: 'The plain-text body.',
    html: 'The HTML body.',
    header: 'The headers.',
  }),
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
