import { Migration } from '@mikro-orm/migrations';

/** What the roles of the service may do once they log in by themselves (docs/decisions/0048). */
export class LoginsMigration extends Migration {
  override up(): void {
    this.addSql(`
      -- A process looks whether the schema is what it works with, and leaves the change to the owner.
      grant select on migration to postroom_gateway, postroom_actor`);
    this.addSql('revoke insert, update, delete on migration, secret_canary from postroom_actor');
    // Databases of PostgreSQL 14 and before let every role make things in the schema. Where it is not ours, its owner decides.
    this.addSql(`
      do $$ begin revoke create on schema public from public; exception when insufficient_privilege then null; end $$`);
  }
}
