import pg from 'pg';
import { userKey } from '../../../db/queries/search/word-vector.ts';

/** Words of a mailbox that was filled by fillLargeMailbox, by how often they stand in bodies. */
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
 * Writes the words of all emails of such a mailbox: subject, sender, recipients, and in the stead of bodies 40 words of 20,000, some of
 * which are common and most are not. The URL is of the database's owner. Takes some minutes for 1,000,000.
 */
export async function fillLargeMailboxWords(ownerUrl: string, userId: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query('set work_mem = "64MB"; set maintenance_work_mem = "1GB"; set synchronous_commit = off');
    const { rows } = await client.query<{ indexdef: string }>(
      `select indexdef from pg_indexes where indexname = 'email_words_words'`,
    );
    // Made at once in the end: adding words one by one takes many times as long.
    await client.query('drop index email_words_words');
    await client.query(fillSql(client.escapeLiteral(userId), userKey(userId)));
    await client.query(rows[0]?.indexdef ?? '');
    await client.query('vacuum analyze email_words');
  } finally {
    await client.end();
  }
}

function fillSql(user: string, key: string): string {
  // Not by to_tsvector, which would turn the key into lower case.
  const words = (text: string, place: string) =>
    `coalesce((select string_agg('${key}' || s.word || ':' || s.at || '${place}', ' ')
      from regexp_split_to_table(lower(${text}), '[^a-z0-9]+') with ordinality as s(word, at) where s.word <> '')::tsvector, '')`;
  const { every, ofTen, ofHundred, ofThousand, former, rare } = largeMailboxWords;
  return `
    insert into email_words (user_id, email_id, created_at, words)
    select ${user}, e.id, e.created_at, ${words('e.subject', 'A')} || ${words('e.from_text', 'B')}
      || ${words(`array_to_string(e.to_addresses, ' ')`, 'C')}
      || ${words(
        `concat_ws(' ', '${every}', case when e.n % 10 = 3 then '${ofTen}' end, case when e.n % 100 = 7 then '${ofHundred}' end,
          case when e.n % 1000 = 11 then '${ofThousand}' end, case when e.is_former and e.n % 5 = 1 then '${former}' end,
          case when e.n in (500, 5000, 19000) then '${rare}' end,
          (select string_agg('w' || (power(((e.n * 7919 + k * 104729) % 1000003) / 1000003.0::double precision, 3) * 20000)::integer, ' ')
            from generate_series(1, 40) k))`,
        'D',
      )}
    from (select *, substr(message_id, 2, length(message_id) - 12)::bigint as n,
        created_at < timestamptz '2023-11-01' + interval '365 days' as is_former from email
      -- no mail that came since
      where user_id = ${user} and message_id ~ '^<[0-9]+@') e`;
}
