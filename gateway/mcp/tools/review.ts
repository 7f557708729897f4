import { z } from 'zod';
import { access } from '../../admission/access.ts';
import { openReview, reviewBody, reviewPartBody } from '../../rest/sending/sent-review.ts';
import { textPart } from '../bounded-text.ts';
import { untrustedShape } from '../shapes.ts';
import { defineTool } from '../tool.ts';
import { bodyChoice } from './email-shapes.ts';

const SHOWN = ['text', 'source'] as const;

export const reviewEmailTool = defineTool({
  name: 'review_email',
  title: 'Review an outgoing email',
  description:
    'Returns an outgoing email as it is sent, for the person who approves it: every header field and every part, with what readers do not see (hidden text, comments, attributes, invisible characters), and notes on what to look at. Read it to its end (`next_offset`), and tell the person what is hidden.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    email_id: z.string().meta({ description: 'ID of an email that is sent, scheduled or waits for approval.' }),
    show: z.enum(SHOWN).default('text').meta({
      description:
        '`text`: all text of the parts in `pieces`, that of HTML without tags. `source`: the parts as they are, HTML with its tags.',
    }),
    offset: bodyChoice.offset.meta({ description: 'Where to begin in the texts: `next_offset` of the last result.' }),
    max_chars: bodyChoice.max_chars.meta({ description: 'Maximum number of characters of the texts.' }),
  }),
  output: z.object({
    email_id: z.string(),
    untrusted: untrustedShape({
      ...reviewBody.pick({ fields: true, notes: true }).shape,
      parts: z.array(reviewPartBody),
    }),
    next_offset: z.int().nullable().meta({ description: 'Where the texts go on. Null at their end.' }),
    is_truncated: reviewBody.shape.is_truncated,
  }),
  run: async (context, { email_id: emailId, show, offset, max_chars: limit }) => {
    const { fields, notes, parts, is_truncated } = await openReview(context, emailId);
    const cut = openWindow(offset, limit);
    const shown = parts.map((part) => ({
      ...part,
      source: show === 'source' && part.source !== null ? cut.take(part.source) : null,
      pieces: show === 'text' ? part.pieces.flatMap((piece) => withText(piece, cut.take(piece.text))) : [],
    }));
    // They are complete in the first result.
    const whole = offset === 0 ? { fields, notes } : { fields: [], notes: [] };
    return { email_id: emailId, untrusted: { ...whole, parts: shown }, next_offset: cut.nextOffset(), is_truncated };
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
