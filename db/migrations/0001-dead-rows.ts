/**
 * Rows whose work failed for reasons of our own: beside the rows themselves, so that a row that cannot be changed is set aside, too, and
 * rows that never fail pay nothing. Kept by db/queries/upkeep/dead-row.ts.
 */
export const DEAD_ROWS = `
  create table dead_row (
    user_id text not null,
    -- the work, see db/queries/upkeep/dead-row.ts
    step text not null,
    -- the actor that does it
    actor text not null,
    -- the id of the row: of an email, a delivery or a recipient
    subject_id text not null,
    -- tries that failed, one after another
    tries smallint not null,
    last_error text not null,
    first_failed_at timestamptz(3) not null,
    last_failed_at timestamptz(3) not null,
    -- not to be worked on before; infinity: dead
    retry_at timestamptz not null,
    -- since when it is not tried any more; null: it is tried again
    dead_at timestamptz(3),
    primary key (user_id, step, subject_id)
  );
  -- Whether anything of a step is set aside at all is asked by every claim.
  create index dead_row_step on dead_row (step, retry_at);
  create index dead_row_dead on dead_row (dead_at) where dead_at is not null;
`;
