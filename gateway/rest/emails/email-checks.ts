import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { MAIL_ISSUES, type MailIssue } from '../../../core/html/check-mail.ts';
import { readEmailChecks } from '../../../operations/emails/email-checks.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';

const issueBody = z
  .object({
    kind: z.enum(MAIL_ISSUES).meta({ description: 'Kind of issue.' }),
    severity: z.enum(['error', 'warning']).meta({
      description: 'An error breaks the message for its readers. A warning concerns some of them.',
    }),
    title: z.string().meta({ description: 'Summary.' }),
    detail: z.string().meta({ description: 'What is wrong and what to do, in one or two sentences.' }),
    count: z.number().int().meta({ description: 'How often it occurs.' }),
    examples: z.array(z.string()).meta({ description: 'Up to 5 places, as written in the message.' }),
    unsupported_by: z.array(z.string()).meta({ description: 'Mail clients that do not support the feature.' }),
    partly_supported_by: z.array(z.string()).meta({ description: 'Mail clients that support the feature in part.' }),
    url: z.string().nullable().meta({ description: 'Page about the feature. Null for other kinds of issues.' }),
  })
  .meta({ id: 'EmailIssue' });

const checksBody = z
  .object({
    object: z.literal('email_checks'),
    email_id: z.string(),
    html_size_bytes: z.number().int().nullable().meta({
      description: 'Size of the HTML body in bytes. Null if the email has no HTML.',
    }),
    issues: z.array(issueBody).meta({ description: 'Errors first, then the features that most mail clients lack.' }),
    is_partial: z.boolean().meta({ description: 'Whether parts of the HTML are too long or too complex to check.' }),
    data_version: z.string().meta({
      description: 'Date of the data on mail clients from caniemail.com, as `YYYY-MM-DD`.',
    }),
  })
  .meta({ id: 'EmailChecks' });

export const emailCheckRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/checks',
    {
      config: { access: access.read, isDownload: true },
      schema: {
        operationId: 'checkEmail',
        summary: 'Check the HTML of an email',
        description:
          'Returns what recipients of a sent or received email may not see as its author meant it: links that cannot be parsed, images without alternative text, HTML that Gmail cuts, and features of HTML and CSS that common mail clients lack. Nothing is requested from other servers.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: checksBody, default: errorBody },
      },
    },
    async (request) => {
      const { id } = request.params;
      const { htmlSizeBytes, issues, isPartial, dataVersion } = await readEmailChecks(contextOf(request), id);
      return {
        object: 'email_checks' as const,
        email_id: id,
        html_size_bytes: htmlSizeBytes,
        issues: issues.map(issueBodyOf),
        is_partial: isPartial,
        data_version: dataVersion,
      };
    },
  );
};

function issueBodyOf({ unsupportedBy, partlySupportedBy, ...issue }: MailIssue): z.infer<typeof issueBody> {
  return { ...issue, unsupported_by: unsupportedBy, partly_supported_by: partlySupportedBy };
}
