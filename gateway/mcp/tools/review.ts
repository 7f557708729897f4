import { z } from 'zod';
import { openReview, reviewedEmail, reviewedPart } from '../../../operations/sending/sent-review-capability.ts';
import { access } from '../../admission/access.ts';
import { makeWriter, wireOutput } from '../../rest/capability-shapes.ts';
import { textPart } from '../bounded-text.ts';
import { untrustedShape } from '../shapes.ts';
import { defineTool } from '../tool.ts';
import { bodyChoice } from './email-shapes.ts';

const SHOWN = ['text', 'source'] as const;
const writePart = makeWriter(reviewedPart, 'snake') ?? ((part: unknown) => part);

export const reviewEmailTool = defineTool({
  name: 'review_email',
  title: 'Review an outgoing email',
  description:
    'Returns an outgoing email as it is sent, for the person who approves it: every header field and part, what readers do not see, and notes on what to look at. Read it to its end (`next_offset`), and tell the person what is hidden.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    email_id: z.string(),
    show: z.enum(SHOWN).default('text').meta({
      description: '`text`: all text, in `pieces`. `source`: the parts as they are.',
    }),
    offset: bodyChoice.offset,
    max_chars: bodyChoice.max_chars,
  }),
  output: z.object({
    email_id: z.string(),
    untrusted: untrustedShape(
      {
        fields: reviewedEmail.shape.fields,
        notes: reviewedEmail.shape.notes,
        parts: z.array(wireOutput(reviewedPart, 'snake')),
      },
      '`fields` of the header (`name`, `value`), `notes` (`kind`, `where`, `detail`) and `parts` (`path`, `content_type`, `filename`, `source`, and `pieces`: `text`, `target` of a link, and `unseen` if readers do not see it).',
    ),
    next_offset: z.int().nullable(),
    is_truncated: z.boolean().meta({ description: 'Something is cut: download the message.' }),
  }),
  run: async (context, { email_id: emailId, show, offset, max_chars: limit }) => {
    const { fields, notes, parts, isTruncated } = await openReview(context, emailId);
    const cut = openWindow(offset, limit);
    const shown = parts.map((part) => ({
      ...part,
      source: show === 'source' && part.source !== null ? cut.take(part.source) : null,
      pieces: show === 'text' ? part.pieces.flatMap((piece) => withText(piece, cut.take(piece.text))) : [],
    }));
    // They are complete in the first result.
    const whole = offset === 0 ? { fields: [...fields], notes: [...notes] } : { fields: [], notes: [] };
    return {
      email_id: emailId,
      untrusted: { ...whole, parts: shown.map((part) => writePart(part) as Record<string, unknown>) },
      next_offset: cut.nextOffset(),
      is_truncated: isTruncated,
    };
  },
});

function withText<Piece extends { text: string }>(piece: Piece, text: string): Piece[] {
  return text === '' ? [] : [{ ...piece, text }];
}

/** Shows up to `limit` characters of texts that follow each other, from an offset. */
function openWindow(offset: number, limit: number) {
  let passed = 0;
  let left = limit;
  let next: number | null = null;
  return {
    /** Returns what of the next text is shown. */
    take(text: string): string {
      const start = Math.max(0, offset - passed);
      passed += text.length;
      if (start >= text.length) return '';
      if (left <= 0) {
        next ??= passed - text.length + start;
        return '';
      }
      const { text: shown, nextOffset } = textPart(text, start, left);
      left -= shown.length;
      if (nextOffset !== null) {
        next ??= passed - text.length + nextOffset;
        left = 0;
      }
      return shown;
    },
    /** Returns where the texts that were taken go on; null when all was shown. */
    nextOffset: () => next,
  };
}
