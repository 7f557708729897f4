import { randomUUID } from 'node:crypto';
import { fastify } from 'fastify';
import pg from 'pg';

/** A statement as the service itself sends it. */
export interface BareStatement {
  text: string;
  values: unknown[];
}

export interface BareApiOrder {
  /** of a database of its own for what is posted */
  writeUrl: string;
  /** of the service's own database */
  readUrl: string;
  /** by path, what a GET answers with */
  reads: Record<string, BareStatement>;
}

/**
 * What a REST service on Fastify and pg can do at best, in a process of its own, both as they come: POST /bare is one insert of the
 * whole body, committed before the answer; each GET is one statement, its rows the answer. No user, no check, no shape.
 */
process.on('message', (order: BareApiOrder) => {
  void serve(order).then((port) => process.send?.({ port }));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function serve(order: BareApiOrder): Promise<number> {
  const [writes, reads] = [order.writeUrl, order.readUrl].map((connectionString) => new pg.Pool({ connectionString }));
  await writes?.query('create table message (id uuid primary key, created_at timestamptz default now(), body text)');
  const app = fastify();
  app.post('/bare', async (request) => {
    const id = randomUUID();
    const values = [id, JSON.stringify(request.body)];
    await writes?.query({ name: 'insert', text: 'insert into message (id, body) values ($1, $2)', values });
    return { id };
  });
  for (const [path, { text, values }] of Object.entries(order.reads))
    app.get(path, async () => ({ data: (await reads?.query({ text, values }))?.rows }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const address = app.server.address();
  return address !== null && typeof address === 'object' ? address.port : 0;
}
