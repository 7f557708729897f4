import { z } from 'zod';
import { MAX_PICTURE_BYTES, MAX_PICTURE_SIDE } from '../../core/accounts/picture.ts';
import { INVITED_ROLES, role } from '../../core/accounts/roles.ts';
import { secretUrl } from '../../core/accounts/secret-fields.ts';
import { named, nameType, restLiteral, restOnly } from '../../core/shared/field-notes.ts';
import { oneOf } from '../../core/shared/vocabulary.ts';
import { type Capability, defineAction } from '../capability/capability.ts';
import { memberImage as image, text } from '../capability/field-shapes.ts';
import {
  createInvitation,
  INVITATION_STATUSES,
  type Invitation,
  listInvitations,
  MAX_LISTED_INVITATIONS,
  MAX_MEMBERS,
  resendInvitation,
  revokeInvitation,
  type SentInvitation,
} from './invitations.ts';
import * as members from './members.ts';

const limits = nameType(
  z.object({
    domainIds: z.array(z.string()).meta({ description: 'IDs of domains.' }),
    addresses: z.array(z.string()).meta({ description: 'Addresses in lowercase.' }),
  }),
  { type: 'MemberLimits', description: 'The only domains and addresses whose mail a member sees and sends.' },
);

const isApprover = z.boolean().meta({ description: 'Whether the member approves mail, whatever the role.' });

const member = z
  .object({
    object: restLiteral('member'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the person.' }),
    email: z.string().meta({ description: 'The address that the person signs in with.' }),
    name: z.string().meta({ description: 'Name of the person; may be empty.' }),
    image,
    role: role.meta({ description: 'What the member may do.' }),
    isApprover,
    limits: limits.nullable().meta({ description: 'What the member is limited to. Null: nothing.' }),
    joinedAt: z.date().meta({ description: 'When the person joined the workspace.' }),
    apiKeys: z
      .number()
      .int()
      .meta({ description: 'Number of API keys that the member created and that are not revoked.' }),
    isYou: z.boolean().meta({ description: 'Whether this is the person of the request.' }),
  })
  .meta({ id: 'Member', description: 'A person who is a member of the workspace.' });

const showMember = ({ personId: id, keys: apiKeys, ...rest }: members.Member) => ({
  ...rest,
  id,
  apiKeys,
  limits: showLimits(rest.limits),
});

const showLimits = (held: members.Member['limits']) =>
  held === null ? null : { domainIds: [...held.domainIds], addresses: [...held.addresses] };

// A misspelled limit would give access to all mail, so unknown fields are refused.
const given = z.strictObject({
  role: oneOf(INVITED_ROLES, {
    name: 'InvitedRole',
    description: 'A role that can be given to a member.',
    values: {
      admin: 'Members, domains, policies and retention, and all that a developer may do.',
      developer: 'API keys, endpoints and logged requests, and all that an agent may do.',
      agent: 'Reads, sends and organizes mail.',
      viewer: 'Reads mail.',
    },
  }).meta({ description: 'What the member may do.' }),
  isApprover: isApprover.nullish(),
  domains: z
    .array(text)
    .nullish()
    .meta({ description: 'IDs or names of the only domains that an agent or viewer sees. Default: all.' }),
  addresses: z
    .array(text)
    .nullish()
    .meta({
      description: `The only addresses that an agent or viewer sees. Default: all. At most ${members.MAX_LIMITS} domains and addresses.`,
    }),
});

const keepsKeys = named(z.boolean().optional(), { restName: 'keep_keys' }).meta({
  description:
    'Whether the API keys that the member created, and what they set up, stay. They are then yours, with no more rights than the member had. Default: they are revoked.',
});

const target = { argument: 'id', argumentDescription: 'ID of the person.' } as const;

const workspace = z
  .object({
    object: restLiteral('workspace'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the workspace.' }),
    name: z.string().meta({ description: 'Name of the workspace.' }),
    createdAt: z.date().meta({ description: 'When the workspace was created.' }),
    members: z.number().int().meta({ description: 'Number of members.' }),
  })
  .meta({ id: 'Workspace', description: 'What mail, domains, keys and members belong to.' });

export const workspaceCapability: Capability = {
  feature: 'Account',
  what: 'The workspace',
  tag: 'Members',
  path: '/workspace',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'readAccount',
      operationId: 'getWorkspace',
      field: 'workspace',
      summary: 'Retrieve the workspace',
      description: 'Returns the workspace of the request.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: workspace,
      errors: [],
      run: (context) => members.readWorkspace(context),
    }),
    defineAction({
      access: 'members',
      operationId: 'updateWorkspace',
      field: 'updateWorkspace',
      summary: 'Rename the workspace',
      description: 'Changes the name that members see.',
      method: 'PATCH',
      path: '',
      input: z.object({
        name: text.meta({ description: `Name, 1 to ${members.MAX_WORKSPACE_NAME_LENGTH} characters.` }),
      }),
      inputName: 'UpdateWorkspace',
      example: { name: 'Support' },
      output: workspace,
      payloadField: 'workspace',
      errors: [],
      run: (context, { name }) => members.renameWorkspace(context, name),
    }),
  ],
};

