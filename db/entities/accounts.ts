import { defineEntity, p } from '@mikro-orm/core';
import type { Reach } from '../../core/accounts/key-rights.ts';
import type { PictureType } from '../../core/accounts/picture.ts';
import type { Quotas } from '../../core/accounts/quotas.ts';
import type { InvitedRole, Role } from '../../core/accounts/roles.ts';
import type { GroupRole, SignInMethod } from '../../core/accounts/sign-in.ts';
import type { SendPolicy } from '../../core/sending/send-policy.ts';

/** A person, who signs in and is a member of workspaces. The table has the name of better-auth's. */
export const PersonSchema = defineEntity({
  name: 'Person',
  tableName: 'person',
  properties: {
    id: p.text().primary(),
    /** lower case */
    email: p.text().unique('person_email_key'),
    name: p.text().default(''),
    /** whether the owner proved to receive mail at the address */
    emailVerified: p.boolean().default(false),
    /** the version of the picture; null: none */
    image: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    /** when the scheduling actor starts to erase the person, who is a member of no workspace; null: the person can sign in */
    eraseAt: p.datetime(3).nullable(),
    /** the workspace that the person used last, in which new sessions begin; null: the person's own */
    lastWorkspaceId: p.text().nullable(),
  },
  indexes: [{ name: 'person_erase', properties: ['eraseAt'], where: 'erase_at IS NOT NULL' }],
});

/** The picture that a person uploaded. */
export const PersonPictureSchema = defineEntity({
  name: 'PersonPicture',
  tableName: 'person_picture',
  properties: {
    personId: belongsToPerson('person_picture').primary().updateRule('no action'),
    mediaType: p.text().$type<PictureType>(),
    content: p.blob().$type<Buffer>(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  checks: [
    {
      name: 'person_picture_media_type_check',
      expression: `(media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/webp'::text]))`,
    },
    { name: 'person_picture_content_check', expression: '(octet_length(content) <= 262144)' },
  ],
});

/** The tenant: `workspace_id` of all other tables is the ID of a workspace. */
export const WorkspaceSchema = defineEntity({
  name: 'Workspace',
  tableName: 'workspace',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** when the scheduling actor starts to erase the workspace, which is closed; null: it is open */
    eraseAt: p.datetime(3).nullable(),
    /** the workspace that keeps it for a customer, and the ID that the customer has there; both null: of no customer */
    parentId: p.text().nullable(),
    clientId: p.text().nullable(),
    /** see core/accounts/quotas.ts; null: none */
    quotas: p.json<Quotas>().nullable(),
    /** since when its keys are refused and mail to it is deferred; null: it is not suspended */
    suspendedAt: p.datetime(3).nullable(),
    /** whether members need a second factor, or a passkey */
    requiresSecondFactor: p.boolean().default(false),
    /** of a workspace with a quota of stored bytes: what it has stored, when that was measured, and the last event then */
    storedBytes: p.bigint('number').defaultRaw('0'),
    storedAt: p.datetime(3).nullable(),
    storedSeq: p.bigint('number').nullable(),
  },
  indexes: [
    { name: 'workspace_erase', properties: ['eraseAt'], where: 'erase_at IS NOT NULL' },
    { name: 'workspace_parent', properties: ['parentId', 'createdAt', 'id'], where: 'parent_id IS NOT NULL' },
  ],
  uniques: [
    {
      name: 'workspace_client',
      properties: ['parentId', 'clientId'],
      where: '(erase_at IS NULL) AND (parent_id IS NOT NULL)',
    },
  ],
  checks: [{ name: 'workspace_check', expression: '((parent_id IS NULL) = (client_id IS NULL))' }],
});

const limitChecks = (table: string, roleExpression: string) => [
  { name: `${table}_check`, expression: '((domain_ids IS NULL) = (addresses IS NULL))' },
  {
    name: `${table}_check1`,
    expression: `((domain_ids IS NULL) OR (role = ANY (ARRAY['agent'::text, 'viewer'::text])))`,
  },
  { name: `${table}_role_check`, expression: roleExpression },
];

export const WorkspaceMemberSchema = defineEntity({
  name: 'WorkspaceMember',
  tableName: 'workspace_member',
  properties: {
    workspaceId: belongsToWorkspace('workspace_member').primary().updateRule('no action'),
    personId: belongsToPerson('workspace_member').primary().updateRule('no action'),
    role: p.text().$type<Role>(),
    /** whether the member approves mail, whatever the role */
    isApprover: p.boolean().default(false),
    /** the only domains and addresses that the member reads and sends from, addresses in lower case; both null: all */
    domainIds: p.array().nullable(),
    addresses: p.array().nullable(),
    joinedAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'workspace_member_person', properties: ['personId'] }],
  uniques: [{ name: 'workspace_member_owner', properties: ['workspaceId'], where: "role = 'owner'::text" }],
  checks: limitChecks(
    'workspace_member',
    `(role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'agent'::text, 'viewer'::text]))`,
  ),
});

