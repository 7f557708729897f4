import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertMail, insertThread } from '../../support/rows/mail-rows.ts';
import type { TestMailbox } from '../../support/rows/routing-rows.ts';
import { insertSentMail, type SentMail } from '../../support/rows/sent-mail.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { countStatements } from '../../support/statements.ts';

let gateway: TestGateway;
let box: TestMailbox;
let receivedId: string;
let sent: SentMail;
let scheduledId: string;

const AUTHENTICATION = {
  spf: { result: 'pass', domain: 'elsewhere.test' },
  dkim: [{ result: 'fail', domain: 'elsewhere.test', selector: 's1' }],
  dmarc: { result: 'temperror', policy: 'quarantine', domain: 'elsewhere.test' },
  arc: { result: 'none' },
  hasSeveralFromFields: false,
};

beforeAll(async () => {
  gateway = await openTestGateway();
  box = await gateway.mailbox({ domain: 'mine.test' });
  receivedId = await insertReceived();
  const found = { kind: 'pressure', part: 'text', excerpt: 'Pay now', why: 'It asks for money.' };
  const symbols = [{ name: 'BAYES_SPAM', score: 4.5, description: 'Probably spam' }];
  await gateway.owner.pool.query('update email_content set injection = $2, screening = $3 where email_id = $1', [
    receivedId,
    { verdict: 'review', findings: [found] },
    { virus: null, spam: { verdict: 'suspected', score: 4.5, required: 15, symbols, by: 'filter' } },
  ]);
  sent = await insertSentMail(gateway.actor, box, {
    recipients: [
      { address: 'joe@elsewhere.test' },
      {
        address: 'gone@elsewhere.test',
        status: 'bounced',
        lastCode: 550,
        lastStatus: '5.1.1',
        lastText: 'No such user',
        refusalReason: 'user_unknown',
      },
      { address: 'slow@elsewhere.test', status: 'pending', attempts: 2, lastText: 'The connection was refused' },
    ],
  });
  await gateway.actor.pool.query(
    `insert into sending_attempt (workspace_id, recipient_id, number, started_at, finished_at, outcome, host, remote_address, is_tls, code,
       enhanced_status, text)
     values ($1, $2, 1, '2026-11-01T10:00:00Z', '2026-11-01T10:00:01.5Z', 'interrupted', 'mx.elsewhere.test', '192.0.2.1', true, null, null, 'x'),
       ($1, $2, 2, '2026-11-01T11:00:00Z', '2026-11-01T11:00:02Z', 'bounced', 'mx.elsewhere.test', '192.0.2.1', true, 550, '5.1.1', 'No such user'),
       ($1, $3, 1, '2026-11-01T12:00:00Z', null, null, null, null, null, null, null, null)`,
    [box.workspaceId, sent.recipientIds[1], sent.recipientIds[2]],
  );
  const scheduled = await gateway.call(box.apiKey, 'POST', '/emails', {
    from: `Ada <${box.address}>`,
    to: ['Bob <bob@elsewhere.test>', 'eve@elsewhere.test'],
    bcc: 'unseen@elsewhere.test',
    reply_to: 'Answers <answers@mine.test>',
    subject: 'Later',
    html: '<p>Hello</p>',
    attachments: [{ filename: 'a.txt', content: 'aGVsbG8=' }],
    tags: [{ name: 'kind', value: 'order' }],
    headers: { 'X-Kind': 'one' },
    scheduled_at: 'in 2 hours',
    timezone: 'Asia/Tokyo',
  });
  scheduledId = scheduled.json().id;
});
afterAll(() => gateway.close());

