import { z } from 'zod';
import { MAX_SEARCH_LENGTH } from '../../operations/emails/emails.ts';
import { SUPPRESSION_REASONS } from '../../operations/sending/suppressions.ts';
import { text } from './text.ts';

/** Characters; longer than any address is. */
const MAX_ADDRESS_LENGTH = 320;
/** Characters of what a user notes on a suppression. */
const MAX_DETAIL_LENGTH = 500;

/** An address that is to be suppressed, as it is given. */
export const suppressedAddressShape = text.min(1).max(MAX_ADDRESS_LENGTH);

const detail = text.max(MAX_DETAIL_LENGTH).nullish().meta({ description: 'why, for yourself' });

/** A suppression that is to be made. */
export const newSuppressionShape = z.object({ address: suppressedAddressShape, detail });

export const suppressionReasonShape = z.enum(SUPPRESSION_REASONS);

/** Which suppressions are asked for. */
export const suppressionQueryShape = z.object({
  reason: suppressionReasonShape.optional(),
  search: text.max(MAX_SEARCH_LENGTH).optional().meta({ description: 'part of the address' }),
});
