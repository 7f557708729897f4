import pg from 'pg';
import { countEmailsSql } from '../../../db/queries/emails/email-counter.ts';

export interface LargeMailbox {
  /** of messages that are each a thread of their own and bear one subject */
  noticeSubject: string;
  noticeSender: string;
  longThreadId: string;
  /** one of the user's 40 addresses */
  ownAddress: string;
}

/** Words of such a mailbox, by how often they are in bodies. */
export const largeMailboxWords = {
  every: 'hello',
  ofTen: 'tenth',
  ofHundred: 'hundredth',
  ofThousand: 'thousandth',
  /** of a fifth of the mail of the first third of the time, and of none since */
  former: 'formerly',
  /** of three mails */
  rare: 'rarely',
};

/**
 * Fills one user's mailbox with so many threaded messages over three years, straight by SQL: 40 addresses; a tenth of the messages
 * bear one subject (100,000 of 1,000,000), a hundredth is one thread (10,000), the rest are threads of three messages on average
 * between 5,000 people. Bodies have 40 words of 20,000, some of which are common and most are not. The URL is of the database's owner. Takes about three minutes for 1,000,000.
 */
export async function fillLargeMailbox(ownerUrl: string, workspaceId: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query('set work_mem = "256MB"; set maintenance_work_mem = "512MB"; set synchronous_commit = off');
    for (const statement of fillStatements(client.escapeLiteral(workspaceId), count)) await client.query(statement);
  } finally {
    await client.end();
  }
}

const NOTICE_SUBJECT = 'Your daily report';
const NOTICE_SENDER = 'noreply@shop.test';

/** What tests need to know of a mailbox that was filled so. */
export const largeMailbox: LargeMailbox = {
  noticeSubject: NOTICE_SUBJECT,
  noticeSender: NOTICE_SENDER,
  longThreadId: 'th_long',
  ownAddress: 'own7@inbox.test',
};

const { every, ofTen, ofHundred, ofThousand, former, rare } = largeMailboxWords;
const BODY = `concat_ws(' ', '${every}', case when n % 10 = 3 then '${ofTen}' end, case when n % 100 = 7 then '${ofHundred}' end,
  case when n % 1000 = 11 then '${ofThousand}' end,
  case when created_at < timestamptz '2023-11-01' + interval '365 days' and n % 5 = 1 then '${former}' end,
  case when n in (500, 5000, 19000) then '${rare}' end,
  (select string_agg('w' || (power(((n::bigint * 7919 + k * 104729) % 1000003) / 1000003.0::double precision, 3) * 20000)::integer, ' ')
    from generate_series(1, 40) k), '')`;

/**
 * n of a plan row decides all. Threads begin at a moment of three years and last some days; ids sort by time as real ones do.
 * Every fifth message was sent by the user, every third received one is unread.
 */
