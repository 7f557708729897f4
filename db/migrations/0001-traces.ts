/**
 * The span below which what becomes of an email is recorded, in processes and hours to come (docs/decisions/0040). Only mail whose trace is
 * recorded has a row; rows older than 7 days are removed.
 */
export const TRACES = `
  create table email_trace (
    user_id text not null,
    email_id text not null,
    -- W3C Trace Context
    trace_parent text not null,
    created_at timestamptz(3) not null default now(),
    primary key (user_id, email_id)
  );
  create index email_trace_age on email_trace (created_at);
`;