export const WorkspaceInvitationSchema = defineEntity({
  name: 'WorkspaceInvitation',
  tableName: 'workspace_invitation',
  properties: {
    id: p.text().primary(),
    workspaceId: belongsToWorkspace('workspace_invitation'),
    /** lower case */
    email: p.text(),
    role: p.text().$type<InvitedRole>(),
    isApprover: p.boolean().default(false),
    /** as of a member */
    domainIds: p.array().nullable(),
    addresses: p.array().nullable(),
    tokenSha256: p.blob().$type<Buffer>().unique('workspace_invitation_token_sha256_key'),
    /** whether the inviter was given the present link, to hand it on, and no mail has it */
    isHanded: p.boolean().default(false),
    /** the person; null: a key did */
    invitedBy: p.text().nullable(),
    /** null: a person did in the dashboard; and the scopes with the rights of the role, which the key must keep */
    setByKeyId: p.text().nullable(),
    neededScopes: p.array().defaultRaw("'{}'"),
    createdAt: p.datetime(3).defaultRaw('now()'),
    /** when the present link was sent */
    sentAt: p.datetime(3).defaultRaw('now()'),
    expiresAt: p.datetime(3),
    revokedAt: p.datetime(3).nullable(),
    acceptedAt: p.datetime(3).nullable(),
    acceptedBy: p.text().nullable(),
  },
  indexes: [{ name: 'workspace_invitation_list', properties: ['workspaceId', 'id'] }],
  uniques: [
    {
      name: 'workspace_invitation_open',
      properties: ['workspaceId', 'email'],
      where: '(accepted_at IS NULL) AND (revoked_at IS NULL)',
    },
  ],
  checks: limitChecks(
    'workspace_invitation',
    `(role = ANY (ARRAY['admin'::text, 'developer'::text, 'agent'::text, 'viewer'::text]))`,
  ),
});

const needsFewScopes = (column: string) =>
  `((${column} IS NULL) OR COALESCE((scopes <@ '{read,send}'::text[]), false))`;

export const ApiKeySchema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.text().primary(),
    workspaceId: p
      .manyToOne(WorkspaceSchema)
      .mapToPk()
      .name('workspace_id')
      .foreignKeyName('api_key_workspace_id_fkey'),
    name: p.text(),
    secretSha256: p.blob().$type<Buffer>().unique('api_key_secret_sha256_key'),
    /** see core/accounts/key-rights.ts; null: full rights */
    scopes: p.array().nullable(),
    /** the only mail of the workspace that the key can access; null: all. Only the scopes read and send can be limited. */
    reach: p.json<Reach>().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    lastUsedAt: p.datetime(3).nullable(),
    /** address of the client that used it last */
    lastUsedFrom: p.text().nullable(),
    /** first and last characters of the secret (core/accounts/key-hint.ts); null: it is too short to show any */
    secretHint: p.text().nullable(),
    /** see core/sending/send-policy.ts; null: none. A key with a policy has at most the scopes read and send. */
    sendPolicy: p.json<SendPolicy>().nullable(),
    /** the key that created it; null: a person did */
    parentId: p.text().nullable(),
    /** the first key of the chain of keys that created it; null: a person created it, and it is the first of its family */
    familyId: p.text().nullable(),
    /** whether what it set up was stopped after it expired */
    isSettled: p.boolean().default(false),
    /** the person who created it, or the first key of its family: the key has no right that the person's role lacks; null: no member did */
    madeByPersonId: p.text().nullable(),
    /** the key of the parent that created it, or of which it descends, if the workspace is a customer's: it loses what that key loses; null: none did */
    madeByParentKeyId: p.text().nullable(),
    /** the person of the parent who created it, or the first key of its family, without a key, if the workspace is a customer's; null: none did */
    madeByParentPersonId: p.text().nullable(),
    /** the role that the person who created it had when another member, or a key, kept it: it never has more rights; null: no limit */
    mostRole: p.text().$type<Role>().nullable(),
    /** whether it is a grant of OAuth, which tokens refer to (db/entities/oauth.ts) */
    isGrant: p.boolean().default(false),
    /** whether it lost rights with a key of the parent workspace, and what it set up is still to be limited */
    isCut: p.boolean().default(false),
  },
  indexes: [
    { name: 'api_key_cut', properties: ['id'], where: 'is_cut' },
    { name: 'api_key_workspace', properties: ['workspaceId', 'id'] },
    {
      name: 'api_key_parent_maker',
      properties: ['madeByParentKeyId'],
      where: '(made_by_parent_key_id IS NOT NULL) AND (revoked_at IS NULL)',
    },
    {
      name: 'api_key_parent_person',
      properties: ['madeByParentPersonId'],
      where: '(made_by_parent_person_id IS NOT NULL) AND (revoked_at IS NULL)',
    },
    {
      name: 'api_key_maker',
      properties: ['madeByPersonId'],
      where: '(made_by_person_id IS NOT NULL) AND (revoked_at IS NULL)',
    },
    { name: 'api_key_parent', properties: ['workspaceId', 'parentId'], where: 'parent_id IS NOT NULL' },
    { name: 'api_key_unsettled', properties: ['expiresAt'], where: '(NOT is_settled) AND (revoked_at IS NULL)' },
  ],
  checks: [
    { name: 'api_key_reach_check', expression: `(reach <> '{"domains": [], "addresses": []}'::jsonb)` },
    { name: 'api_key_check', expression: needsFewScopes('reach') },
    {
      name: 'api_key_most_role_check',
      expression: `(most_role = ANY (ARRAY['owner'::text, 'admin'::text, 'developer'::text, 'agent'::text, 'viewer'::text]))`,
    },
    { name: 'api_key_check1', expression: needsFewScopes('send_policy') },
    {
      name: 'api_key_scopes_check',
      expression: `((scopes <@ '{read,send,manage,approve,workspaces}'::text[]) AND (scopes <> '{}'::text[]))`,
    },
  ],
});

