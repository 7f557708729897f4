import { randomBytes } from 'node:crypto';
import { dmarcRow } from '../../../actors/receiving/email-rows.ts';
import { readDmarcReport } from '../../../core/domains/dmarc-report.ts';
import { makeIdentifier } from '../../../core/shared/identifiers.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { insertDmarcReports } from '../../../db/queries/domains/dmarc-write.ts';
import { dmarcXml } from '../mail/dmarc-reports.ts';
import { addByInterface, addDraft, addMail, addRefusal, addRequest, addTeam, type HoldingsGround } from './holdings.ts';
import { insertMail } from './mail-rows.ts';
import type { TestMailbox } from './routing-rows.ts';

/** An account whose every list has many rows. */
export interface FilledLists {
  apiKey: string;
  /** with many DMARC reports and subdomains */
  domainId: string;
  /** with many deliveries of different emails */
  endpointId: string;
  /** with many deliveries to different endpoints */
  emailId: string;
}

/** A message with HTML that deceives, a file, and a sender with a name. */
const RAW = Buffer.from(
  'From: Ada <ada@elsewhere.test>\r\nSubject: A subject\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\ncontent\r\n--b--\r\n',
);
const FILE = {
  index: 0,
  filename: 'a.txt',
  contentType: 'text/plain',
  size: 7,
  contentId: null,
  contentDisposition: 'attachment' as const,
  start: RAW.indexOf('content\r'),
  length: 7,
  transferEncoding: '7bit' as const,
};

/** Fills every list of a new account with `count` rows at least. */
export async function fillLists(ground: HoldingsGround, count: number): Promise<FilledLists> {
  const first = await ground.mailbox({ domain: 'd0.many.test', endpointUrl: 'https://hooks.example.com/0' });
  const { workspaceId, apiKey, domainId } = first;
  const boxes: TestMailbox[] = [first];
  for (let n = 1; n < count; n++)
    boxes.push(
      await ground.mailbox({ workspaceId, domain: `d${n}.many.test`, endpointUrl: `https://hooks.example.com/${n}` }),
    );
  for (const [n, box] of boxes.entries()) {
    const known = await addMail(ground, box);
    await addByInterface(ground, box, ['sent', 'later', 'batch', 'domain', 'rule', 'reply-address', 'suppression']);
    await addDraft(ground, { ...box, apiKey }, known['email_id'] ?? '');
    await addRequest(ground.actor, box);
    await addRefusal(ground.actor, box);
    await addTeam(ground.actor, box);
    for (const type of ['email', 'email_group'] as const) await addForwarding(ground, box, type, n);
  }
  const emailIds = await insertMail(
    ground.actor,
    boxes.map(({ address }, n) => ({
      workspaceId,
      ownAddress: address,
      raw: RAW,
      from: `ada${n}@elsewhere.test`,
      fromName: 'Ada Lovelace',
      text: `Hello, your code is 48291${n % 10}`,
      html: '<p>Hello <a href="https://evil.test/">https://bank.test/</a></p><img src="https://x.test/a.png">',
      attachments: [FILE],
    })),
  );
  await ground.actor.pool.query(
    `update email e set address_id = a.id, domain_id = a.domain_id, recipient = a.address from email_address a
     where e.workspace_id = $1 and a.workspace_id = $1 and a.address = e.own_address`,
    [workspaceId],
  );
  await addRoutes(ground, boxes, emailIds);
  await addReports(ground, first, emailIds);
  return { apiKey, domainId, endpointId: first.endpointId ?? '', emailId: emailIds[0] ?? '' };
}

async function addForwarding(
  ground: HoldingsGround,
  { apiKey, address }: TestMailbox,
  type: 'email' | 'email_group',
  n: number,
): Promise<void> {
  const config =
    type === 'email'
      ? { forwardTo: `to${n}@elsewhere.test`, fromAddress: address }
      : { emails: [`to${n}@elsewhere.test`], fromAddress: address };
  const response = await ground.call(apiKey, 'POST', '/endpoints', { name: `${type} ${n}`, type, config });
  if (response.statusCode >= 300) throw new Error(response.body);
}

/** Adds the routes of the emails, and deliveries of each to the first endpoint, and of the first email to every endpoint. */
async function addRoutes(
  ground: HoldingsGround,
  boxes: readonly TestMailbox[],
  emailIds: readonly string[],
): Promise<void> {
  const { pool } = ground.actor;
  const [workspaceId = '', endpointIds] = [boxes[0]?.workspaceId, boxes.map(({ endpointId }) => endpointId)];
  await pool.query(
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome, via, endpoint_id, rule_id, reason)
     select $1, e.id, now(), now(), now(), 'endpoint', 'address', e.endpoint_id, (select min(g.id) from guard_rule g where g.workspace_id = $1), ''
     from unnest($2::text[], $3::text[]) e(id, endpoint_id) on conflict do nothing`,
    [workspaceId, emailIds, endpointIds],
  );
  await pool.query(
    `insert into delivery (workspace_id, id, email_id, endpoint_id, delivery_type, attempts_allowed, attempts, status, created_at, last_attempt_at,
       last_attempt)
     select $1, 'dlv_' || md5(random()::text), x.email_id, x.endpoint_id, 'webhook', 4, 1, 'failed', now(), now(),
       '{"number": 1, "started_at": "2026-11-01T00:00:00Z", "duration_ms": 5, "outcome": "failed", "request_headers": {}}'
     from (select id as email_id, ($3::text[])[1] as endpoint_id from unnest($2::text[]) id
       union all select ($2::text[])[1], id from unnest($3::text[]) id) x`,
    [workspaceId, emailIds, endpointIds],
  );
}

async function addReports(
  ground: HoldingsGround,
  { workspaceId }: TestMailbox,
  emailIds: readonly string[],
): Promise<void> {
  const rows = emailIds.map((emailId) => {
    const report = readDmarcReport(dmarcXml({ domain: 'd0.many.test' }));
    if (report === null) throw new Error('no report');
    return dmarcRow({ workspaceId, emailId }, report, (kind) => makeIdentifier(kind, new Date(), randomBytes(10)));
  });
  await inTransaction(ground.actor, (client) => insertDmarcReports(client, rows));
}
