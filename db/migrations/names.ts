/** The names of all migrations in the order in which they run; apart from the migrations, which need the ORM to be loaded. */
export const migrationNames = ['0001-initial'] as const;
