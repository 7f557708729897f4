import { z } from 'zod';
import { MAX_DOMAIN_LENGTH } from '../../core/domains/domain-name.ts';
import { MAX_SEARCH_LENGTH } from '../emails/emails.ts';

/** Characters; longer than any valid address (RFC 5321 §4.5.3.1.3). */
export const MAX_ADDRESS_LENGTH = 320;

/** Text that PostgreSQL can store. */
export const text = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');

/** The search text of a list. */
export const searchText = text.max(MAX_SEARCH_LENGTH);

/** The name of a domain, as the user enters it. */
export const domainName = text.min(1).max(MAX_DOMAIN_LENGTH);
