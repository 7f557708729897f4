import { z } from 'zod';
import { secret } from '../../core/accounts/secret-fields.ts';
import { named, nameType, restLiteral } from '../../core/shared/field-notes.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { text } from '../capability/field-shapes.ts';
import { createScimToken, MAX_SCIM_TOKEN_NAME, readScimDirectory, revokeScimToken } from './scim-tokens.ts';

const token = nameType(
  z.object({
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the token. The audit log names it.' }),
    name: z.string().meta({ description: 'Name of the token.' }),
    hint: z.string().meta({ description: 'The first and last characters of the secret.' }),
    createdAt: z.date().meta({ description: 'When it was created.' }),
    createdBy: z
      .string()
      .nullable()
      .meta({ description: 'Address of the member who created it. Null: no member any more.' }),
    lastUsedAt: z.date().nullable().meta({ description: 'When it was last used, accurate to a minute. Null: never.' }),
  }),
  { type: 'ScimToken', description: 'The token with which a directory provisions members.' },
);

const directory = z
  .object({
    object: restLiteral('scim'),
    url: z.string().meta({ description: 'The base URL to enter in the directory.' }),
    token: token.nullable().meta({ description: 'The token. Null: there is none.' }),
    users: z.number().int().meta({ description: 'Number of users that the directory has provisioned.' }),
    groups: z.number().int().meta({ description: 'Number of groups that the directory has provisioned.' }),
    waiting: z
      .number()
      .int()
      .meta({ description: 'Number of active users who are no members: their address or a role is missing.' }),
  })
  .meta({ id: 'ScimDirectory', description: 'How a directory provisions members of the workspace by SCIM.' });

const withSecret = directory
  .extend({ secret: z.string().meta({ ...secret, description: 'The token. Shown only here.' }) })
  .meta({ id: 'NewScimDirectory', description: 'How a directory provisions members, with the new token.' });

export const scimTokenCapability: Capability = {
  feature: 'Account',
  what: 'SCIM token',
  tag: 'Members',
  path: '/scim',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'members',
      operationId: 'getScimDirectory',
      field: 'scimDirectory',
      summary: 'Retrieve the SCIM directory',
      description: 'Returns the URL for a directory, its token without the secret, and what it has provisioned.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: directory,
      errors: [],
      run: (context) => readScimDirectory(context),
    }),
    defineAction({
      access: 'ownership',
      operationId: 'createScimToken',
      field: 'createScimToken',
      summary: 'Create the SCIM token',
      description:
        'Returns a token with which a directory provisions members. The previous one stops working. Needs a dashboard session and a sign-in within the last 5 minutes.',
      method: 'POST',
      path: '/token',
      input: z.object({
        name: text.meta({ description: `Name of the directory, 1 to ${MAX_SCIM_TOKEN_NAME} characters.` }),
      }),
      inputName: 'CreateScimToken',
      example: { name: 'Company directory' },
      output: withSecret,
      payloadField: 'directory',
      errors: [],
      run: (context, { name }) => createScimToken(context, name),
    }),
    defineAction({
      access: 'ownership',
      operationId: 'revokeScimToken',
      field: 'revokeScimToken',
      summary: 'Revoke the SCIM token',
      description:
        'The token stops working at once. Members that it provisioned stay. Needs a dashboard session and a sign-in within the last 5 minutes.',
      method: 'DELETE',
      path: '/token/:id',
      target: { argument: 'id', argumentDescription: 'ID of the token.' },
      input: z.object({}),
      output: directory,
      payloadField: 'directory',
      errors: [],
      run: (context, _input, id) => revokeScimToken(context, id),
    }),
  ],
};
