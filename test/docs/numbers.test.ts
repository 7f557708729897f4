import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../support/runner.ts';

/** Number names that pages write out. */
const words: Readonly<Record<string, number>> = { five: 5, six: 6, ten: 10 };

const SECOND = 1_000;
const MIB = 1_024 * 1_024;
const KIB = 1_024;

/** What a page says, with its number as the group, and the constant of that number; `unit`: how many of the constant's units it counts. */
const claims: [page: string, phrase: RegExp, file: string, constant: string, unit?: number][] = [
  [
    'docs/architecture.md',
    /disables an endpoint after (\d+) hours/,
    'db/queries/endpoints/record-outcome.ts',
    'FAILING_HOURS',
  ],
  ['docs/architecture.md', /for up to (five) days/, 'core/sending/sending-retry.ts', 'GIVE_UP_SECONDS', 86_400],
  ['docs/agents.md', /wait up to (\d+) seconds for an email/, 'gateway/mcp/tools/emails.ts', 'MAX_WAIT_SECONDS'],
  ['docs/agents.md', /PDF attachments of up to (\d+) MB/, 'operations/emails/pdf-text.ts', 'MAX_PDF_BYTES', 1e6],
  ['docs/claims.md', /`ttl` is (\d+) to/, 'core/threads/reply-claim.ts', 'MIN_CLAIM_SECONDS'],
  ['docs/claims.md', /to ([\d,]+) seconds, 300 by default/, 'core/threads/reply-claim.ts', 'MAX_CLAIM_SECONDS'],
  ['docs/claims.md', /seconds, (\d+) by default/, 'core/threads/reply-claim.ts', 'DEFAULT_CLAIM_SECONDS'],
  ['docs/drafts.md', /\| ([\d,]+) drafts and/, 'core/sending/draft.ts', 'MAX_DRAFTS'],
  ['docs/drafts.md', /drafts and ([\d,]+) bytes/, 'core/sending/draft.ts', 'MAX_DRAFT_BYTES'],
  ['docs/drafts.md', /may have: (\d+) MiB/, 'core/sending/outgoing-attachments.ts', 'MAX_CONTENT_BYTES', MIB],
  ['docs/oauth.md', /code of a redirect \| (\d+) seconds/, 'gateway/oauth/consent-routes.ts', 'CODE_SECONDS'],
  ['docs/oauth.md', /code of a terminal \| (\d+) minutes/, 'gateway/oauth/oauth-routes.ts', 'DEVICE_SECONDS', 60],
  ['docs/oauth.md', /access token \| (\d+) hour/, 'gateway/oauth/tokens.ts', 'ACCESS_SECONDS', 3_600],
  ['docs/oauth.md', /refresh token \| (\d+) days/, 'gateway/oauth/tokens.ts', 'REFRESH_SECONDS', 86_400],
  ['docs/oauth.md', /registered clients \| ([\d,]+);/, 'gateway/oauth/oauth-clients.ts', 'MAX_OAUTH_CLIENTS'],
  ['docs/oauth.md', /up to (\d+) KB in 5 seconds/, 'gateway/oauth/oauth-clients.ts', 'MAX_DOCUMENT_BYTES', KIB],
  ['docs/oauth.md', /KB in (\d+) seconds/, 'gateway/oauth/oauth-clients.ts', 'DOCUMENT_TIMEOUT_MS', SECOND],
  ['docs/oauth.md', /keeps it for (\d+) minutes/, 'gateway/oauth/oauth-clients.ts', 'DOCUMENT_AGE_MS', 60 * SECOND],
  ['docs/requests.md', /requests of the last (\d+) days/, 'core/accounts/logged-request.ts', 'REQUEST_LOG_DAYS'],
  ['docs/scim.md', /At most ([\d,]+) characters/, 'core/accounts/scim/filter.ts', 'MAX_FILTER_LENGTH'],
  ['docs/scim.md', /characters, (\d+) comparisons/, 'core/accounts/scim/filter.ts', 'MAX_COMPARISONS'],
  ['docs/scim.md', /comparisons and (\d+) parentheses/, 'core/accounts/scim/filter.ts', 'MAX_DEPTH'],
  ['docs/scim.md', /`count`, at most (\d+)/, 'core/accounts/scim/schema.ts', 'MAX_SCIM_PAGE'],
  ['docs/scim.md', /more than ([\d,]+) members together/, 'operations/accounts/scim-directory.ts', 'MAX_SHOWN_MEMBERS'],
  ['docs/scim.md', /at most (\d+) operations/, 'core/accounts/scim/patch.ts', 'MAX_PATCH_OPERATIONS'],
  ['docs/scim.md', /Limits \| ([\d,]+) users/, 'core/accounts/scim/schema.ts', 'MAX_SCIM_USERS'],
  ['docs/scim.md', /users, (\d+) groups/, 'operations/accounts/scim-directory.ts', 'MAX_SCIM_GROUPS'],
  ['docs/scim.md', /groups and (\d+) members a workspace/, 'operations/accounts/invitations.ts', 'MAX_MEMBERS'],
  ['docs/scim.md', /requests of (\d+) MB/, 'gateway/scim/scim-routes.ts', 'BODY_LIMIT', MIB],
  ['docs/endpoints.md', /Limit: (\d+) per minute/, 'operations/endpoints/endpoint-test.ts', 'MAX_TESTS'],
  ['docs/graphql.md', /\| depth of fields \| (\d+) \|/, 'gateway/graphql/operation-cost.ts', 'MAX_DEPTH'],
  ['docs/graphql.md', /\| aliases in a request \| (\d+) \|/, 'gateway/graphql/document-limits.ts', 'MAX_ALIASES'],
  ['docs/graphql.md', /\| tokens of a query \| ([\d,]+) \|/, 'gateway/graphql/document-limits.ts', 'MAX_TOKENS'],
  [
    'docs/graphql.md',
    /\| \[cost\]\(#cost\) of an operation \| ([\d,]+) \|/,
    'gateway/graphql/operation-cost.ts',
    'MAX_COST',
  ],
  ['docs/graphql.md', /An operation may cost up to ([\d,]+)\./, 'gateway/graphql/operation-cost.ts', 'MAX_COST'],
  ['docs/graphql.md', /A page has (\d+) rows by default/, 'schema/graphql/builder.ts', 'DEFAULT_CONNECTION_SIZE'],
  [
    'docs/graphql.md',
    /rows per page \| 1 to \d+, (\d+) by default/,
    'schema/graphql/builder.ts',
    'DEFAULT_CONNECTION_SIZE',
  ],
  ['docs/graphql.md', /rows per page \| 1 to (\d+),/, 'core/shared/page.ts', 'MAX_PAGE_SIZE'],
  ['docs/graphql.md', /and at most (\d+); other values/, 'core/shared/page.ts', 'MAX_PAGE_SIZE'],
  ['docs/graphql.md', /\| response time \| (\d+) s,/, 'gateway/server.ts', 'RESPOND_WITHIN_MS', SECOND],
  [
    'docs/graphql.md',
    /\| body \| (\d+) KB of variables/,
    'gateway/graphql/document-limits.ts',
    'MAX_USUAL_LENGTH',
    KIB,
  ],
  [
    'docs/graphql.md',
    /; (\d+) MB for mutations that send mail/,
    'gateway/rest/sending/outgoing-shapes.ts',
    'MAIL_BODY_LIMIT',
    1e6,
  ],
  [
    'docs/graphql.md',
    /\(1 to (\d+) characters of your choice\)/,
    'operations/sending/idempotency.ts',
    'MAX_KEY_LENGTH',
  ],
  ['docs/graphql.md', /\(up to ([\d,]+)\), then change/, 'operations/threads/threads.ts', 'MAX_SELECTED'],
  ['docs/graphql.md', /archive and label up to (\d+) threads/, 'operations/threads/thread-changes.ts', 'MAX_THREADS'],
  ['docs/rest.md', /does so for up to (\d+) threads/, 'operations/threads/thread-changes.ts', 'MAX_THREADS'],
  ['docs/rest.md', /IDs of up to ([\d,]+) threads/, 'operations/threads/threads.ts', 'MAX_SELECTED'],
  [
    'docs/rest.md',
    /The limit is (\d+) MiB of decoded/,
    'core/sending/outgoing-attachments.ts',
    'MAX_CONTENT_BYTES',
    MIB,
  ],
  [
    'docs/rest.md',
    /A request body has at most (\d+) MB/,
    'gateway/rest/sending/outgoing-shapes.ts',
    'MAIL_BODY_LIMIT',
    1e6,
  ],
  ['docs/rest.md', /in UTF-8, up to ([\d,]+) bytes/, 'core/mime/attachment-preview.ts', 'MAX_TEXT_PREVIEW_BYTES'],
  ['docs/rest.md', /more than (\d+) KB of HTML/, 'core/html/check-mail.ts', 'GMAIL_CLIP_BYTES', KIB],
  ['docs/rest.md', /500 sent and ([\d,]+) received emails/, 'db/queries/emails/known-senders.ts', 'MAX_RECEIVED'],
  ['docs/rest.md', /Your newest (\d+) sent/, 'db/queries/emails/known-senders.ts', 'MAX_WRITTEN'],
  ['docs/upgrade.md', /at most `DRAIN_DELAY_SECONDS` \+ (\d+) s/, 'bin/actor.ts', 'DRAIN_LIMIT_MS', SECOND],
  ['docs/upgrade.md', /keep-alive connections (\d+) s/, 'bin/gateway.ts', 'QUIET_MS', SECOND],
  ['docs/upgrade.md', /gives open requests (\d+) s/, 'actors/actor.ts', 'DRAIN_MS', SECOND],
  ['docs/upgrade.md', /gives transactions (\d+) s/, 'actors/actor.ts', 'DRAIN_MS', SECOND],
  ['docs/upgrade.md', /take them over after at most (\d+) s/, 'db/claim.ts', 'LEASE_SECONDS'],
  ['docs/upgrade.md', /busy table for ([\d.]+) s at a time/, 'db/run-migration.ts', 'LOCK_TIMEOUT_MS', SECOND],
  ['docs/upgrade.md', /After\n(ten) minutes it gives up/, 'db/run-migration.ts', 'PATIENCE_MS', 60 * SECOND],
  ['core/STANDARDS.md', /SIZE \| yes: ([\d,]+) bytes/, 'core/smtp/smtp-limits.ts', 'MAX_MESSAGE_BYTES'],
  [
    'core/STANDARDS.md',
    /loop detection \| yes: (\d+) Received fields/,
    'core/smtp/smtp-limits.ts',
    'MAX_RECEIVED_FIELDS',
  ],
  ['core/STANDARDS.md', /composed lines have at most (\d+) bytes/, 'core/mime/compose-message.ts', 'MAX_LINE_BYTES'],
  ['core/STANDARDS.md', /message\/rfc822 \| yes, to (\d+) levels/, 'core/mime/part-reader.ts', 'MAX_DEPTH'],
  ['core/STANDARDS.md', /at most (\d+) ids are written/, 'core/sending/address-reply.ts', 'MAX_REFERENCES'],
  ['core/STANDARDS.md', /yes: (six) addresses per attempt/, 'actors/sending/open-session.ts', 'MAX_ADDRESSES'],
  ['core/STANDARDS.md', /retries, (five) days/, 'core/sending/sending-retry.ts', 'GIVE_UP_SECONDS', 86_400],
  ['core/STANDARDS.md', /at most (\d+) sets;/, 'core/mime/arc-chain.ts', 'MAX_ARC_SETS'],
  ['core/STANDARDS.md', /RSA of (\d+) bits/, 'core/domains/dkim-key.ts', 'DKIM_KEY_BITS'],
  ['core/STANDARDS.md', /the first ([\d,]+) records, totals/, 'core/domains/dmarc-report.ts', 'MAX_DMARC_RECORDS'],
  [
    'core/STANDARDS.md',
    /at most (\d+) in a thread and hour/,
    'core/sending/automatic-reply.ts',
    'MAX_AUTOMATIC_REPLIES',
  ],
  [
    'core/STANDARDS.md',
    /and (\d+) to a sender and day/,
    'core/sending/automatic-reply.ts',
    'MAX_AUTOMATIC_REPLIES_PER_DAY',
  ],
];

test.each(claims)('%s says the number of its constant: %s', (page, phrase, file, constant, unit = 1) => {
  const [, written = ''] = phrase.exec(read(page)) ?? [];
  const stated = words[written] ?? Number(written.replaceAll(',', '') || Number.NaN);
  // A limit of 9.7 s is "at most 10 s".
  const real = Math.ceil((readValue(file, constant) / unit) * 10) / 10;
  expect(stated === real || stated === Math.ceil(real), `${written || 'no number'} for ${real}`).toBe(true);
});

function read(name: string): string {
  return readFileSync(path.join(repository, name), 'utf8');
}

/** Returns the number of `const NAME = …;`, which may be a product. */
function readValue(file: string, constant: string): number {
  const [, product = ''] = new RegExp(`\\bconst ${constant} = ([\\d_ *]+);`).exec(read(file)) ?? [];
  return product
    .split('*')
    .reduce((value, factor) => value * Number(factor.replaceAll('_', '').trim() || Number.NaN), 1);
}
