import { randomBytes } from 'node:crypto';
import type { Database } from '../../../db/connection/database.ts';

/** A row that the database refuses to take, as one that we cannot write by a fault of ours. */
export interface PoisonedRow {
  /** Takes the cause away. */
  cure(): Promise<void>;
}

/** Makes PostgreSQL refuse every insert or update of one row; `column` of it has that value. `owner` has no role. */
export async function poisonRow(
  owner: Database,
  row: { table: string; on: 'insert' | 'update'; column: string; value: string },
): Promise<PoisonedRow> {
  const name = `poison_${randomBytes(4).toString('hex')}`;
  await owner.pool.query(`
    create function ${name}() returns trigger language plpgsql as $$ begin raise exception 'a fault of ours, planted'; end $$;
    create trigger ${name} before ${row.on} on ${row.table} for each row when (new.${row.column} = '${row.value}') execute function ${name}()`);
  return {
    cure: async () => void (await owner.pool.query(`drop function ${name} cascade`)),
  };
}

/** What is known of a row that is set aside; null: nothing. */
export async function readAside(owner: Database, step: string, subjectId: string) {
  const { rows } = await owner.pool.query<{ tries: number; is_dead: boolean; wait: number | null; last_error: string }>(
    `select tries, dead_at is not null as is_dead, last_error,
       case when dead_at is null then extract(epoch from retry_at - last_failed_at)::float8 end as wait
     from dead_row where step = $1 and subject_id = $2`,
    [step, subjectId],
  );
  return rows[0] ?? null;
}