/** A received email with everything that one may have. */
async function insertReceived(): Promise<string> {
  const { threadId } = await insertThread(gateway.actor, {
    workspaceId: box.workspaceId,
    count: 1,
    lastMessageAt: new Date(),
  });
  const mailbox = (address: string, name: string | null = null) => ({
    text: name === null ? address : `${name} <${address}>`,
    addresses: [{ name, address }],
  });
  const [id = ''] = await insertMail(gateway.actor, [
    {
      workspaceId: box.workspaceId,
      ownAddress: box.address,
      fromName: 'Ann',
      from: 'ann@elsewhere.test',
      cc: ['carl@elsewhere.test'],
      text: '  Hello\n\n> quoted',
      html: '<p onclick="x()">Hello</p>',
      headers: [
        ['received', 'one'],
        ['received', 'two'],
        ['__proto__', 'kept'],
      ],
      addresses: {
        from: mailbox('ann@elsewhere.test', 'Ann'),
        to: mailbox(box.address, 'Me'),
        cc: mailbox('carl@elsewhere.test', 'Carl'),
        bcc: mailbox('unseen@elsewhere.test'),
        replyTo: mailbox('answers@elsewhere.test', 'Answers'),
      },
      inReplyTo: ['<a@elsewhere.test>'],
      references: ['<b@elsewhere.test>', '<a@elsewhere.test>'],
      threadId,
      threadPosition: 1,
      isRead: true,
      attachments: [
        {
          index: 0,
          filename: 'a/ä.pdf',
          contentType: 'application/pdf',
          size: 5,
          contentId: '<x@y>',
          contentDisposition: 'inline',
          start: 0,
          length: 8,
          transferEncoding: 'base64',
        },
      ],
      raw: Buffer.from('aGVsbG8=rest'),
    },
  ]);
  await gateway.actor.pool.query(
    `update email set recipient = 'hello+news@mine.test', address_id = $3, domain_id = $4, thread_reason = 'references',
       read_at = now(), date = '2026-11-01T09:00:00Z' where workspace_id = $1 and id = $2`,
    [box.workspaceId, id, box.addressId, box.domainId],
  );
  await gateway.actor.pool.query(
    `update email_content set authentication = $3, priority = 'high', is_truncated = true, parse_error = 'too deep', cleaned_text = 'Hello',
       removed_parts = '[{"kind":"quote","start":1,"end":4},{"kind":"signature","start":4,"end":5}]', cleaned_html = '<p>Hello</p>' where workspace_id = $1 and email_id = $2`,
    [box.workspaceId, id, JSON.stringify(AUTHENTICATION)],
  );
  return id;
}

const ask = async (query: string, variables: Record<string, unknown> = {}, key = box.apiKey) => {
  const response = (await gateway.graphql(key, query, variables)).json();
  expect(response.errors, JSON.stringify(response.errors)).toBeUndefined();
  return response.data;
};

const FIELDS = `
  id type status messageId subject preview fromText createdAt updatedAt sentAt scheduledAt timezone date failureReason hasAttachments
  attachmentCount isRead readAt isArchived trashedAt keptApart isTest metadata threadPosition threadReason guardStatus envelopeRecipient plusTag size rawUrl
  from { name address } to { name address } cc { name address } bcc { name address } replyTo { name address }
  thread { id } domain { id } ownAddress { id } batch { id } guardRule { id } tags { name value }
  attachments { index filename contentType size contentId disposition downloadUrl } extracts { event { summary } }
  content { text html cleanedText cleanedHtml quotedText signature removedParts { kind start end } inReplyTo references priority isTruncated parseError headers { name value }
    authentication { hasSeveralFromFields spf { result domain } dkim { result domain selector } dmarc { result policy domain } arc { result domain } sender { verdict domain text } } }
  securityWarnings { kind text shown actual } security { injection { verdict findings { kind part excerpt why } } spam { verdict score required symbols { name score description } by } virus } approval { status }
  recipients { address status attemptCount lastCode lastEnhancedStatus lastText refusal { reason type title advice } nextAttemptAt settledAt complainedAt
    attempts { number startedAt finishedAt durationMs outcome host remoteAddress isTls code enhancedStatus text } }`;

type Graph = Awaited<ReturnType<typeof ask>>;
const lower = (value: string | null) => value?.toLowerCase() ?? null;
const bare = (mailboxes: { address: string }[]) => mailboxes.map(({ address }) => address);

const makeCleaned = ({ text, html, cleanedText, cleanedHtml, quotedText, signature, removedParts }: Graph) => ({
  text: cleanedText,
  html: cleanedHtml,
  quoted_text: quotedText,
  signature,
  removed_from: text === null && html !== null ? 'html' : 'text',
  removed_parts: removedParts.map((part: Graph) => ({ ...part, kind: lower(part.kind) })),
});

