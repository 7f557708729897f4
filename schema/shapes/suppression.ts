import { z } from 'zod';
import { MAX_SEARCH_LENGTH } from '../../operations/emails.ts';
import { text } from './text.ts';

/** Characters of what a user notes on a suppression. */
const MAX_DETAIL_LENGTH = 500;

/** An address that is to be suppressed. */
export const suppressedAddressShape = text.min(1).max(320);
export const suppressionDetailShape = text.max(MAX_DETAIL_LENGTH);

/** Part of an address that is looked for. */
export const suppressionSearchShape = text.max(MAX_SEARCH_LENGTH);
