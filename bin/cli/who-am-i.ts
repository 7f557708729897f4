import { z } from 'zod';
import { CommandError } from './command-error.ts';
import type { Server } from './connect.ts';

const shape = z.object({
  account: z.object({ email: z.string().nullable() }).nullable(),
  key: z.object({
    scopes: z.array(z.string()),
    has_full_access: z.boolean(),
    domains: z.array(z.string()).nullable(),
    addresses: z.array(z.string()).nullable(),
  }),
  domains: z.array(z.object({ name: z.string(), status: z.string() })),
  addresses: z.array(z.object({ address: z.string(), is_active: z.boolean() })),
  sends_left: z.number().nullable(),
  server: z.object({ url: z.string(), version: z.string() }),
});

/** What a key may do, and the server that says so. */
export type Identity = z.infer<typeof shape>;

/** Asks the server who the key is, with the tool `who_am_i` of /mcp, which accepts keys of all scopes. Throws CommandError. */
export async function whoAmI(server: Server): Promise<Identity> {
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'who_am_i', arguments: {} },
  };
  const headers = { accept: 'application/json, text/event-stream' };
  const reply = await server.post<{ result?: { structuredContent?: unknown } }>('/mcp', call, { headers });
  const identity = shape.safeParse(reply.result?.structuredContent);
  if (identity.success) return identity.data;
  throw new CommandError(`${server.url} does not respond like a Postroom server.`, {
    next: 'Check the URL: --url, POSTROOM_URL, or postroom init.',
  });
}

/** Returns the rights of a key in words. */
export function rightsInWords({ key }: Identity): string {
  const { scopes, domains, addresses } = key;
  const rights = key.has_full_access ? 'full access' : scopes.join(', ');
  const reach = [...(domains ?? []), ...(addresses ?? [])];
  return reach.length === 0 ? rights : `${rights}, only ${reach.join(', ')}`;
}