export const ErasedAccountSchema = defineEntity({
  name: 'ErasedAccount',
  tableName: 'erased_account',
  properties: {
    id: p.text().primary(),
    erasedAt: p.datetime(3),
  },
});

export const AuthSessionSchema = defineEntity({
  name: 'AuthSession',
  tableName: 'auth_session',
  properties: {
    id: p.text().primary(),
    personId: belongsToPerson('auth_session'),
    /** random; the cookie contains it with a signature made with SECRET_KEY, and is invalid without the signature */
    token: p.text().unique('auth_session_token_key'),
    expiresAt: p.datetime(3),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
    ipAddress: p.text().nullable(),
    userAgent: p.text().nullable(),
    /** the active workspace; null: the person's own, or else the first that the person joined */
    workspaceId: p.text().nullable(),
    /** how its person signed in */
    method: p.text().$type<SignInMethod>().default('password'),
    /** when its person last proved to be the one who signed in */
    confirmedAt: p.datetime(3).defaultRaw('now()'),
    /** when a second factor was shown; null: not in this session */
    secondFactorAt: p.datetime(3).nullable(),
    /** the workspace whose single sign-on started it, and the only one that it opens; null: any of the person's */
    providerId: p.text().nullable(),
  },
  checks: [
    {
      name: 'auth_session_method_check',
      expression: `(method = ANY (ARRAY['password'::text, 'link'::text, 'passkey'::text, 'provider'::text]))`,
    },
  ],
  indexes: [
    { name: 'auth_session_end', properties: ['expiresAt'] },
    { name: 'auth_session_person', properties: ['personId'] },
    { name: 'auth_session_workspace', properties: ['workspaceId'], where: 'workspace_id IS NOT NULL' },
  ],
});

/**
 * provider_id 'credential': password is its scrypt hash, as salt:key in hex. 'provider:ID': account_id is issuer and subject of a person at the
 * single sign-on of a workspace, or of the service. The other columns are not used.
 */
