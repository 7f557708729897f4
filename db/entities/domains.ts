import { defineEntity, p } from '@mikro-orm/core';
import { DOMAIN_STATUSES } from '../../core/domains/domain-state.ts';
import type { SendPolicy } from '../../core/sending/send-policy.ts';

export const DomainSchema = defineEntity({
  name: 'Domain',
  tableName: 'domain',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    status: p.enum(DOMAIN_STATUSES).default('pending'),
    isTrusted: p.boolean().default(false),
    verifiedAt: p.datetime(3).nullable(),
    isCatchAllEnabled: p.boolean().default(false),
    catchAllEndpointId: p.text().nullable(),
    /** the API key that set the catch-all, and the scopes of that key then and now; see Endpoint */
    routeSetByKeyId: p.text().nullable(),
    routeGrantedScopes: p.array().nullable(),
    receiveDmarcEmails: p.boolean().default(false),
    /** the verified parent domain of the same workspace that verified it; null: verified by its own records */
    parentId: p.text().nullable(),
    /**
     * result of the last DNS check (core/domains/domain-check.ts), its time, and the time of the next check; null: not checked yet
     */
    dnsCheck: p.json<object>().nullable().lazy(),
    checkedAt: p.datetime(3).nullable(),
    checkDueAt: p.datetime(3).defaultRaw('now()'),
    /** whether the last check found that its MX points to this service */
    isMxSeen: p.boolean().default(false),
    /** since when the verification record of a verified domain is missing */
    proofLostAt: p.datetime(3).nullable(),
    /** since when the records of its MAIL FROM domain are found; before that, the domain itself is used */
    mailFromVerifiedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  uniques: [{ name: 'domain_name', properties: ['workspaceId', 'name'] }],
  indexes: [{ name: 'domain_check_due', properties: ['checkDueAt'] }],
});
export class Domain extends DomainSchema.class {}
DomainSchema.setClass(Domain);

/**
 * DKIM keys of domains (RFC 6376). The newest active key that is not retired signs. A replacement becomes active when its record is found.
 */
export const DkimKeySchema = defineEntity({
  name: 'DkimKey',
  tableName: 'dkim_key',
  properties: {
    workspaceId: p.text().primary(),
    domainId: p.text().primary(),
    selector: p.text().primary(),
    /** PKCS #8 in PEM, encrypted under SECRET_KEY */
    privateKeyCiphertext: p.text(),
    /** SubjectPublicKeyInfo in base64, as the p= of the record */
    publicKey: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    activatedAt: p.datetime(3).defaultRaw('now()').nullable(),
    retiredAt: p.datetime(3).nullable(),
  },
});
export class DkimKey extends DkimKeySchema.class {}
DkimKeySchema.setClass(DkimKey);

/** The verified owner of each domain name; at most one in the whole service. */
export const VerifiedDomainNameSchema = defineEntity({
  name: 'VerifiedDomainName',
  tableName: 'verified_domain_name',
  properties: {
    name: p.text().primary(),
    workspaceId: p.text(),
    domainId: p.text(),
  },
});

export const EmailAddressSchema = defineEntity({
  name: 'EmailAddress',
  tableName: 'email_address',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    domainId: p.text(),
    address: p.text(),
    endpointId: p.text().nullable(),
    webhookId: p.text().nullable(),
    /** the API key that set the route, and the scopes of that key then and now; see Endpoint */
    routeSetByKeyId: p.text().nullable(),
    routeGrantedScopes: p.array().nullable(),
    isActive: p.boolean().default(true),
    /** of mail that it sends, see core/sending/send-policy.ts; null: none */
    sendPolicy: p.json<SendPolicy>().nullable(),
    /** plain text below mail that is written in the dashboard; null: none */
    signature: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [
    { name: 'email_address_domain', properties: ['workspaceId', 'domainId'] },
    // at most one of the two is set
    {
      name: 'email_address_endpoint',
      expression:
        'create index email_address_endpoint on email_address using btree (workspace_id, COALESCE(endpoint_id, webhook_id))',
    },
  ],
});
export class EmailAddress extends EmailAddressSchema.class {}
EmailAddressSchema.setClass(EmailAddress);

