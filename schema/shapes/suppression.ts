import { z } from 'zod';
import { MAX_SEARCH_LENGTH } from '../../operations/emails/emails.ts';
import { SUPPRESSION_REASONS } from '../../operations/sending/suppressions.ts';
import { text } from './input.ts';

/** Characters; longer than any valid address. */
const MAX_ADDRESS_LENGTH = 320;
/** Maximum length of a note; characters. */
const MAX_DETAIL_LENGTH = 500;

/** An address to suppress, as the user enters it. */
export const suppressedAddressShape = text.min(1).max(MAX_ADDRESS_LENGTH);

const detail = text.max(MAX_DETAIL_LENGTH).nullish().meta({ description: 'Your note about the suppression.' });

/** Input to create a suppression. */
export const newSuppressionShape = z.object({ address: suppressedAddressShape, detail });

export const suppressionReasonShape = z.enum(SUPPRESSION_REASONS);

/** Filter of a list of suppressions. */
export const suppressionQueryShape = z.object({
  reason: suppressionReasonShape.optional(),
  search: text.max(MAX_SEARCH_LENGTH).optional().meta({ description: 'Part of the address.' }),
});