const person = nameType(
  z.object({
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the person.' }),
    email: z.string().meta({ description: 'The address that the person signs in with.' }),
    name: z.string().meta({ description: 'Name of the person; may be empty.' }),
    image,
    role: role.meta({ description: 'The role in the workspace of the session.' }),
    isApprover,
    rights: z
      .array(z.string())
      .meta({ description: 'What the person may do in the workspace, as docs/teams.md lists it.' }),
    isLimited: z.boolean().meta({ description: 'Whether the person is limited to domains or addresses.' }),
    workspaceName: z.string().meta({ description: 'Name of the workspace of the session.' }),
    isInTeam: z.boolean().meta({ description: 'Whether the workspace has other members.' }),
  }),
  { type: 'Person', description: 'The person who is signed in.' },
);

export const memberCapability: Capability = {
  feature: 'Account',
  what: 'Members',
  byHand: { rest: ['getMemberPicture'] },
  difference: 'The file of a picture is REST only',
  tag: 'Members',
  path: '/members',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'readAccount',
      operationId: 'listMembers',
      field: 'members',
      summary: 'List members',
      description: 'Returns the members of the workspace, the owner first.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(member).meta({ id: 'MemberList' }),
      errors: [],
      run: async (context) => (await members.listMembers(context)).map(showMember),
    }),
    defineAction({
      access: 'read',
      summary: 'The person of the session',
      description: 'The person who is signed in. Null for API keys.',
      method: 'GET',
      path: '',
      input: z.object({}),
      output: person,
      isOfDomain: true,
      errors: [],
      of: {
        type: 'Viewer',
        field: 'person',
        isNullable: true,
        load: async (context) => [await members.readPerson(context)],
      },
    }),
    defineAction({
      access: 'members',
      operationId: 'updateMember',
      field: 'updateMember',
      summary: 'Change a member',
      description:
        'Sets the role and the limits of a member. The owner’s role changes by a transfer only. A role that cannot create API keys revokes the keys of the member, unless you keep them.',
      method: 'PATCH',
      path: '/:id',
      target,
      input: given.extend({ keepsKeys }),
      inputName: 'UpdateMember',
      example: { role: 'agent', addresses: ['support@example.com'] },
      output: member,
      payloadField: 'member',
      errors: [409],
      run: async (context, input, id) => showMember(await members.changeMember(context, id, input)),
    }),
    defineAction({
      access: 'members',
      operationId: 'removeMember',
      field: 'removeMember',
      summary: 'Remove a member',
      description:
        'Ends the sessions of the member in this workspace at once, and revokes the API keys that the member created, unless you keep them. The owner cannot be removed.',
      method: 'DELETE',
      path: '/:id',
      target,
      input: z.object({ keepsKeys }),
      output: z
        .object({
          success: restLiteral(true),
          message: restOnly(z.string()),
          id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the person.' }),
        })
        .meta({ id: 'RemovedMember', description: 'A person who is no member any more.' }),
      errors: [409],
      async run(context, { keepsKeys: keeps = false }, id) {
        await members.removeMember(context, id, { keepsKeys: keeps });
        return { message: 'Member removed', id };
      },
    }),
    defineAction({
      access: 'ownership',
      operationId: 'transferOwnership',
      field: 'transferOwnership',
      summary: 'Transfer the ownership',
      description:
        'Makes a member the owner of the workspace. You become an admin. API keys of customers’ workspaces that you created, yourself or with a key of yours, and the SCIM token end, unless you keep them for the new owner. All other API keys of yours stay yours. Needs a dashboard session.',
      method: 'POST',
      path: '/:id/transfer',
      target,
      input: z.object({
        keepsKeys: named(z.boolean().optional(), { restName: 'keep_keys' }).meta({
          description:
            'Whether the keys of customers’ workspaces and the SCIM token stay: they are then the new owner’s. So are those of your API keys that created such a key which is still valid; from then on they can do what an admin can, and create no more keys or browser tokens for customers. Default false.',
        }),
      }),
      output: member,
      payloadField: 'member',
      errors: [409],
      run: async (context, { keepsKeys: keeps = false }, id) =>
        showMember(await members.transferOwnership(context, id, { keepsKeys: keeps })),
    }),
    defineAction({
      access: 'read',
      operationId: 'setPicture',
      field: 'setPicture',
      summary: 'Set your picture',
      description: `Replaces the picture that members of your workspaces see beside your name, or removes it. A picture is a JPEG, PNG or WebP file of up to ${MAX_PICTURE_BYTES / 1_024} KB and ${MAX_PICTURE_SIDE} pixels on each side. What a camera wrote into it, such as the place, is not stored. Needs a dashboard session.`,
      method: 'PUT',
      path: '/picture',
      input: z.object({
        content: text.nullable().meta({ description: 'The file as base64. Null removes the picture.' }),
      }),
      inputName: 'SetPicture',
      example: { content: null },
      output: z.object({ image }).meta({ id: 'SetPicture', description: 'The picture of a person.' }),
      isOfDomain: true,
      errors: [],
      run: async (context, { content }) => ({ image: await members.setPicture(context, content) }),
    }),
    defineAction({
      access: 'read',
      operationId: 'leaveWorkspace',
      field: 'leaveWorkspace',
      summary: 'Leave the workspace',
      description:
        'Ends your membership and your sessions in this workspace, and revokes the API keys that you created. The owner cannot leave. Needs a dashboard session.',
      method: 'POST',
      path: '/leave',
      input: z.object({
        workspaceId: z.string().meta({ description: 'ID of the workspace to leave, that of the session.' }),
      }),
      inputName: 'LeaveWorkspace',
      output: z
        .object({
          success: restLiteral(true),
          message: z.string().meta({ description: 'What was done.' }),
        })
        .meta({ id: 'LeftWorkspace', description: 'The workspace was left.' }),
      isOfDomain: true,
      errors: [409],
      async run(context, { workspaceId }) {
        await members.leaveWorkspace(context, workspaceId);
        return { message: 'You left the workspace' };
      },
    }),
  ],
};