/** What the REST interface shows of the email that the graph shows. */
function makeDetail(email: Graph) {
  const { content, recipients } = email;
  const lastEvents: Record<string, string> = { cancelled: 'canceled', paused: 'scheduled', pending: 'queued' };
  const status = lower(email.status) ?? '';
  const headers = Map.groupBy(content.headers as { name: string; value: string }[], ({ name }) => name);
  const verdict = ({ result, ...rest }: { result: string }) => ({ ...rest, result: result.toLowerCase() });
  const verdicts = content.authentication;
  return {
    object: 'email',
    id: email.id,
    type: lower(email.type),
    message_id: email.messageId,
    from: email.fromText,
    to: bare(email.to),
    cc: bare(email.cc),
    bcc: bare(email.bcc),
    reply_to: email.replyTo.length === 0 ? null : bare(email.replyTo),
    subject: email.subject,
    html: content.html,
    text: content.text,
    cleaned_content: email.type === 'RECEIVED' ? makeCleaned(content) : null,
    status,
    last_event: lastEvents[status] ?? status,
    created_at: email.createdAt,
    updated_at: email.updatedAt,
    sent_at: email.sentAt,
    scheduled_at: email.scheduledAt,
    has_attachments: email.hasAttachments,
    event: email.extracts.event,
    attachments: email.attachments.map((attachment: Graph) => ({
      filename: attachment.filename,
      contentType: attachment.contentType,
      size: attachment.size,
      contentId: attachment.contentId,
      contentDisposition: lower(attachment.disposition),
      downloadUrl: attachment.downloadUrl,
    })),
    is_read: email.isRead,
    read_at: email.readAt,
    is_archived: email.isArchived,
    trashed_at: email.trashedAt,
    kept_apart: lower(email.keptApart),
    is_test: email.isTest,
    metadata: email.metadata,
    thread_id: email.thread?.id ?? null,
    thread_position: email.threadPosition,
    envelope_recipient: email.envelopeRecipient,
    guard_status: lower(email.guardStatus),
    guard_rule_id: email.guardRule?.id ?? null,
    headers: Object.fromEntries(
      [...headers].map(([name, fields]) => [name, fields.map(({ value }) => value).join('\n')]),
    ),
    tags: email.tags,
    authentication:
      verdicts === null
        ? null
        : {
            ...verdicts,
            spf: verdict(verdicts.spf),
            dkim: verdicts.dkim.map(verdict),
            dmarc: { ...verdict(verdicts.dmarc), policy: lower(verdicts.dmarc.policy) },
            arc: { result: lower(verdicts.arc.result) },
            sender: undefined,
          },
    sender_verdict: verdicts && { ...verdicts.sender, verdict: lower(verdicts.sender.verdict) },
    security_warnings: email.securityWarnings,
    security: {
      ...email.security,
      injection: email.security.injection && {
        verdict: lower(email.security.injection.verdict),
        findings: email.security.injection.findings.map((finding: Graph) => ({
          ...finding,
          kind: lower(finding.kind),
          part: lower(finding.part),
        })),
      },
      spam: { ...email.security.spam, verdict: lower(email.security.spam.verdict), by: lower(email.security.spam.by) },
    },
    approval: email.approval,
    recipients: recipients.map((recipient: Graph) => {
      const { lastCode, lastEnhancedStatus, lastText, refusal } = recipient;
      const said = lastCode === null ? [lastText] : [lastCode, lastEnhancedStatus, lastText];
      return {
        address: recipient.address,
        status: lower(recipient.status),
        attempts: recipient.attemptCount,
        last_response: said.filter((part) => part !== null).join(' ') || null,
        enhanced_status: lastEnhancedStatus,
        refusal: refusal === null ? null : { ...refusal, reason: lower(refusal.reason), type: lower(refusal.type) },
        next_attempt_at: recipient.nextAttemptAt,
        settled_at: recipient.settledAt,
        log: recipient.attempts.map((attempt: Graph) => ({
          number: attempt.number,
          started_at: attempt.startedAt,
          finished_at: attempt.finishedAt,
          outcome: lower(attempt.outcome),
          host: attempt.host,
          remote_address: attempt.remoteAddress,
          tls: attempt.isTls,
          code: attempt.code,
          enhanced_status: attempt.enhancedStatus,
          text: attempt.text,
        })),
      };
    }),
  };
}

