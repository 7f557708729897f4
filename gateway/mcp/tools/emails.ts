import { z } from 'zod';
import * as emails from '../../../operations/emails/emails.ts';
import { waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { waitShape } from '../../../operations/emails/wait-shape.ts';
import { access } from '../../admission/access.ts';
import { listQuery } from '../../rest/emails/emails.ts';
import { listedAs, listedInWords } from '../json-schema.ts';
import { nextCursor, pageInput, pageSearch, searchLanguage, searchOrder, searchTerms } from '../shapes.ts';
import { defineTool } from '../tool.ts';
import {
  bodyChoice,
  extracts,
  listedEmail,
  openEmail,
  openedEmail,
  toExtracts,
  toListedEmail,
} from './email-shapes.ts';

/** Characters of the body of an awaited email. */
const AWAITED_BODY = 4_000;
/** Shorter than the time after which clients give up by default, 60 s. */
const MAX_WAIT_SECONDS = 45;
/** Time limit of waiting for an email: the wait and the queries around it; milliseconds. */
const WAIT_RESPONSE_MS = MAX_WAIT_SECONDS * 1_000 + 10_000;

const { type, status, domain, address } = listQuery.shape;
const { from, subject, exceptEmailIds } = waitShape.shape;

export const searchEmails = defineTool({
  name: 'search_emails',
  title: 'Search emails',
  description:
    'Returns single emails: received, sent and scheduled ones of any age. For conversations use search_threads.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    search: searchTerms.meta({ description: 'As in search_threads.' }),
    order_by: searchOrder,
    language: searchLanguage,
    type: type.meta(listedAs({ type: 'string', enum: type.unwrap().options })),
    status: status.meta({ description: '`pending`: not delivered yet. `blocked`: held by a guard rule.' }),
    domain: domain.meta({ description: 'Yours or a correspondent’s.' }),
    address: address.meta({ description: 'Yours or a correspondent’s.' }),
    ...pageInput,
  }),
  output: z.object({ emails: z.array(listedEmail), next_cursor: nextCursor }),
  async run(context, { search, limit, cursor, order_by, ...filter }) {
    const query = { ...filter, words: search, timeRange: 'all' } as const;
    const found = await pageSearch(
      { limit, cursor, order_by },
      {
        newest: (page) => emails.pageEmails(context, query, page),
        byRelevance: (page) => emails.pageEmailsByRelevance(context, query, page),
        timeOf: ({ createdAt }) => createdAt,
      },
    );
    return { emails: found.rows.map(toListedEmail), next_cursor: found.nextCursor };
  },
});

export const readEmail = defineTool({
  name: 'read_email',
  title: 'Read an email',
  description:
    'Returns an email with its text, who vouches for its sender, its attachments, and for sent mail the delivery status of each recipient. It is not marked as read.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    email_id: z.string(),
    ...bodyChoice,
  }),
  output: openedEmail,
  run: (context, { email_id: emailId, body, offset, max_chars: limit }) =>
    openEmail(context, emailId, { body, offset, limit }),
});

export const awaitEmail = defineTool({
  name: 'wait_for_email',
  title: 'Wait for an email',
  description:
    'Waits until an email arrives that matches all filters, and returns it with its verification codes, links and invitation. Begin to wait before the mail is sent, or give `since`.',
  access: access.read,
  effect: 'reads mail',
  respondWithinMs: WAIT_RESPONSE_MS,
  input: z.object({
    address: address.meta({ description: 'Yours. With a plus tag it matches that tag only.' }),
    domain: domain.meta({ description: 'Yours.' }),
    from: from.meta({ description: 'Address or domain.' }),
    subject: subject.meta({ description: 'A part of it.' }),
    since: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'ISO 8601, up to 24 hours ago. Default: now.' }),
    except_email_ids: exceptEmailIds.meta({ description: 'Emails that you have.' }),
    timeout: z
      .number()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .default(30)
      .meta({ description: 'Seconds. After it, call again with `since`.' }),
  }),
  output: z.object({
    timed_out: z.boolean().meta({ description: '`email` is then null.' }),
    waited_since: z.string().meta({ description: 'Pass it as `since` to wait on without a gap.' }),
    email: openedEmail.meta(listedInWords('As read_email returns it.')).nullable(),
    untrusted: extracts.nullable(),
  }),
  async run(context, { timeout, since, except_email_ids: except, ...filter }) {
    const begin = since === undefined ? context.now() : new Date(since);
    const wanted = { ...filter, exceptEmailIds: except, ...(since === undefined ? {} : { since: begin }) };
    const emailId = await waitForEmail(context, wanted, timeout * 1_000);
    const waitedSince = begin.toISOString();
    if (emailId === null) return { timed_out: true, waited_since: waitedSince, email: null, untrusted: null };
    const choice = { body: 'text' as const, offset: 0, limit: AWAITED_BODY };
    const [email, details] = await Promise.all([
      openEmail(context, emailId, choice),
      emails.readEmail(context, emailId),
    ]);
    return { timed_out: false, waited_since: waitedSince, email, untrusted: toExtracts(details) };
  },
});