const invitation = z
  .object({
    object: restLiteral('invitation'),
    id: named(z.string(), { graphqlType: 'ID' }).meta({ description: 'ID of the invitation.' }),
    email: z.string().meta({ description: 'The address that is invited, in lowercase.' }),
    role: role.meta({ description: 'The role that the member gets.' }),
    isApprover,
    limits: limits.nullable().meta({ description: 'What the member will be limited to. Null: nothing.' }),
    status: oneOf(INVITATION_STATUSES, {
      name: 'InvitationStatus',
      description: 'Whether an invitation can be accepted.',
      values: {
        open: 'It can be accepted.',
        expired: 'Its link has expired. Send it again.',
        revoked: 'It was revoked.',
        accepted: 'It was accepted.',
      },
    }).meta({ description: 'Whether it can be accepted, and if not, why.' }),
    invitedBy: z
      .string()
      .nullable()
      .meta({ description: 'Name or address of the person who sent it. Null: an API key did.' }),
    createdAt: z.date().meta({ description: 'When it was created.' }),
    sentAt: z.date().meta({ description: 'When its link was sent last.' }),
    expiresAt: z.date().meta({ description: 'When its link expires.' }),
    acceptedAt: z.date().nullable().meta({ description: 'When it was accepted. Null if it was not.' }),
    acceptUrl: z
      .string()
      .nullable()
      .meta({
        ...secretUrl,
        examples: [null],
        description:
          'The link, for you to hand over: returned once, when the invitation is created or sent again, if this service stores the mail of the address. Otherwise null, and the email has the link.',
      }),
  })
  .meta({ id: 'Invitation', description: 'An invitation of a person to the workspace.' });