describe('an email', () => {
  test.each([
    ['received', () => receivedId],
    ['sent', () => sent.emailId],
    ['scheduled', () => scheduledId],
  ])('that is %s shows all fields of the REST interface', async (type, readId) => {
    const { email } = await ask(`query($id: ID!) { email(id: $id) { ${FIELDS} } }`, { id: readId() });
    const rest = (await gateway.call(box.apiKey, 'GET', `/emails/${readId()}`)).json();
    expect(rest.type).toBe(type);
    // Both may have been written with a name that only objects without prototype keep.
    const { ['__proto__']: _kept, ...headers } = rest.headers;
    expect(makeDetail(email)).toEqual({ ...rest, headers: expect.objectContaining(headers) });
    const listed = (await gateway.call(box.apiKey, 'GET', '/emails?time_range=all')).json();
    const item = listed.data.find((each: { id: string }) => each.id === readId());
    expect({ from: email.from.address, from_name: email.from.name, preview: email.preview }).toEqual({
      from: item.from,
      from_name: item.from_name,
      preview: item.preview,
    });
    expect(email.attachmentCount).toBe(item.attachment_count);
  });

  test('without text shows the parts removed from its HTML', async () => {
    const written = (text: string | null, html: string | null, parts: unknown) =>
      gateway.actor.pool.query(
        'update email_content set text_body = $3, html_body = $4, removed_parts = $5 where workspace_id = $1 and email_id = $2',
        [box.workspaceId, receivedId, text, html, JSON.stringify(parts)],
      );
    const { email: before } = await ask(`query($id: ID!) { email(id: $id) { ${FIELDS} } }`, { id: receivedId });
    const { text, html, removedParts } = before.content;
    await written(null, '<p>Yes.</p><p>When?</p>', [{ kind: 'quote', start: 14, end: 19 }]);
    try {
      const query = 'query($id: ID!) { email(id: $id) { content { quotedText signature } } }';
      expect((await ask(query, { id: receivedId })).email.content).toEqual({ quotedText: 'When?', signature: null });
      const rest = (await gateway.call(box.apiKey, 'GET', `/emails/${receivedId}`)).json();
      expect(rest.cleaned_content).toMatchObject({
        quoted_text: 'When?',
        signature: null,
        removed_from: 'html',
      });
    } finally {
      await written(
        text,
        html,
        removedParts.map((part: Graph) => ({ ...part, kind: lower(part.kind) })),
      );
    }
  });

  test('shows the fields that only the graph has', async () => {
    const { received, scheduled, sentOne } = await ask(
      `query($received: ID!, $scheduled: ID!, $sent: ID!) {
        received: email(id: $received) { ${FIELDS} }
        scheduled: email(id: $scheduled) { timezone size to { name address } bcc { address } replyTo { name } plusTag batch { id } content { cleanedText cleanedHtml } }
        sentOne: email(id: $sent) { ownAddress { address } recipients { id attempts { durationMs } email { id } } } }`,
      { received: receivedId, scheduled: scheduledId, sent: sent.emailId },
    );
    expect(received).toMatchObject({
      plusTag: 'news',
      threadReason: 'REFERENCES',
      domain: { id: box.domainId },
      ownAddress: { id: box.addressId },
      size: 12,
      rawUrl: `http://postroom.test/api/e2/emails/${receivedId}/raw`,
      to: [{ name: 'Me', address: box.address }],
      cc: [{ name: 'Carl', address: 'carl@elsewhere.test' }],
      replyTo: [{ name: 'Answers', address: 'answers@elsewhere.test' }],
      date: '2026-11-01T09:00:00.000Z',
      recipients: [],
      content: {
        cleanedText: 'Hello',
        cleanedHtml: '<p>Hello</p>',
        priority: 'HIGH',
        isTruncated: true,
        parseError: 'too deep',
        inReplyTo: ['<a@elsewhere.test>'],
        references: ['<b@elsewhere.test>', '<a@elsewhere.test>'],
      },
    });
    expect(received.content.headers).toContainEqual({ name: '__proto__', value: 'kept' });
    const raw = await gateway.app.inject({
      url: new URL(received.rawUrl).pathname,
      headers: { authorization: `Bearer ${box.apiKey}` },
    });
    expect(raw.body).toBe('aGVsbG8=rest');
    expect(scheduled).toMatchObject({
      timezone: 'Asia/Tokyo',
      to: [
        { name: 'Bob', address: 'bob@elsewhere.test' },
        { name: null, address: 'eve@elsewhere.test' },
      ],
      bcc: [{ address: 'unseen@elsewhere.test' }],
      replyTo: [{ name: 'Answers' }],
      plusTag: null,
      batch: null,
      content: { cleanedText: 'Hello', cleanedHtml: null },
    });
    expect(scheduled.size).toBeGreaterThan(100);
    expect(sentOne.ownAddress).toEqual({ address: box.address });
    expect(sentOne.recipients.map(({ attempts }: Graph) => attempts)).toEqual([
      [],
      [{ durationMs: 1_500 }, { durationMs: 2_000 }],
      [{ durationMs: null }],
    ]);
    expect(sentOne.recipients[1]).toMatchObject({ id: sent.recipientIds[1], email: { id: sent.emailId } });
  });

  test('is a node, and so is each recipient; other users find none', async () => {
    const query = `query($ids: [ID!]!, $id: ID!) { nodes(ids: $ids) { __typename id } recipient(id: $id) { address } }`;
    const id = sent.recipientIds[0] ?? '';
    const ids = [sent.emailId, id, 'rcp_unknown', 'bat_unknown'];
    expect(await ask(query, { ids, id })).toEqual({
      nodes: [{ __typename: 'Email', id: sent.emailId }, { __typename: 'Recipient', id }, null, null],
      recipient: { address: 'joe@elsewhere.test' },
    });
    const other = await gateway.mailbox();
    expect(await ask(query, { ids, id }, other.apiKey)).toEqual({ nodes: [null, null, null, null], recipient: null });
  });
});

