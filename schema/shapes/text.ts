import { z } from 'zod';

/** Text that PostgreSQL can hold. */
export const text = z.string().refine((value) => !value.includes('\0'), 'must not contain NUL');
