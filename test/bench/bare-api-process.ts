import { randomUUID } from 'node:crypto';
import { fastify } from 'fastify';
import pg from 'pg';

export interface BareApiOrder {
  /** of an empty database of its own */
  databaseUrl: string;
  /** mails of the list and the search */
  mails: number;
}

/** Mails of one response. */
const PAGE = 25;

/**
 * The least that a REST service on Fastify and pg does, in a process of its own, both as they come. POST /mails is one insert of the whole
 * body, committed before the reply; GET /mails returns the newest mails by an index; GET /search the newest with a word, by a full-text
 * index. No user, no check, no shape.
 */
process.on('message', (order: BareApiOrder) => {
  void serve(order).then((port) => process.send?.({ port }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function serve({ databaseUrl, mails }: BareApiOrder): Promise<number> {
  const pool = new pg.Pool({ connectionString: databaseUrl });
  await pool.query('create table message (id uuid primary key, created_at timestamptz default now(), body text)');
  await fill(pool, mails);
  const app = fastify();
  app.post('/mails', async (request) => {
    const id = randomUUID();
    const values = [id, JSON.stringify(request.body)];
    await pool.query({ name: 'insert', text: 'insert into message (id, body) values ($1, $2)', values });
    return { id };
  });
  const columns = 'id, created_at, subject, sender, preview';
  app.get('/mails', async () => {
    const text = `select ${columns} from mail order by created_at desc limit ${PAGE}`;
    return { data: (await pool.query({ name: 'list', text })).rows };
  });
  app.get<{ Querystring: { search: string } }>('/search', async ({ query }) => {
    const text = `select ${columns} from mail where words @@ to_tsquery('simple', $1) order by created_at desc limit ${PAGE}`;
    return { data: (await pool.query({ name: 'search', text, values: [query.search] })).rows };
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}

/** As many mails as the large mailbox has, with the same words: 40 of 20,000, some of them common. */
async function fill(pool: pg.Pool, count: number): Promise<void> {
  await pool.query(`
    create table mail as
    select n as id, timestamptz '2023-11-01' + n * interval '10 minutes' as created_at, 'About ' || md5(n::text) as subject,
      'person' || n % 5000 || '@corp.test' as sender, left(repeat(md5(n::text), 5), 150) as preview,
      to_tsvector('simple', (select string_agg('w' || (power(((n * 7919 + k * 104729) % 1000003) / 1000003.0::double precision, 3) * 20000)::integer, ' ')
        from generate_series(1, 40) k)) as words
    from generate_series(1, ${count}::bigint) n`);
  await pool.query('create index on mail (created_at); create index on mail using gin (words)');
  await pool.query('vacuum analyze mail');
}
