import { z } from 'zod';
import { MAX_QUERY_LENGTH } from '../../../core/search/search-query.ts';
import * as emails from '../../../operations/emails/emails.ts';
import { waitForEmail } from '../../../operations/emails/wait-for-email.ts';
import { SEARCH_SYNTAX, text } from '../../../schema/input-shapes.ts';
import { access } from '../../admission/access.ts';
import { waitBody } from '../../rest/emails/email-wait.ts';
import { listQuery } from '../../rest/emails/emails.ts';
import {
  BY_RELEVANCE,
  cursorPage,
  keysetPage,
  nextCursor,
  pageBy,
  pageInput,
  pageOf,
  searchOrder,
  untrustedShape,
} from '../shapes.ts';
import { defineTool } from '../tool.ts';
import {
  bodyChoice,
  extracts,
  extractsOf,
  listedEmail,
  listedEmailOf,
  openEmail,
  openedEmail,
} from './email-shapes.ts';

/** Characters of the body of an awaited email. */
const AWAITED_BODY = 4_000;
/** Shorter than the time after which clients give up by default, 60 s. */
const MAX_WAIT_SECONDS = 45;
/** Time limit of waiting for an email: the wait and the queries around it; milliseconds. */
const WAIT_ANSWER_MS = MAX_WAIT_SECONDS * 1_000 + 10_000;

const { type, status, domain, address } = listQuery.shape;

export const searchEmails = defineTool({
  name: 'search_emails',
  title: 'Search emails',
  description:
    'Returns single emails: received, sent and scheduled ones of any age. For conversations use search_threads.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    search: text.max(MAX_QUERY_LENGTH).optional().meta({ description: SEARCH_SYNTAX }),
    order_by: searchOrder,
    type,
    status,
    domain,
    address,
    ...pageInput,
  }),
  output: z.object({ emails: z.array(listedEmail), next_cursor: nextCursor }),
  async run(context, { search, limit, cursor, order_by: order, ...filter }) {
    const query = { ...filter, words: search, timeRange: 'all' } as const;
    if (order === 'relevance') {
      const ranked = await emails.pageEmailsByRelevance(context, query, cursorPage({ limit, cursor }, BY_RELEVANCE));
      const found = pageBy(BY_RELEVANCE, ranked, limit, ({ score, createdAt: at, id }) => ({ score, at, id }));
      return { emails: found.rows.map(listedEmailOf), next_cursor: found.nextCursor };
    }
    const rows = await emails.pageEmails(context, query, keysetPage({ limit, cursor }));
    const found = pageOf(rows, limit, ({ createdAt: at, id }) => ({ at, id }));
    return { emails: found.rows.map(listedEmailOf), next_cursor: found.nextCursor };
  },
});

export const readEmail = defineTool({
  name: 'read_email',
  title: 'Read an email',
  description:
    'Returns an email with its text, who vouches for its sender, its attachments, and for sent mail the delivery status of each recipient. Reading does not mark it as read.',
  access: access.read,
  effect: 'reads mail',
  input: z.object({
    email_id: z.string().meta({ description: 'ID of an email.' }),
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
    'Waits until an email arrives that matches all filters, such as a verification code, and returns it with the codes and links in it, and the event of an invitation. Begin to wait before the mail is sent, or give `since`.',
  access: access.read,
  effect: 'reads mail',
  answerWithinMs: WAIT_ANSWER_MS,
  input: waitBody.extend({
    timeout: z
      .number()
      .min(0)
      .max(MAX_WAIT_SECONDS)
      .default(30)
      .meta({ description: 'Number of seconds to wait. After it, call again with `since`.' }),
  }),
  output: z.object({
    timed_out: z.boolean().meta({ description: 'Whether no email came in time. `email` is then null.' }),
    waited_since: z.string().meta({ description: 'When the wait began. Pass it as `since` to wait on without a gap.' }),
    email: openedEmail.nullable(),
    untrusted: untrustedShape(extracts).nullable(),
  }),
  async run(context, { timeout, since, ...filter }) {
    const from = since === undefined ? context.now() : new Date(since);
    const wanted = { ...filter, ...(since === undefined ? {} : { since: from }) };
    const emailId = await waitForEmail(context, wanted, timeout * 1_000);
    const waitedSince = from.toISOString();
    if (emailId === null) return { timed_out: true, waited_since: waitedSince, email: null, untrusted: null };
    const choice = { body: 'text' as const, offset: 0, limit: AWAITED_BODY };
    const [email, details] = await Promise.all([
      openEmail(context, emailId, choice),
      emails.readEmail(context, emailId),
    ]);
    return { timed_out: false, waited_since: waitedSince, email, untrusted: extractsOf(details) };
  },
});
