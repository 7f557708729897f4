import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSignInLink } from '../../../db/queries/accounts/sign-in-link.ts';
import { tools } from '../../../gateway/mcp/tools.ts';
import { isQuick } from '../../support/chaos-figures.ts';
import { type Holdings, makeHoldings, readDigests, workspaceTables } from '../../support/rows/holdings.ts';
import { openTestGateway, type TestGateway } from '../../support/servers/gateway.ts';
import { connectInjected } from '../../support/servers/mcp-client.ts';
import { openBrowser } from '../../support/stages/browser-session.ts';
import { oneFor, sampleFor } from '../../support/stages/isolation-sweep.ts';
import { openOauthStage } from '../../support/stages/oauth-stage.ts';

/** Arguments of each tool in which an ID, an address or a domain is looked up, and the arguments that it needs beside them. */
const PLACES: Record<string, { fields: string[]; beside?: Record<string, unknown> }> = {
  who_am_i: { fields: [] },
  search_threads: { fields: ['domain', 'address', 'label', 'search', 'cursor'] },
  read_thread: { fields: ['thread_id'] },
  search_emails: { fields: ['domain', 'address', 'search', 'cursor'] },
  read_email: { fields: ['email_id'] },
  read_attachment: { fields: ['email_id'], beside: { index: 0 } },
  wait_for_email: { fields: ['address', 'domain'], beside: { timeout: 0 } },
  list_labels: { fields: [] },
  send_email: { fields: ['from', 'claim_token'], beside: { to: 'ann@example.org', subject: 'Hello', text: 'Hi' } },
  reply_to_email: { fields: ['email_id', 'from'], beside: { to: 'ann@example.org', text: 'Hi' } },
  forward_email: { fields: ['email_id', 'from'], beside: { to: 'ann@example.org' } },
  reschedule_email: { fields: ['email_id'], beside: { scheduled_at: '2100-01-01T00:00:00Z' } },
  cancel_email: { fields: ['email_id'] },
  create_draft: { fields: ['original_email_id'], beside: { kind: 'reply', text: 'Hi' } },
  list_drafts: { fields: ['thread_id', 'original_email_id', 'cursor'] },
  read_draft: { fields: ['draft_id'] },
  update_draft: { fields: ['draft_id'], beside: { version: 1, text: 'Hi' } },
  delete_draft: { fields: ['draft_id'] },
  send_draft: { fields: ['draft_id'], beside: { version: 1 } },
  review_email: { fields: ['email_id'] },
  approve_email: { fields: ['email_id'] },
  unsubscribe_from_list: { fields: ['email_id'] },
  reject_email: { fields: ['email_id'] },
  label_threads: { fields: ['thread_ids'], beside: { add_labels: ['swept'] } },
  archive_threads: { fields: ['thread_ids'] },
  mark_threads_read: { fields: ['thread_ids'] },
  trash_threads: { fields: ['thread_ids'] },
  claim_thread: { fields: ['thread_id'], beside: { holder: 'swept' } },
  release_thread: { fields: ['thread_id'], beside: { claim_token: 'clm_00000000' } },
  list_thread_notes: { fields: ['thread_id'] },
  mark_spam: { fields: ['email_id'] },
  mark_not_spam: { fields: ['email_id'] },
  assign_thread: { fields: ['thread_id'], beside: { assignee: null } },
  reply_to_event: { fields: ['email_id'], beside: { response: 'accepted' } },
  snooze_thread: { fields: ['thread_id'], beside: { until: null } },
  remind_of_thread: { fields: ['thread_id'], beside: { at: null } },
  add_thread_note: { fields: ['thread_id'], beside: { text: 'swept' } },
  suppress_address: { fields: [], beside: { address: 'swept@example.org' } },
  list_suppressions: { fields: ['search', 'cursor'] },
  remove_suppression: { fields: ['id_or_address'] },
  create_reply_address: { fields: ['domain', 'thread_id', 'deliver_to'] },
  list_reply_addresses: { fields: ['domain', 'cursor'] },
  revoke_reply_address: { fields: ['reply_address_id'] },
  list_refusals: { fields: ['search', 'recipient', 'cursor'] },
};

/** Fields for which one's own value has the same result as an unknown one, each with the reason. */
const SAME_FOR_OWN: Record<string, string> = {
  'search_threads label': 'labels are names, and neither account has one with the name of an ID',
  'search_threads cursor': 'no ID is a cursor',
  'search_emails cursor': 'no ID is a cursor',
  'list_drafts cursor': 'no ID is a cursor',
  'list_suppressions cursor': 'no ID is a cursor',
  'list_refusals cursor': 'no ID is a cursor',
  'list_reply_addresses cursor': 'no ID is a cursor',
  'send_email claim_token': 'the email replies to no thread',
};

/** Arguments that a tool needs beside the one that is swept, with one's own value. */
const NEEDED: Record<string, string[]> = {
  reply_to_email: ['from', 'email_id'],
  forward_email: ['from', 'email_id'],
  create_reply_address: ['domain'],
};

const isLast = (tool: string): boolean => ['delete_draft', 'trash_threads', 'mark_spam'].includes(tool);