describe('the list', () => {
  const ids = async (filter: string) => {
    const { emails } = await ask(`{ emails(first: 100, filter: {${filter}}) { totalCount edges { node { id } } } }`);
    const found = emails.edges.map(({ node }: Graph) => node.id);
    expect(emails.totalCount).toBe(found.length);
    return found;
  };

  beforeAll(async () => {
    await insertMail(gateway.actor, [
      { workspaceId: box.workspaceId, isArchived: true },
      { workspaceId: box.workspaceId, createdAt: new Date(Date.now() - 40 * 24 * 3_600_000) },
      { workspaceId: box.workspaceId, type: 'scheduled', status: 'cancelled' },
      { workspaceId: box.workspaceId, type: 'sent', status: 'failed' },
    ]);
    const [held = ''] = await insertMail(gateway.actor, [{ workspaceId: box.workspaceId }]);
    await gateway.actor.pool.query(
      `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, via)
       select workspace_id, id, created_at, now(), now(), 'blocked', 'guard-rule' from email where workspace_id = $1 and id = $2`,
      [box.workspaceId, held],
    );
  });

  test.each([
    'delivered',
    'pending',
    'failed',
    'bounced',
    'scheduled',
    'cancelled',
    'paused',
    'unread',
    'read',
    'archived',
    'blocked',
  ])('of the status %s shows the emails of the REST interface', async (status) => {
    const rest = (await gateway.call(box.apiKey, 'GET', `/emails?status=${status}&time_range=all&limit=100`)).json();
    expect(await ids(`status: ${status.toUpperCase()}, timeRange: ALL`)).toEqual(rest.data.map(({ id }: Graph) => id));
    if (!['paused', 'bounced'].includes(status)) expect(rest.data.length).toBeGreaterThan(0);
  });

  test('goes back 30 days, and further on request', async () => {
    const all = await ids('timeRange: ALL');
    expect(await ids('')).toHaveLength(all.length - 1);
    expect((await ids('isArchived: true')).length).toBe(1);
    await gateway.actor.pool.query('update email set is_test = true where workspace_id = $1 and id = $2', [
      box.workspaceId,
      receivedId,
    ]);
    expect(await ids('isTest: true')).toEqual([receivedId]);
    expect(await ids('isTest: false, timeRange: ALL')).toHaveLength(all.length - 1);
    expect(await ids('isTest: true, contains: "a subject", type: RECEIVED')).toEqual([receivedId]);
    expect((await ids('type: RECEIVED, timeRange: ALL')).length).toBeLessThan(all.length);
    expect(await ids('contains: "LATER"')).toEqual([scheduledId]);
  });
});

test('a page of 50 messages with bodies, files and recipients takes 6 statements, as one of 1 does', async () => {
  const reader = await gateway.mailbox();
  const { threadId, emailIds } = await insertThread(gateway.actor, {
    workspaceId: reader.workspaceId,
    count: 50,
    lastMessageAt: new Date(),
    text: 'Hello',
  });
  await gateway.actor.pool.query(
    `update email set has_attachments = true, type = case when thread_position % 2 = 0 then 'sent' else 'received' end
     where workspace_id = $1`,
    [reader.workspaceId],
  );
  for (const id of emailIds)
    await gateway.actor.pool.query(
      `insert into recipient (workspace_id, id, email_id, address, domain, created_at) values ($1, 'rcp_' || $2, $2, 'x@y.test', 'y.test', now())`,
      [reader.workspaceId, id],
    );
  const query = `query($id: ID!, $n: Int) { thread(id: $id) { messages(first: $n) { edges { node {
    from { name address } to { name address } preview content { text cleanedText } attachments { filename }
    recipients { address status } } } } } }`;
  await ask('{ viewer { id } }', {}, reader.apiKey);
  const one = await countStatements(() => ask(query, { id: threadId, n: 1 }, reader.apiKey));
  const fifty = await countStatements(() => ask(query, { id: threadId, n: 50 }, reader.apiKey));
  const messages = fifty.response.thread.messages.edges;
  expect(messages).toHaveLength(50);
  expect(
    messages.filter(({ node }: Graph) => node.recipients.length === 1 && node.content.text === 'Hello'),
  ).toHaveLength(25);
  expect([one.statements, fifty.statements]).toEqual([6, 6]);
});
