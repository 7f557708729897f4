import type { MailChecks, MailIssue } from '../../../core/html/check-mail.ts';
import { wholeText } from '../../../core/shared/large-text.ts';
import { checkEmailHtml } from '../../../operations/emails/email-checks.ts';
import { builder, enumValues } from '../builder.ts';
import { EmailNode } from '../nodes.ts';
import { loadEmailParts } from './email-content.ts';

/** The HTML of hostile mail takes hundreds of milliseconds. */
const COST = 200;

const EmailIssueKind = builder.enumType('EmailIssueKind', {
  description: 'What is wrong in the HTML of an email.',
  values: enumValues<MailIssue['kind']>({
    broken_link: 'A link that leads nowhere, or that cannot be parsed.',
    image_without_alt: 'An image without alternative text.',
    too_large: 'Gmail cuts HTML of more than 102 KB.',
    unsupported_feature: 'A feature of HTML or CSS that common mail clients lack.',
  }),
});

const EmailIssueSeverity = builder.enumType('EmailIssueSeverity', {
  description: 'Severity of an issue.',
  values: enumValues<MailIssue['severity']>({
    error: 'It breaks the message for its readers.',
    warning: 'It concerns some readers.',
  }),
});

const EmailIssue = builder.objectRef<MailIssue>('EmailIssue').implement({
  description: 'What recipients of an email may not see as its author meant it.',
  isOfDomain: true,
  fields: (t) => ({
    kind: t.expose('kind', { type: EmailIssueKind, description: 'Kind of issue.' }),
    severity: t.expose('severity', { type: EmailIssueSeverity, description: 'Severity of the issue.' }),
    title: t.exposeString('title', { description: 'Summary.' }),
    detail: t.exposeString('detail', { description: 'What is wrong and what to do, in one or two sentences.' }),
    count: t.exposeInt('count', { description: 'How often it occurs.' }),
    examples: t.exposeStringList('examples', { description: 'Up to 5 places, as written in the message.' }),
    unsupportedBy: t.exposeStringList('unsupportedBy', {
      description: 'Mail clients that do not support the feature.',
    }),
    partlySupportedBy: t.exposeStringList('partlySupportedBy', {
      description: 'Mail clients that support the feature in part.',
    }),
    url: t.field({
      type: 'URL',
      nullable: true,
      description: 'Page about the feature. Null for other kinds of issues.',
      resolve: ({ url }) => url,
    }),
  }),
});

const EmailChecks = builder.objectRef<MailChecks>('EmailChecks').implement({
  description: 'Checks of the HTML of an email.',
  isOfDomain: true,
  fields: (t) => ({
    htmlSizeBytes: t.exposeInt('htmlSizeBytes', {
      nullable: true,
      description: 'Size of the HTML body in bytes. Null if the email has no HTML.',
    }),
    issues: t.expose('issues', {
      type: [EmailIssue],
      description: 'Errors first, then the features that most mail clients lack.',
    }),
    isPartial: t.exposeBoolean('isPartial', {
      description: 'Whether parts of the HTML are too long or too complex to check.',
    }),
    dataVersion: t.exposeString('dataVersion', {
      description: 'Date of the data on mail clients from caniemail.com, as `YYYY-MM-DD`.',
    }),
  }),
});

builder.objectFields(EmailNode, (t) => ({
  checks: t.field({
    type: EmailChecks,
    description:
      'What recipients may not see as the author meant it: broken links, images without alternative text, HTML that Gmail cuts, and features that common mail clients lack.',
    complexity: { field: COST },
    resolve: async ({ id }, _args, context) => {
      const { html } = await loadEmailParts(context, id, 'html');
      return checkEmailHtml(context.reads, id, { html: wholeText(html) });
    },
  }),
}));