const showInvitation = (held: Invitation | SentInvitation) => ({
  acceptUrl: null,
  ...held,
  invitedBy: held.invitedByName,
  limits: showLimits(held.limits),
});

const invitationTarget = { argument: 'id', argumentDescription: 'ID of the invitation.' } as const;

export const invitationCapability: Capability = {
  feature: 'Account',
  what: 'Invitations',
  tag: 'Members',
  path: '/invitations',
  restCase: 'snake',
  operations: [
    defineAction({
      access: 'members',
      operationId: 'listInvitations',
      field: 'invitations',
      summary: 'List invitations',
      description: `Returns the invitations of the workspace, newest first; up to ${MAX_LISTED_INVITATIONS}.`,
      method: 'GET',
      path: '',
      input: z.object({}),
      output: z.array(invitation).meta({ id: 'InvitationList' }),
      errors: [],
      run: async (context) => (await listInvitations(context)).map(showInvitation),
    }),
    defineAction({
      access: 'members',
      operationId: 'createInvitation',
      field: 'createInvitation',
      summary: 'Invite a person',
      description: `Sends an email with a link that works once, for 7 days, for this address only. If this service stores the mail of the address, the email has no link, and the response has it once, for you to hand over. A request cannot give a role with more rights than its own. A workspace has at most ${MAX_MEMBERS} members and open invitations.`,
      method: 'POST',
      path: '',
      input: z.strictObject({ email: text.meta({ description: 'The address of the person.' }), ...given.shape }),
      inputName: 'CreateInvitation',
      example: { email: 'ann@example.com', role: 'agent' },
      output: invitation,
      payloadField: 'invitation',
      errors: [409],
      run: async (context, input) => showInvitation(await createInvitation(context, input)),
    }),
    defineAction({
      access: 'members',
      operationId: 'resendInvitation',
      field: 'resendInvitation',
      summary: 'Send an invitation again',
      description:
        'Sends a new link, for 7 days from now, or returns it as when the invitation was created; you then need all rights of its role. The previous link stops working.',
      method: 'POST',
      path: '/:id/resend',
      target: invitationTarget,
      input: z.object({}),
      output: invitation,
      payloadField: 'invitation',
      errors: [409],
      run: async (context, _input, id) => showInvitation(await resendInvitation(context, id)),
    }),
    defineAction({
      access: 'members',
      operationId: 'revokeInvitation',
      field: 'revokeInvitation',
      summary: 'Revoke an invitation',
      description: 'The link stops working. Repeating the request changes nothing.',
      method: 'DELETE',
      path: '/:id',
      target: invitationTarget,
      input: z.object({}),
      output: invitation,
      payloadField: 'invitation',
      errors: [409],
      run: async (context, _input, id) => showInvitation(await revokeInvitation(context, id)),
    }),
  ],
};