function fillStatements(workspaceId: string, count: number): string[] {
  return [
    `create temporary table plan as
   with shape as (
     select n, case when n <= ${count} / 100 then 'th_long' when n <= ${count} * 11 / 100 then 'th_notice_' || n
                    else 'th_' || md5('thread ' || (n::bigint * 7919 % greatest(1, ${count} * 89 / 300))) end as thread_id,
            n > ${count} / 100 and n <= ${count} * 11 / 100 as is_notice
     from generate_series(1, ${count}) n
   ), dated as (
     select *, ('x' || substr(md5(thread_id), 1, 7))::bit(28)::integer as seed from shape
   ), timed as (
     select *, date_trunc('milliseconds', timestamptz '2023-11-01' + case when thread_id = 'th_long'
         then (n::double precision / (${count} / 100)) * interval '1095 days'
         else seed::double precision / (1 << 28) * interval '1080 days' + (n::bigint * 104729 % 1000000) / 1e6 * interval '10 days' end) as created_at
     from dated
   )
   select *, 'em_' || lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || substr(md5('mail ' || n), 1, 20) as id,
     'own' || seed % 40 || '@inbox.test' as own_address,
     case when is_notice then '${NOTICE_SENDER}' else 'person' || seed % 5000 || '@corp' || seed % 300 || '.test' end as other,
     n % 5 = 0 and not is_notice as is_sent,
     case when is_notice then '${NOTICE_SUBJECT}' when thread_id = 'th_long' then 'Standing meeting'
          else 'About ' || substr(md5(thread_id), 1, 8) || ' and the ' || substr(md5(thread_id), 9, 6) || ' matter' end as subject,
     row_number() over (partition by thread_id order by created_at, n) - 1 as position
   from timed`,
    // Ids tie with created_at, so positions follow (created_at, id).
    `update plan p set position = q.position from (
     select n, row_number() over (partition by thread_id order by created_at, id) - 1 as position from plan
     ) q
   where q.n = p.n and q.position <> p.position`,
    `analyze plan`,
    `insert into email (workspace_id, id, type, status, created_at, own_address, own_domain, message_id, subject, base_subject, from_name,
     from_address, from_text, to_addresses, cc_addresses, preview, date, is_read, is_archived, thread_id, thread_position,
     thread_reason)
   select ${workspaceId}, id, case when is_sent then 'sent' else 'received' end, 'delivered', created_at, own_address, 'inbox.test',
     '<' || n || '@mail.test>', case when position > 0 then 'Re: ' else '' end || subject, subject, 'Some Person',
     case when is_sent then own_address else other end, 'Some Person <' || case when is_sent then own_address else other end || '>',
     array[case when is_sent then other else own_address end], '{}', left(repeat(md5(id), 5), 150), created_at,
     is_sent or n % 3 <> 0, false, thread_id, position, case when position = 0 then 'new' else 'header' end
   from plan order by created_at, id`,
    `insert into email_content (workspace_id, email_id, headers, addresses, in_reply_to, reference_ids, text_body, cleaned_text, attachments, parser_version)
   select ${workspaceId}, id, jsonb_build_array(jsonb_build_array('subject', subject), jsonb_build_array('message-id', '<' || n || '@mail.test>'),
       jsonb_build_array('received', repeat(md5(id || 'r'), 8)), jsonb_build_array('dkim-signature', repeat(md5(id || 'd'), 10))),
     jsonb_build_object('from', jsonb_build_object('text', other, 'addresses', jsonb_build_array(jsonb_build_object('name', 'Some Person', 'address', other))),
       'to', jsonb_build_object('text', own_address, 'addresses', jsonb_build_array(jsonb_build_object('name', null, 'address', own_address))),
       'cc', null, 'bcc', null, 'replyTo', null),
     case when position > 0 then array['<parent' || n || '@mail.test>'] else '{}' end, '{}', ${BODY} || repeat(md5(id) || ' ', 8), repeat(md5(id) || ' ', 9), '[]', 1
   from plan order by created_at, id`,
    `insert into route (workspace_id, email_id, created_at, threaded_at, decided_at, outcome)
   select ${workspaceId}, id, created_at, created_at, created_at, 'stored' from plan where not is_sent`,
    `insert into thread_message_id (workspace_id, message_id, thread_id) select ${workspaceId}, '<' || n || '@mail.test>', thread_id from plan`,
    `insert into thread_subject (workspace_id, base_subject_sha256, participant, is_reply, date, email_id, thread_id)
   select ${workspaceId}, sha256(convert_to(lower(subject), 'UTF8')), other, false, created_at, id, thread_id from plan where position = 0`,
    `insert into thread (workspace_id, id, root_message_id, normalized_subject, participant_emails, participant_names, search_text, message_count,
     received_count, unread_count, archived_count, latest_email_id, last_message_at, created_at)
   select ${workspaceId}, thread_id, '<' || min(n) || '@mail.test>', min(subject), array[min(other), min(own_address)],
     array['Some Person <' || min(other) || '>', min(own_address)], lower(min(subject)) || E'\\n' || min(other) || E'\\n' || min(own_address), count(*),
     count(*) filter (where not is_sent), count(*) filter (where not is_sent and n % 3 = 0), 0,
     (array_agg(id order by created_at desc, id desc))[1], max(created_at), min(created_at)
   from plan group by thread_id order by max(created_at)`,
    `with counted as (select *, 1 as delta from email where workspace_id = ${workspaceId}) ${countEmailsSql('counted')}`,
    `drop table plan`,
    `vacuum analyze email`,
    `vacuum analyze email_content`,
    `vacuum analyze thread`,
    `vacuum analyze thread_message_id`,
    `vacuum analyze thread_subject`,
    `analyze`,
  ];
}
