import { defineEntity, p } from '@mikro-orm/core';
import type { ScimDocument } from '../../core/accounts/scim/schema.ts';

/** The token by which a directory provisions the members of a workspace: at most one. */
export const ScimTokenSchema = defineEntity({
  name: 'ScimToken',
  tableName: 'scim_token',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().unique('scim_token_id_key'),
    name: p.text(),
    secretSha256: p.blob().$type<Buffer>().unique('scim_token_secret_sha256_key'),
    /** the first and last characters of the token, by which its owner recognizes it */
    hint: p.text(),
    createdAt: p.datetime(3),
    /** the person */
    createdBy: p.text(),
    /** accurate to a minute; null: not used yet */
    lastUsedAt: p.datetime(3).nullable(),
  },
});

/** A user of SCIM, and the member that it leads to. */
export const ScimUserSchema = defineEntity({
  name: 'ScimUser',
  tableName: 'scim_user',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    /** lower case */
    userName: p.text(),
    /** the address that signs in, in a domain that was verified when it was set; null: there is none */
    address: p.text().nullable(),
    isActive: p.boolean(),
    /** the attributes, see core/accounts/scim/schema.ts */
    document: p.json<ScimDocument>(),
    /** whom it made a member; null: no one */
    personId: p.text().nullable(),
    /** whether the person was created for it */
    madePerson: p.boolean().default(false),
    /** counts changes */
    version: p.integer().default(1),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
  indexes: [{ name: 'scim_user_person', properties: ['personId'], where: 'person_id IS NOT NULL' }],
  uniques: [
    { name: 'scim_user_name', properties: ['workspaceId', 'userName'] },
    { name: 'scim_user_address', properties: ['workspaceId', 'address'], where: 'address IS NOT NULL' },
  ],
});

/** A group of SCIM, without its members. */
export const ScimGroupSchema = defineEntity({
  name: 'ScimGroup',
  tableName: 'scim_group',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    /** the attributes without `members` */
    document: p.json<ScimDocument>(),
    version: p.integer().default(1),
    createdAt: p.datetime(3),
    updatedAt: p.datetime(3),
  },
});

/** A user of a group. */
export const ScimGroupMemberSchema = defineEntity({
  name: 'ScimGroupMember',
  tableName: 'scim_group_member',
  properties: {
    workspaceId: p.text().primary(),
    groupId: p.text().primary(),
    /** ID of the user of SCIM */
    memberId: p.text().primary(),
  },
  indexes: [{ name: 'scim_group_member_user', properties: ['workspaceId', 'memberId'] }],
});
