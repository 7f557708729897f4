import type { InvitedRole, Role } from '../../../core/accounts/roles.ts';
import { createAccount } from '../../../db/queries/accounts/account.ts';
import type { MailboxOptions, TestMailbox } from '../rows/routing-rows.ts';
import type { TestGateway } from '../servers/gateway.ts';
import { type BrowserSession, openBrowser } from './browser-session.ts';
import { readServiceMail } from './service-mail.ts';

export const TEAM_PASSWORD = 'correct horse battery';

/** A person who is signed in. */
export interface TeamPerson {
  email: string;
  personId: string;
  browser: BrowserSession;
}

/** A workspace with a mailbox, and persons who join it by invitations. */
export interface TeamStage {
  box: TestMailbox;
  owner: TeamPerson;
  signIn: (email: string, password?: string) => Promise<BrowserSession>;
  /** creates a person with a workspace of their own */
  makePerson: () => Promise<TeamPerson>;
  invite: (body: Record<string, unknown>, by?: BrowserSession) => ReturnType<BrowserSession['rest']>;
  resend: (id: string, by?: BrowserSession) => ReturnType<BrowserSession['rest']>;
  /** returns the token of the last invitation to an address, as it was returned or mailed */
  readToken: (email: string) => Promise<string>;
  accept: (browser: BrowserSession, token: string) => ReturnType<BrowserSession['auth']>;
  /** creates a person and makes them a member, in a session of the workspace */
  makeMember: (role: InvitedRole, more?: Record<string, unknown>) => Promise<TeamPerson>;
  /** inserts an API key with full rights that a person created */
  insertPersonKey: (person: TeamPerson) => Promise<string>;
}

/** Opens a workspace on a gateway; `name` is part of the addresses of its persons. */
export async function openTeam(
  gateway: TestGateway,
  name: string,
  mailbox: Partial<MailboxOptions> = {},
): Promise<TeamStage> {
  let persons = 0;

  async function signIn(email: string, password = TEAM_PASSWORD): Promise<BrowserSession> {
    const browser = openBrowser(gateway.app);
    const response = await browser.auth('POST', '/sign-in/email', { email, password });
    if (response.statusCode !== 200) throw new Error(response.body);
    return browser;
  }
  async function makePerson(): Promise<TeamPerson> {
    const email = `person${persons++}@${name}.test`;
    const made = await createAccount(gateway.owner, { email, password: TEAM_PASSWORD, apiKey: null, mailbox: null });
    if (!('workspaceId' in made)) throw new Error(made.outcome);
    // Each signs in from a machine of their own, as far as attempts are counted.
    await gateway.owner.pool.query('delete from auth_rate_limit');
    return { email, personId: made.workspaceId, browser: await signIn(email) };
  }
  const owner = await makePerson();
  const box = await gateway.mailbox({ ...mailbox, workspaceId: owner.personId, domain: `${name}.test` });

  const handed = new Map<string, string>();
  const send = async (by: BrowserSession, path: string, body: object) => {
    const sent = await by.rest('POST', path, {}, body);
    const { email, accept_url: url } = sent.json();
    if (sent.statusCode === 200 && url !== null) handed.set(email, url);
    return sent;
  };
  const invite: TeamStage['invite'] = (body, by = owner.browser) => send(by, '/invitations', body);
  const accept: TeamStage['accept'] = (browser, token) => browser.auth('POST', '/accept-invitation', { token });
  async function readToken(email: string): Promise<string> {
    const sent = handed.get(email) ?? (await readServiceMail(gateway.owner, email)).at(-1) ?? '';
    return /http:\/\/postroom\.test\/invitation#([\w-]{43})/.exec(sent)?.[1] ?? '';
  }
  return {
    box,
    owner,
    signIn,
    makePerson,
    invite,
    resend: (id, by = owner.browser) => send(by, `/invitations/${id}/resend`, {}),
    readToken,
    accept,
    async makeMember(role, more = {}) {
      const person = await makePerson();
      const invited = await invite({ email: person.email, role, ...more });
      if (invited.statusCode !== 200) throw new Error(invited.body);
      const accepted = await accept(person.browser, await readToken(person.email));
      if (accepted.statusCode !== 200) throw new Error(accepted.body);
      return person;
    },
    async insertPersonKey({ personId }) {
      const { rows } = await gateway.owner.pool.query<{ secret: string }>(
        `with made as (select 'secret-of-' || $2 || repeat('x', 20) as secret)
         insert into api_key (id, workspace_id, name, secret_sha256, made_by_person_id)
         select 'key_of_' || $2, $1, 'test', sha256(convert_to(secret, 'UTF8')), $2 from made
         returning (select secret from made)`,
        [box.workspaceId, personId],
      );
      return rows[0]?.secret ?? '';
    },
  };
}

/** The persons of a team with one member of each role. */
export type Staff = Readonly<Record<Role, TeamPerson>>;

/** Adds a member of each role to the owner. */
export async function staffTeam(team: TeamStage): Promise<Staff> {
  return {
    owner: team.owner,
    admin: await team.makeMember('admin'),
    developer: await team.makeMember('developer'),
    agent: await team.makeMember('agent'),
    viewer: await team.makeMember('viewer'),
  };
}