export const AuthCredentialSchema = defineEntity({
  name: 'AuthCredential',
  tableName: 'auth_credential',
  properties: {
    id: p.text().primary(),
    personId: belongsToPerson('auth_credential'),
    accountId: p.text(),
    providerId: p.text(),
    password: p.text().nullable(),
    accessToken: p.text().nullable(),
    refreshToken: p.text().nullable(),
    idToken: p.text().nullable(),
    accessTokenExpiresAt: p.datetime(3).nullable(),
    refreshTokenExpiresAt: p.datetime(3).nullable(),
    scope: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  uniques: [
    { name: 'auth_credential_person_id_provider_id_key', properties: ['personId', 'providerId'] },
    {
      name: 'auth_credential_provider',
      properties: ['providerId', 'accountId'],
      where: `provider_id ~~ 'provider:%'::text`,
    },
  ],
});

/** The single sign-on of a workspace. */
export const SignInProviderSchema = defineEntity({
  name: 'SignInProvider',
  tableName: 'sign_in_provider',
  properties: {
    workspaceId: belongsToWorkspace('sign_in_provider').primary().updateRule('no action'),
    issuer: p.text(),
    clientId: p.text(),
    /** see core/shared/secret-box.ts */
    secretCiphertext: p.text(),
    /** whether members other than the owner can open the workspace by it only */
    isRequired: p.boolean().default(false),
    /** whether addresses count without the claim email_verified */
    trustsAddresses: p.boolean().default(false),
    groupsClaim: p.text().default('groups'),
    groupRoles: p.json<GroupRole[]>().defaultRaw(`'[]'`),
    /** of persons in none of the groups; null: they are refused */
    defaultRole: p.text().$type<InvitedRole>().nullable(),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  checks: [
    {
      name: 'sign_in_provider_default_role_check',
      expression: `(default_role = ANY (ARRAY['admin'::text, 'developer'::text, 'agent'::text, 'viewer'::text]))`,
    },
  ],
});

/** The authenticator app of a person. */
export const AuthTotpSchema = defineEntity({
  name: 'AuthTotp',
  tableName: 'auth_totp',
  properties: {
    personId: belongsToPerson('auth_totp').primary().updateRule('no action'),
    secretCiphertext: p.text(),
    /** step of the last code that was accepted, which no code of that step or an earlier one follows */
    lastStep: p.bigint('number').defaultRaw('0'),
    /** when the first code was entered; null: it is being set up */
    confirmedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A recovery code that was not used. */
export const AuthRecoveryCodeSchema = defineEntity({
  name: 'AuthRecoveryCode',
  tableName: 'auth_recovery_code',
  properties: {
    personId: belongsToPerson('auth_recovery_code').primary().updateRule('no action'),
    codeSha256: p.blob().$type<Buffer>().primary(),
  },
});

/** One-time tokens: sign-in links, password reset links, passkey challenges. identifier is the SHA-256 of the secret part. */
export const AuthVerificationSchema = defineEntity({
  name: 'AuthVerification',
  tableName: 'auth_verification',
  properties: {
    id: p.text().primary(),
    identifier: p.text(),
    value: p.text(),
    expiresAt: p.datetime(3),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [
    { name: 'auth_verification_end', properties: ['expiresAt'] },
    { name: 'auth_verification_identifier', properties: ['identifier'] },
    // for links: the id of the person
    { name: 'auth_verification_person', properties: ['value'], where: 'length(value) < 64' },
  ],
});

export const AuthPasskeySchema = defineEntity({
  name: 'AuthPasskey',
  tableName: 'auth_passkey',
  properties: {
    id: p.text().primary(),
    personId: belongsToPerson('auth_passkey'),
    name: p.text().nullable(),
    publicKey: p.text(),
    credentialId: p.text().unique('auth_passkey_credential_id_key'),
    counter: p.bigint('number'),
    deviceType: p.text(),
    backedUp: p.boolean(),
    transports: p.text().nullable(),
    aaguid: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()').nullable(),
  },
  indexes: [{ name: 'auth_passkey_person', properties: ['personId'] }],
});

/** Counts of sign-in attempts and similar (gateway/accounts/auth-attempts.ts). The key is a digest, so that the table contains no addresses. */
export const AuthRateLimitSchema = defineEntity({
  name: 'AuthRateLimit',
  tableName: 'auth_rate_limit',
  properties: {
    key: p.text().primary(),
    triedAt: p.array().$type<Date[]>().columnType('timestamptz(3)[]').defaultRaw(`'{}'`),
    lastAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'auth_rate_limit_last', properties: ['lastAt'] }],
});

export const RequestWindowSchema = defineEntity({
  name: 'RequestWindow',
  tableName: 'request_window',
  properties: {
    workspaceId: p.text().primary(),
    leases: p.text().columnType('request_lease[]'),
  },
});

/** A column of a table whose rows end with their person. */
export function belongsToPerson(table: string) {
  return p
    .manyToOne(PersonSchema)
    .mapToPk()
    .name('person_id')
    .foreignKeyName(`${table}_person_id_fkey`)
    .deleteRule('cascade');
}

/** A column of a table whose rows end with their workspace. */
export function belongsToWorkspace(table: string) {
  return p
    .manyToOne(WorkspaceSchema)
    .mapToPk()
    .name('workspace_id')
    .foreignKeyName(`${table}_workspace_id_fkey`)
    .deleteRule('cascade');
}
