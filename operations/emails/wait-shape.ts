import { z } from 'zod';
import { graphqlText, inRest, named } from '../../core/shared/field-notes.ts';
import { text } from '../capability/field-shapes.ts';
import { MAX_SINCE_HOURS, MAX_WAIT_MS } from './wait-for-email.ts';

const MAX_TIMEOUT_SECONDS = MAX_WAIT_MS / 1_000;
const DEFAULT_TIMEOUT_SECONDS = 30;

/** Emails that a wait can leave out. */
const MAX_EXCEPT = 100;
/** Characters. */
const MAX_ID_LENGTH = 100;

/** Rejects an empty filter, which is more likely a mistake than intended to match all mail. */
const filter = text.optional().meta({ pattern: String.raw`\S` });

/** Which email to wait for, and how long. Unknown fields are refused: to ignore one would wait for more than was meant. */
export const waitShape = z
  .strictObject({
    address: graphqlText(
      filter,
      'ID of an address of yours, or the address itself. An address with a plus tag matches mail to that tag only.',
    ).meta({
      description:
        'ID of one of your addresses, or the address itself. An address with a plus tag matches mail to that tag only.',
    }),
    domain: graphqlText(filter, 'ID or name of a domain of yours.').meta({
      description: 'ID or name of one of your domains.',
    }),
    from: filter.meta({ description: 'Email address or domain of the sender.' }),
    subject: filter.meta({ description: 'Part of the subject, case-insensitive.' }),
    since: graphqlText(
      z.date().optional(),
      'Also matches mail accepted since this time, up to 24 hours ago. Null matches mail from now on.',
    ).meta({
      description: `Also matches mail accepted since this time, up to ${MAX_SINCE_HOURS} hours ago. By default only mail from now on matches.`,
    }),
    exceptEmailIds: z
      .array(named(text.max(MAX_ID_LENGTH), { graphqlType: 'ID' }))
      .max(MAX_EXCEPT)
      .optional()
      .meta({ description: `IDs of emails that do not match, up to ${MAX_EXCEPT}: the emails that you have.` }),
    timeout: named(
      graphqlText(
        inRest(
          z.int().default(DEFAULT_TIMEOUT_SECONDS),
          z
            .number()
            .min(0)
            .max(MAX_TIMEOUT_SECONDS)
            .default(DEFAULT_TIMEOUT_SECONDS)
            .meta({ description: 'Number of seconds to wait.' }),
        ),
        `Seconds to wait, 0 to ${MAX_TIMEOUT_SECONDS}.`,
      ),
      { graphqlType: 'Int' },
    ),
  })
  .meta({
    id: 'WaitForEmail',
    // The first example does not wait, so that programs can try it.
    examples: [
      { address: 'signup+42@inbox.test', from: 'shop.example', subject: 'code', timeout: 0 },
      { address: 'signup@inbox.test', since: '2026-11-22T09:00:00Z', timeout: 5 },
    ],
  });
