import { z } from 'zod';
import { MAIL_ISSUES } from '../../core/html/check-mail.ts';
import { named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS, READ_AS_FIELD } from '../capability/capability.ts';
import { readEmailChecks } from './email-checks.ts';

const issue = z
  .object({
    kind: oneOf(MAIL_ISSUES, {
      name: 'EmailIssueKind',
      description: 'What is wrong in the HTML of an email.',
      values: {
        broken_link: 'A link that leads nowhere, or that cannot be parsed.',
        image_without_alt: 'An image without alternative text.',
        too_large: 'Gmail cuts HTML of more than 102 KB.',
        unsupported_feature: 'A feature of HTML or CSS that common mail clients lack.',
      },
    }).meta({ description: 'Kind of issue.' }),
    severity: oneOf(['error', 'warning'], {
      name: 'EmailIssueSeverity',
      description: 'Severity of an issue.',
      values: { error: 'It breaks the message for its readers.', warning: 'It concerns some readers.' },
    }).meta({ description: 'An error breaks the message for its readers. A warning concerns some of them.' }),
    title: z.string().meta({ description: 'Summary.' }),
    detail: z.string().meta({ description: 'What is wrong and what to do, in one or two sentences.' }),
    count: z.number().int().meta({ description: 'How often it occurs.' }),
    examples: z.array(z.string()).meta({ description: 'Up to 5 places, as written in the message.' }),
    unsupportedBy: z.array(z.string()).meta({ description: 'Mail clients that do not support the feature.' }),
    partlySupportedBy: z.array(z.string()).meta({ description: 'Mail clients that support the feature in part.' }),
    url: named(z.string().nullable(), { graphqlType: 'URL' }).meta({
      description: 'Page about the feature. Null for other kinds of issues.',
    }),
  })
  .meta({ id: 'EmailIssue', description: 'What recipients of an email may not see as its author meant it.' });

export const emailChecks = z
  .object({
    object: restLiteral('email_checks'),
    emailId: restOnly(z.string()),
    htmlSizeBytes: z.number().int().nullable().meta({
      description: 'Size of the HTML body in bytes. Null if the email has no HTML.',
    }),
    issues: z.array(issue).meta({ description: 'Errors first, then the features that most mail clients lack.' }),
    isPartial: z.boolean().meta({ description: 'Whether parts of the HTML are too long or too complex to check.' }),
    dataVersion: z.string().meta({
      description: 'Date of the data on mail clients from caniemail.com, as `YYYY-MM-DD`.',
    }),
  })
  .meta({ id: 'EmailChecks', description: 'Checks of the HTML of an email.' });

export const emailChecksCapability: Capability = {
  feature: 'Emails',
  what: 'Checks of an email',
  difference: READ_AS_FIELD,
  ...OF_EMAILS,
  operations: [
    // GraphQL reads it with other parts of the content (schema/graphql/emails/email-findings.ts).
    defineAction({
      access: 'read',
      operationId: 'checkEmail',
      summary: 'Check the HTML of an email',
      description:
        'Returns what recipients of a sent or received email may not see as its author meant it: links that cannot be parsed, images without alternative text, HTML that Gmail cuts, and features of HTML and CSS that common mail clients lack. Nothing is requested from other servers.',
      method: 'GET',
      path: '/:id/checks',
      isDownload: true,
      target: { argument: 'id', argumentDescription: 'ID of the email.' },
      input: z.object({}),
      output: emailChecks,
      errors: [],
      run: async (context, _input, emailId) => ({ emailId, ...(await readEmailChecks(context, emailId)) }),
    }),
  ],
};
