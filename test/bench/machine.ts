import { cpus, totalmem } from 'node:os';
import pg from 'pg';

/** Returns the processors, memory and Node of this machine. */
export function machineText(): string {
  return `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}

/** Prints what the figures below are measured on. */
export function describeMachine(): void {
  console.log(`machine: ${machineText()}, ${new Date().toISOString()}`);
}

/** Prints how a PostgreSQL writes, and where. */
export async function describePostgresql(name: string, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ text: string }>(
      `select string_agg(name || '=' || setting, ' ') as text from pg_settings
       where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'shared_buffers', 'data_directory')`,
    );
    console.log(`PostgreSQL of ${name}: ${rows[0]?.text}`);
  } finally {
    await client.end();
  }
}
