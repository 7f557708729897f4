import { z } from 'zod';
import { SCOPES } from '../../../core/accounts/key-rights.ts';
import { hasRight } from '../../../core/accounts/rights.ts';
import { DOMAIN_STATUSES } from '../../../core/domains/domain-state.ts';
import { countSendsLeft, readAccount } from '../../../operations/accounts/account.ts';
import type { OperationContext } from '../../../operations/context.ts';
import { listDomains } from '../../../operations/domains/domains.ts';
import { listEmailAddresses } from '../../../operations/domains/email-addresses.ts';
import { access } from '../../admission/access.ts';
import { listedInWords } from '../json-schema.ts';
import { defineTool } from '../tool.ts';

/** Domains and addresses that the result lists. */
const LISTED = { limit: 50, offset: 0 };

const account = z.object({ id: z.string(), email: z.string().nullable(), name: z.string() });
const domain = z.object({ name: z.string(), status: z.enum(DOMAIN_STATUSES) });

export const whoAmI = defineTool({
  name: 'who_am_i',
  title: 'Who am I',
  description:
    'Returns the account of this API key, what the key may do, and the domains and addresses that it can send from and receive at.',
  access: access.byDocument,
  effect: 'reads own data',
  input: z.object({}),
  output: z.object({
    account: account.meta(listedInWords('Null: the key may not read it.')).nullable(),
    key: z
      .object({
        scopes: z.array(z.enum(SCOPES)),
        has_full_access: z.boolean(),
        domains: z.array(z.string()).nullable(),
        addresses: z.array(z.string()).nullable(),
      })
      .meta(
        listedInWords(
          '`scopes`; `has_full_access` to settings and keys, too; `domains` and `addresses`: the only ones it may use, null: all.',
        ),
      ),
    domains: z.array(domain.meta(listedInWords('`name`, `status`. You can send from any address of a verified one.'))),
    addresses: z.array(
      z.object({ address: z.string(), is_active: z.boolean() }).meta(listedInWords('`address`, `is_active`.')),
    ),
    is_complete: z.boolean().meta({ description: `False: there are more than ${LISTED.limit}.` }),
    sends_left: z.int().nullable().meta({ description: 'This hour. Null: no limit, or unknown.' }),
    server: z.object({ url: z.string(), version: z.string() }).meta(listedInWords('`url`, `version`.')),
  }),
  async run(context) {
    const { rights, settings } = context;
    const own = hasRight(rights, 'read') ? await readOwn(context) : NOTHING;
    return {
      ...own,
      key: {
        scopes: [...(rights.scopes ?? SCOPES)],
        has_full_access: rights.scopes === null,
        domains: rights.reach?.domains.map(({ name }) => name) ?? null,
        addresses: rights.reach === null ? null : [...rights.reach.addresses],
      },
      server: { url: settings.publicUrl, version: settings.version },
    };
  },
});

const NOTHING = { account: null, domains: [], addresses: [], is_complete: false, sends_left: null };

async function readOwn(context: OperationContext) {
  const isWhole = context.rights.reach === null;
  const [read, sendsLeft] = isWhole
    ? await Promise.all([readAccount(context), countSendsLeft(context)])
    : ([null, null] as const);
  const domains = await listDomains(context, {}, LISTED);
  const addresses = await listEmailAddresses(context, {}, LISTED);
  return {
    account: read === null ? null : { id: read.workspaceId, email: read.email, name: read.name },
    domains: domains.domains.map(({ name, status }) => ({ name, status })),
    addresses: addresses.rows.map(({ address, isActive }) => ({ address, is_active: isActive })),
    is_complete: domains.domains.length === domains.total && addresses.rows.length === addresses.total,
    sends_left: sendsLeft,
  };
}
