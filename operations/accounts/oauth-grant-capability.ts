import { z } from 'zod';
import { GRANT_LEVELS } from '../../core/accounts/oauth-grant.ts';
import { named, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { listOauthGrants, type OauthGrant, revokeOauthGrant } from './oauth-grants.ts';

const grant = z
  .object({
    object: restLiteral('oauth_grant'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({
      description: 'ID of the grant. Logged requests, sent mail and the audit log name it.',
    }),
    clientId: z.string().meta({ description: 'ID of the program: one that it got here, or the URL of its document.' }),
    client: z
      .object({
        name: z.string().meta({ description: 'Name of the program. It chose the name itself.' }),
        logoUri: restOnly(z.string().nullable()),
        host: z
          .string()
          .meta({ description: 'Where the access was sent to: a host, a program on a computer, or a terminal.' }),
      })
      .meta({ id: 'OauthGrantClient', description: 'A program that has access.' }),
    scopes: z.array(z.string()).meta({ description: 'The level, as a scope of OAuth.' }),
    level: oneOf(GRANT_LEVELS, {
      name: 'OauthLevel',
      description: 'What a program is allowed to do.',
      values: {
        read: 'Read mail and settings.',
        send: 'Also write drafts, and send. Each email waits for approval.',
        everything: 'All that the role of the person allows.',
      },
    }).meta({ description: 'What the program is allowed to do.' }),
    resource: z.string().meta({ description: 'The URL that the access is for: the service, or its MCP server.' }),
    domains: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only domains whose mail it can access, besides the addresses. Null: all.' }),
    addresses: z
      .array(z.string())
      .nullable()
      .meta({ description: 'The only addresses whose mail it can access, besides the domains. Null: all.' }),
    person: z.string().nullable().meta({ description: 'Address of the person who allowed it.' }),
    isYours: z.boolean().meta({ description: 'Whether the person of the request allowed it.' }),
    createdAt: z.date().meta({ description: 'When it was allowed.' }),
    lastUsedAt: z.date().nullable().meta({ description: 'When it was last used, in UTC. Null: never.' }),
    revokedAt: z.date().nullable().meta({ description: 'When the access was ended. Null in lists.' }),
    revokedReason: z.string().nullable().meta({ description: 'Why the access was ended. Null in lists.' }),
    lastUsedFrom: z.string().nullable().meta({ description: 'IP address of its last use. Null: not known.' }),
  })
  .meta({ id: 'OauthGrant', description: 'The access of a program that a person allowed by OAuth.' });

// The fields of the `resend` client's OAuthGrant are among those above.

const show = ({ reach, personEmail, name, clientHost: host, ...row }: OauthGrant, revokedAt: Date | null = null) => ({
  ...row,
  client: { name, logoUri: null, host },
  scopes: [row.level],
  revokedAt,
  revokedReason: revokedAt === null ? null : 'revoked',
  person: personEmail,
  domains: reach === null ? null : reach.domains.map(({ name }) => name),
  addresses: reach === null ? null : [...reach.addresses],
});

export const oauthGrantCapability: Capability = {
  feature: 'Account',
  what: 'Access of programs by OAuth',
  tag: 'API keys',
  path: '/oauth/grants',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'read',
      operationId: 'listOauthGrants',
      field: 'oauthGrants',
      summary: 'List programs with access',
      description:
        'Returns the programs that got access by OAuth and still have it, newest first. With the right to manage keys those of all members, otherwise your own. At most 100.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(grant).meta({ id: 'OauthGrantList' }),
      isOfDomain: true,
      errors: [],
      run: async (context) => (await listOauthGrants(context)).map((row) => show(row)),
    }),
    defineAction({
      access: 'read',
      operationId: 'revokeOauthGrant',
      field: 'revokeOauthGrant',
      summary: 'End the access of a program',
      description:
        'The program loses its access at once, and on other machines within 5 seconds. What it set up stops. You can end your own grants whatever your role; those of others need the right to manage keys.',
      method: 'DELETE',
      path: '/:id',
      target: { argument: 'id', argumentDescription: 'ID of the grant.' },
      input: z.object({}),
      output: grant,
      payloadField: 'grant',
      isOfDomain: true,
      errors: [],
      run: async (context, _input, id) => show(await revokeOauthGrant(context, id), context.now()),
    }),
  ],
};
