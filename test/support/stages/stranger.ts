import { queryOnce } from '../cluster/cluster.ts';
import type { DomainAccount } from '../servers/service.ts';

const LISTS = [
  '/emails',
  '/mail',
  '/mail/threads',
  '/emails/receiving',
  '/endpoints',
  '/domains',
  '/email-addresses',
  '/events',
];
const BY_EMAIL = [
  '',
  '/html',
  '/checks',
  '/raw',
  '/route',
  '/timeline',
  '/deliveries',
  '/attachments',
  '/attachments.zip',
  '/attachments/0/preview',
].map((part) => (id: string) => `/emails/${id}${part}`);

/**
 * Returns what the stranger sees of another account's mail (invariant I5): a list that names an id of it, an email or thread that is
 * answered by anything but 404. Looks at the oldest and the newest emails.
 */
export async function seenByStranger(
  stranger: DomainAccount,
  workspaceId: string,
  databaseUrl: string,
): Promise<string[]> {
  const rows = await queryOnce<{ id: string; thread_id: string }>(
    databaseUrl,
    `(select id, thread_id from email where workspace_id = $1 and thread_id is not null order by id limit 2)
     union (select id, thread_id from email where workspace_id = $1 and thread_id is not null order by id desc limit 2)`,
    [workspaceId],
  );
  if (rows.length === 0) throw new Error('there is no mail that a stranger could see');
  const ids = rows.flatMap(({ id, thread_id: threadId }) => [id, threadId]);
  const seen: string[] = [];
  for (const list of LISTS) {
    const { status, body } = await stranger.call('GET', list);
    const text = JSON.stringify(body);
    if (status !== 200) seen.push(`GET ${list}: ${status}`);
    for (const id of [workspaceId, ...ids]) if (text.includes(id)) seen.push(`GET ${list} names ${id}`);
  }
  const routes = rows.flatMap(({ id, thread_id: threadId }) => [
    ...BY_EMAIL.map((route) => route(id)),
    `/mail/${id}`,
    `/mail/threads/${threadId}`,
  ]);
  for (const route of routes) {
    const { status } = await stranger.call('GET', route);
    if (status !== 404) seen.push(`GET ${route}: ${status}`);
  }
  return seen;
}
