import type pg from 'pg';

/** Characters of a body that searches by words look at. */
const MAX_BODY_LENGTH = 32_768;
/** Characters of each header field. */
const MAX_FIELD_LENGTH = 4_096;

/** Writes the words of emails of the user, or writes them anew. Emails without content are passed over. */
export async function writeWords(
  client: Pick<pg.ClientBase, 'query'>,
  userId: string,
  emailIds: readonly string[],
): Promise<void> {
  await client.query({ name: 'email-words', text: WRITE_SQL, values: [userId, emailIds] });
}

/** Addresses count as a whole and by their parts: `ada`, `elsewhere` and `test` find ada@elsewhere.test. */
const words = (text: string, weight: 'A' | 'B' | 'C' | 'D', length = MAX_FIELD_LENGTH) =>
  `setweight(to_tsvector('simple', left(${text}, ${length})), '${weight}')`;
const addresses = (text: string) => `${text} || ' ' || translate(${text}, '@.', '  ')`;

const WRITE_SQL = `
  insert into email_words (user_id, email_id, created_at, words)
  select e.user_id, e.id, e.created_at,
    ${words('e.subject', 'A')} || ${words(addresses('e.from_text'), 'B')}
    || ${words(addresses(`array_to_string(e.to_addresses || e.cc_addresses || coalesce(e.recipient, ''), ' ')`), 'C')}
    || ${words(`coalesce(c.text_body, regexp_replace(left(c.html_body, ${4 * MAX_BODY_LENGTH}), '<[^>]*>', ' ', 'g'), '')`, 'D', MAX_BODY_LENGTH)}
  from email e join email_content c on c.user_id = e.user_id and c.email_id = e.id
  where e.user_id = $1 and e.id = any ($2::text[])
  on conflict (user_id, email_id) do update set words = excluded.words`;