const UNKNOWN = '00000000000070008000000000000000';
const UNKNOWN_NAMES = ['nowhere.example', 'hello@nowhere.example'];

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await openTestGateway({ config: { rateLimitPerSecond: 0 } });
});
afterAll(() => gateway?.close());

/** Allows a client of OAuth everything, and returns its token. */
async function connectGrant({ mailbox }: Holdings): Promise<string> {
  const browser = openBrowser(gateway.app);
  const token = await makeSignInLink(gateway.owner, `${mailbox.workspaceId}@account.test`);
  const signedIn = await browser.auth('POST', '/sign-in/link', { token });
  expect(signedIn.statusCode, signedIn.body).toBe(200);
  return (await openOauthStage(gateway).connect(browser, { level: 'everything' })).access_token;
}

test('every tool is in the sweep', () => {
  expect(Object.keys(PLACES).toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
});

describe.each(['key', 'client of OAuth'])('with a %s', (kind) => {
  let mine: Holdings;
  let theirs: Holdings;
  let client: Client;
  /** an email that can be replied to */
  let received: string;
  let changedTables: () => Promise<string[]>;

  beforeAll(async () => {
    [mine, theirs] = [await makeHoldings(gateway), await makeHoldings(gateway)];
    client = await connectInjected(gateway, kind === 'key' ? mine.mailbox.apiKey : await connectGrant(mine));
    const list = await gateway.call(
      mine.mailbox.apiKey,
      'GET',
      '/emails?type=received&status=all&limit=1&time_range=all',
    );
    received = list.json().data[0].id;
    const tables = await workspaceTables(gateway.actor);
    let before = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
    changedTables = async () => {
      const now = await readDigests(gateway.actor, tables, theirs.mailbox.workspaceId);
      const changed = tables.filter((table) => now.get(table) !== before.get(table));
      before = now;
      return changed;
    };
  });
  afterAll(() => client?.close());

  // What deletes comes last: the others need what there is.
  test.each(Object.keys(PLACES).toSorted((a, b) => Number(isLast(a)) - Number(isLast(b))))(
    '%s treats IDs and names of another account like unknown ones',
    async (tool) => {
      const { fields, beside = {} } = PLACES[tool] ?? { fields: [] };
      const { address } = mine.mailbox;
      const needed = { from: address, email_id: received, domain: address.slice(address.indexOf('@') + 1) };
      const isNeeded = (name: string) => (NEEDED[tool] ?? []).includes(name) && !(name in beside);
      const defaults = Object.fromEntries(Object.entries(needed).filter(([name]) => isNeeded(name)));
      const secrets = [...theirs.ids.values()].flat().concat(theirs.names, theirs.mailbox.workspaceId);
      for (const field of fields) {
        const place = `${tool} ${field}`;
        const sample = () =>
          sampleFor(place, theirs, [oneFor(place, theirs)]).concat(theirs.names, theirs.mailbox.workspaceId);
        const foreign = isQuick ? sample() : secrets;
        const call = async (value: string) => {
          const given = { ...defaults, ...beside, [field]: field.endsWith('_ids') ? [value] : value };
          const { structuredContent, content, isError } = await client.callTool({ name: tool, arguments: given });
          const said = JSON.stringify([isError ?? false, structuredContent, content]);
          const domain = value.split('@').at(-1) ?? value;
          return said
            .replaceAll(value, 'GIVEN')
            .replaceAll(domain, 'GIVEN')
            .replaceAll(/\b(?:begin|end) [\w-]{12,}/g, 'MARKER')
            .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'INSTANT');
        };
        const unknown = new Map<string, string>();
        const unknownLike = async (value: string) => {
          const prefix = /^([a-z]+)_/.exec(value)?.[1];
          const name = UNKNOWN_NAMES[value.includes('@') ? 1 : 0] ?? '';
          const like = prefix === undefined ? name : `${prefix}_${UNKNOWN}`;
          unknown.set(like, unknown.get(like) ?? (await call(like)));
          return unknown.get(like);
        };
        for (const value of foreign) {
          const said = await call(value);
          expect(said, `${field} ${value}`).toBe(await unknownLike(value));
          expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
        }
        const own = [oneFor(place, mine), ...mine.ids.values()].flat().concat(mine.names);
        let isTold = false;
        for (const value of own) isTold ||= (await call(value)) !== (await unknownLike(value));
        expect(isTold, `whether ${field} finds what is one's own`).toBe(!(place in SAME_FOR_OWN));
      }
      expect(await changedTables()).toEqual([]);
    },
  );

  test('resources of another account are treated like unknown ones', async () => {
    const read = (id: string, place: string) =>
      client.readResource({ uri: `postroom://emails/${id}/${place}` }).then(
        () => 'found',
        (error: Error) => error.message.replaceAll(id, 'GIVEN'),
      );
    for (const place of ['raw', 'attachments/0']) {
      const unknown = await read(`em_${UNKNOWN}`, place);
      for (const id of theirs.ids.get('em') ?? []) expect(await read(id, place)).toBe(unknown);
    }
    const own = await Promise.all((mine.ids.get('em') ?? []).map((id) => read(id, 'raw')));
    expect(own).toContain('found');
  });
});
