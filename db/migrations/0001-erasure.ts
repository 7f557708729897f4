/** Accounts that were erased: nothing of them is left but that. Their ids are never given again. */
export const ERASURE = `
  create table erased_account (
    id text primary key,
    erased_at timestamptz(3) not null
  );
`;
