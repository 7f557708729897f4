import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { REVIEW_NOTES, type SentReview } from '../../../core/sending/sent-review.ts';
import { UNSEEN_KINDS } from '../../../core/sending/unseen-text.ts';
import { UserError } from '../../../core/shared/errors.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { readSentReview } from '../../../operations/sending/review-email.ts';
import { access } from '../../admission/access.ts';
import { errorBody, idInPath, type RestOptions } from '../shapes.ts';

const pieceBody = z
  .object({
    text: z.string(),
    unseen: z
      .object({
        kind: z.enum(UNSEEN_KINDS).meta({ description: 'Why readers do not see it, or not at once.' }),
        detail: z.string().meta({ description: 'What makes it so, such as `display: none`.' }),
      })
      .nullable()
      .meta({ id: 'UnseenText', description: 'Null if readers see it.' }),
    target: z.string().nullable().meta({ description: 'The address that it leads to. Null if it is no link.' }),
  })
  .meta({ id: 'EmailReviewPiece' });

export const reviewPartBody = z
  .object({
    path: z.string().nullable().meta({ description: 'As in IMAP: `1`, `2.1`. Null for text outside the parts.' }),
    content_type: z.string(),
    disposition: z.string().nullable(),
    filename: z.string().nullable(),
    size_bytes: z.number().int(),
    source: z.string().nullable().meta({ description: 'Its decoded text, HTML as source. Null if it is no text.' }),
    pieces: z
      .array(pieceBody)
      .meta({ description: 'All its text in order, that of HTML without tags, also what is hidden.' }),
    is_truncated: z.boolean().meta({ description: 'Whether its texts are cut.' }),
  })
  .meta({ id: 'EmailReviewPart' });

export const reviewBody = z
  .object({
    object: z.literal('email_review'),
    email_id: z.string(),
    fields: z
      .array(z.object({ name: z.string(), value: z.string() }).meta({ id: 'EmailReviewField' }))
      .meta({ description: 'All fields of the header section, in order, unfolded and decoded.' }),
    parts: z.array(reviewPartBody),
    notes: z
      .array(
        z
          .object({
            kind: z.enum(REVIEW_NOTES).meta({ description: 'What to look at.' }),
            where: z.string().meta({ description: 'A field or part.' }),
            detail: z.string(),
          })
          .meta({ id: 'EmailReviewNote' }),
      )
      .meta({ description: 'What a person should look at before the email leaves.' }),
    is_truncated: z.boolean().meta({
      description: 'Whether something is cut or left out. Download the message to see all of it.',
    }),
  })
  .meta({ id: 'EmailReview' });

export const sentReviewRoutes: FastifyPluginAsyncZod<RestOptions> = async (app, { contextOf }) => {
  app.get(
    '/emails/:id/review',
    {
      config: { access: access.read, isDownload: true },
      schema: {
        operationId: 'reviewEmail',
        summary: 'Review an outgoing email',
        description:
          'Returns an email as it is sent, for the person or program that approves it: every header field and every part of the stored message, with what readers do not see (hidden text, comments, attributes, invisible characters), and notes on Reply-To, Bcc, own fields, names of files, and text that differs from the HTML. 404 for received mail.',
        tags: ['Emails'],
        params: idInPath,
        response: { 200: reviewBody, default: errorBody },
      },
    },
    async (request) => {
      return openReview(contextOf(request), request.params.id);
    },
  );
};

/** Returns the review of an outgoing email. Throws not_found, also for received mail, and unavailable. */
export async function openReview(context: OperationContext, id: string): Promise<z.infer<typeof reviewBody>> {
  const review = await readSentReview(context, id);
  if (review === null) throw new UserError('not_found', 'This email was received. Only outgoing mail can be reviewed.');
  return bodyOf(id, review);
}

function bodyOf(id: string, { fields, parts, notes, isTruncated }: SentReview): z.infer<typeof reviewBody> {
  return {
    object: 'email_review',
    email_id: id,
    fields: [...fields],
    parts: parts.map(({ contentType, sizeBytes, pieces, isTruncated: isCut, ...part }) => ({
      ...part,
      content_type: contentType,
      size_bytes: sizeBytes,
      pieces: [...pieces],
      is_truncated: isCut,
    })),
    notes: [...notes],
    is_truncated: isTruncated,
  };
}
