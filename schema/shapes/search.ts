import { z } from 'zod';
import { MAX_SEARCH_LENGTH } from '../../operations/emails/emails.ts';
import { text } from './text.ts';

/** Part of what a list is searched for. */
export const searchText = text.max(MAX_SEARCH_LENGTH);

/** A filter by `search` alone, whatever else it has. */
export const searchShape = z.object({ search: searchText.optional() });