/** Addresses are unique on the service; lower case. */
export const EmailAddressNameSchema = defineEntity({
  name: 'EmailAddressName',
  tableName: 'email_address_name',
  properties: {
    address: p.text().primary(),
    workspaceId: p.text(),
    addressId: p.text(),
  },
});

/** Signed addresses with what their token has no room for (core/smtp/reply-address.ts). A row is kept for 30 days after its end. */
export const ReplyAddressSchema = defineEntity({
  name: 'ReplyAddress',
  tableName: 'reply_address',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    domainId: p.text(),
    domain: p.text(),
    /** the own address that receives its mail, lower case; null: `reply@` of the domain */
    deliverTo: p.text().nullable(),
    /** copied to each email that it receives */
    metadata: p.json<unknown>().nullable(),
    /** the thread as named by the user, for display; mail finds it by its key in thread_message_id, which follows merges */
    threadId: p.text().nullable(),
    /** addresses and domains, lower case; empty: everyone */
    senders: p.array().defaultRaw(`'{}'`),
    maxMessages: p.integer().nullable(),
    /** messages accepted so far */
    messageCount: p.integer().default(0),
    expiresAt: p.datetime(3).nullable(),
    revokedAt: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
  },
  checks: [
    { name: 'reply_address_max_messages_check', expression: 'max_messages > 0' },
    { name: 'reply_address_check', expression: 'message_count <= max_messages' },
  ],
  indexes: [
    {
      name: 'reply_address_list',
      columns: [{ name: 'workspaceId' }, { name: 'createdAt', sort: 'desc' }, { name: 'id', sort: 'desc' }],
    },
    {
      name: 'reply_address_domain',
      columns: [
        { name: 'workspaceId' },
        { name: 'domainId' },
        { name: 'createdAt', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
    },
    {
      name: 'reply_address_end',
      expression: 'create index reply_address_end on reply_address using btree (COALESCE(revoked_at, expires_at))',
    },
  ],
});

/** Received DMARC aggregate reports (RFC 9990), with their rows. */
export const DmarcReportSchema = defineEntity({
  name: 'DmarcReport',
  tableName: 'dmarc_report',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    emailId: p.text(),
    /** domain of the policy, lower case; domain_id: the same domain of the workspace, or its parent */
    domain: p.text(),
    domainId: p.text(),
    organization: p.text(),
    reportId: p.text(),
    beginsAt: p.datetime(3),
    endsAt: p.datetime(3),
    /** see core/domains/dmarc-report.ts */
    policy: p.json<unknown>(),
    records: p.json<unknown>(),
    recordCount: p.integer(),
    messageCount: p.integer(),
    alignedCount: p.integer(),
    isTruncated: p.boolean().default(false),
    createdAt: p.datetime(3),
  },
  uniques: [{ name: 'dmarc_report_email', properties: ['workspaceId', 'emailId'] }],
  indexes: [
    {
      name: 'dmarc_report_domain',
      columns: [
        { name: 'workspaceId' },
        { name: 'domainId' },
        { name: 'endsAt', sort: 'desc' },
        { name: 'id', sort: 'desc' },
      ],
    },
  ],
});

/** What an address shows of its domain, also to keys of single addresses. A view, created in db/migrations. */
export const AddressDomainSchema = defineEntity({
  name: 'AddressDomain',
  tableName: 'address_domain',
  view: true,
  expression: 'select workspace_id, id, name, status, is_trusted, is_mx_seen from domain',
  properties: {
    workspaceId: p.text().primary(),
    id: p.text().primary(),
    name: p.text(),
    status: p.enum(DOMAIN_STATUSES),
    isTrusted: p.boolean(),
    isMxSeen: p.boolean(),
  },
});
