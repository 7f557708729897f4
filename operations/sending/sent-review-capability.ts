import { z } from 'zod';
import { REVIEW_NOTES, type SentReview } from '../../core/sending/sent-review.ts';
import { UNSEEN_KINDS } from '../../core/sending/unseen-text.ts';
import { UserError } from '../../core/shared/errors.ts';
import { nameType, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction, OF_EMAILS, READ_AS_FIELD } from '../capability/capability.ts';
import type { OperationContext } from '../context.ts';
import { loadSentReviews, readSentReview } from './review-email.ts';

const unseenText = nameType(
  z.object({
    kind: oneOf(UNSEEN_KINDS, {
      name: 'UnseenKind',
      description: 'Why readers do not see a piece of an email, or not at once.',
      values: {
        hidden: 'It is not displayed.',
        tiny: 'Its letters are too small to be read.',
        same_color: 'It has the color of its background.',
        off_screen: 'It is placed outside what is shown.',
        some_readers: 'Only some mail programs, or some screens, show it.',
        collapsed: 'Mail programs fold it: quotations, signatures, closed details.',
        comment: 'A comment.',
        attribute: 'An attribute, such as the alternative text of an image.',
        code: 'In the head, a style sheet or a script.',
        invisible_characters: 'Characters without a form, such as zero-width spaces.',
        gap: 'A long gap, behind which readers expect nothing.',
      },
    }).meta({ description: 'Why readers do not see it, or not at once.' }),
    detail: z.string().meta({ description: 'What makes it so, such as `display: none`.' }),
  }),
  { type: 'UnseenText', description: 'Why readers do not see a piece of an email.' },
);

const piece = z
  .object({
    text: z.string().meta({ description: 'The text.' }),
    unseen: unseenText
      .nullable()
      .meta({ id: 'UnseenText', description: 'Why readers do not see it. Null if they do.' }),
    target: z.string().nullable().meta({ description: 'The address that it leads to. Null if it is no link.' }),
  })
  .meta({ id: 'EmailReviewPiece', description: 'A piece of the text of a part.' });

export const reviewedPart = z
  .object({
    path: z.string().nullable().meta({ description: 'As in IMAP: `1`, `2.1`. Null for text outside the parts.' }),
    contentType: z.string().meta({ description: 'Its MIME type.' }),
    disposition: z.string().nullable().meta({ description: 'Its disposition. Null if it has none.' }),
    filename: z.string().nullable().meta({ description: 'Its file name. Null if it has none.' }),
    sizeBytes: z.number().int().meta({ description: 'Decoded size in bytes.' }),
    source: z.string().nullable().meta({ description: 'Its decoded text, HTML as source. Null if it is no text.' }),
    pieces: z
      .array(piece)
      .meta({ description: 'All its text in order, without the tags of HTML, also what is hidden.' }),
    isTruncated: z.boolean().meta({ description: 'Whether its texts are cut.' }),
  })
  .meta({ id: 'EmailReviewPart', description: 'A part of an email as it is sent.' });

export const reviewedEmail = z
  .object({
    object: restLiteral('email_review'),
    emailId: restOnly(z.string()),
    fields: z
      .array(
        z
          .object({
            name: z.string().meta({ description: 'Its name, as written.' }),
            value: z.string().meta({ description: 'Its value, unfolded and decoded.' }),
          })
          .meta({ id: 'EmailReviewField', description: 'A field of the header section of an email.' }),
      )
      .meta({ description: 'All fields of the header section, in order.' }),
    parts: z.array(reviewedPart).meta({ description: 'All parts.' }),
    notes: z
      .array(
        z
          .object({
            kind: oneOf(REVIEW_NOTES, {
              name: 'EmailReviewNoteKind',
              description: 'What a person should look at before an email leaves.',
              values: {
                reply_address: 'Replies go to another address.',
                other_address: 'A field names or shows another address.',
                hidden_recipients: 'Recipients in Bcc.',
                own_field: 'A header field that the sender added.',
                unsubscribe: 'A field of a mailing list, which mail programs can make a button of.',
                text_differs: 'The text and the HTML do not have the same words.',
                file_type: 'Name, type and content of a file do not fit.',
                file_in_text: 'A file within the text.',
                remote_content: 'It uses pictures, styles or forms outside of it, which can change after its approval.',
                stray_text: 'Text outside the parts.',
                ambiguous: 'Mail programs may read it differently.',
                not_shown: 'Something that cannot be shown.',
              },
            }).meta({ description: 'What to look at.' }),
            where: z.string().meta({ description: 'A field or part.' }),
            detail: z.string().meta({ description: 'What was found.' }),
          })
          .meta({ id: 'EmailReviewNote', description: 'Something to look at before an email leaves.' }),
      )
      .meta({ description: 'What a person should look at before the email leaves.' }),
    isTruncated: z.boolean().meta({
      description: 'Whether something is cut or left out. Download the message to see all of it.',
    }),
  })
  .meta({
    id: 'EmailReview',
    description:
      'An outgoing email as it is sent: every field and part of the stored message, with what readers do not see.',
  });

/** Reading a large message takes hundreds of milliseconds. */
const COST = 200;

/** Returns the review of an outgoing email. Throws not_found, also for received mail, and unavailable. */
export async function openReview(context: OperationContext, id: string): Promise<SentReview> {
  const review = await readSentReview(context, id);
  if (review === null) throw new UserError('not_found', 'This email was received. Only outgoing mail can be reviewed.');
  return review;
}

export const sentReviewCapability: Capability = {
  feature: 'Sending',
  what: 'Review what an email sends',
  byHand: { mcp: ['review_email'] },
  difference: READ_AS_FIELD,
  ...OF_EMAILS,
  operations: [
    defineAction({
      access: 'read',
      operationId: 'reviewEmail',
      summary: 'Review an outgoing email',
      description:
        'Returns an email as it is sent, for the person or program that approves it: every header field and every part of the stored message, with what readers do not see (hidden text, comments, attributes, invisible characters), and notes on Reply-To, Bcc, own fields, names of files, and text that differs from the HTML. 404 for received mail.',
      method: 'GET',
      path: '/:id/review',
      isDownload: true,
      target: { argument: 'id', argumentDescription: 'ID of the email.' },
      input: z.object({}),
      output: reviewedEmail,
      errors: [],
      isOfDomain: true,
      of: {
        type: 'Email',
        field: 'review',
        description: 'The email as it is sent, for the person who approves it. Null for received mail.',
        isNullable: true,
        isAbsent: ({ type }: { type: string }) => type === 'received',
        cost: COST,
        load: loadSentReviews,
      },
      run: async (context, _input, emailId) => ({ emailId, ...(await openReview(context, emailId)) }),
    }),
  ],
};
