import { defineEntity, p } from '@mikro-orm/core';
import type { CodeTerms, GrantLevel } from '../../core/accounts/oauth-grant.ts';
import { belongsToPerson, belongsToWorkspace } from './accounts.ts';

/** A client of OAuth that registered itself (RFC 7591). Anyone can register one, so it proves nothing about who runs it. */
export const OauthClientSchema = defineEntity({
  name: 'OauthClient',
  tableName: 'oauth_client',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    redirectUris: p.array(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'oauth_client_age', properties: ['createdAt'] }],
});

/** What a person allowed a client. Its rights, its person and its last use are those of the API key with the same ID. */
export const OauthGrantSchema = defineEntity({
  name: 'OauthGrant',
  tableName: 'oauth_grant',
  properties: {
    /** of the API key */
    id: p.text().primary(),
    workspaceId: belongsToWorkspace('oauth_grant'),
    clientId: p.text(),
    /** the host that the client's browser was sent back to, or the program of the device */
    clientHost: p.text(),
    level: p.text().$type<GrantLevel>(),
    /** the URL that its tokens are for (RFC 8707) */
    resource: p.text(),
  },
  indexes: [
    { name: 'oauth_grant_list', properties: ['workspaceId', 'id'] },
    { name: 'oauth_grant_client', properties: ['clientId'] },
  ],
  checks: [
    {
      name: 'oauth_grant_level_check',
      expression: `(level = ANY (ARRAY['read'::text, 'send'::text, 'everything'::text]))`,
    },
  ],
});

/** The SHA-256 of a token. A refresh token that was used stays, so that its second use shows that it was stolen. */
export const OauthTokenSchema = defineEntity({
  name: 'OauthToken',
  tableName: 'oauth_token',
  properties: {
    secretSha256: p.blob().$type<Buffer>().primary(),
    grantId: p
      .manyToOne(OauthGrantSchema)
      .mapToPk()
      .name('grant_id')
      .foreignKeyName('oauth_token_grant_id_fkey')
      .deleteRule('cascade'),
    kind: p.text().$type<'access' | 'refresh'>(),
    expiresAt: p.datetime(3),
    usedAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'oauth_token_grant', properties: ['grantId'] },
    { name: 'oauth_token_end', properties: ['expiresAt'] },
  ],
  checks: [{ name: 'oauth_token_kind_check', expression: `(kind = ANY (ARRAY['access'::text, 'refresh'::text]))` }],
});

/**
 * A code that becomes a grant once: of a redirect (RFC 6749 §4.1), which a person has decided about, or of a device (RFC 8628), which waits for
 * a person.
 */
export const OauthCodeSchema = defineEntity({
  name: 'OauthCode',
  tableName: 'oauth_code',
  properties: {
    secretSha256: p.blob().$type<Buffer>().primary(),
    /** what a person enters, for a device; null: of a redirect */
    userCode: p.text().nullable().unique('oauth_code_user_code_key'),
    clientId: p.text(),
    clientName: p.text(),
    clientHost: p.text(),
    /** both null: of a device */
    redirectUri: p.text().nullable(),
    challenge: p.text().nullable(),
    resource: p.text(),
    /** what the client asked for */
    scope: p.text().nullable(),
    /** null: not decided, or denied */
    terms: p.json<CodeTerms>().nullable(),
    workspaceId: belongsToWorkspace('oauth_code').nullable(),
    personId: belongsToPerson('oauth_code').nullable(),
    /** of the person who decided */
    sessionId: p.text().nullable(),
    decidedAt: p.datetime(3).nullable(),
    /** when the device last asked */
    polledAt: p.datetime(3).nullable(),
    usedAt: p.datetime(3).nullable(),
    /** what it became */
    grantId: p.text().nullable(),
    expiresAt: p.datetime(3),
  },
  indexes: [{ name: 'oauth_code_end', properties: ['expiresAt'] }],
  checks: [
    { name: 'oauth_code_check', expression: '((user_code IS NULL) = (redirect_uri IS NOT NULL))' },
    { name: 'oauth_code_check1', expression: '((redirect_uri IS NULL) = (challenge IS NULL))' },
    {
      name: 'oauth_code_check2',
      expression:
        '((terms IS NULL) OR ((workspace_id IS NOT NULL) AND (person_id IS NOT NULL) AND (session_id IS NOT NULL) AND (decided_at IS NOT NULL)))',
    },
  ],
});
