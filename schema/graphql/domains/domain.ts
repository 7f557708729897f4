import type { DomainStatus as Status } from '../../../core/domains/domain-state.ts';
import type { KeysetCursor, KeysetPage } from '../../../core/shared/page.ts';
import type { Domain, DomainList, DomainQuery } from '../../../operations/domains/domains.ts';
import * as domains from '../../../operations/domains/domains.ts';
import {
  addressListFilter,
  emailAddressCapability,
  mailStatistics,
} from '../../../operations/domains/email-address-capability.ts';
import * as addresses from '../../../operations/domains/email-addresses.ts';
import { parseInput } from '../../input-shapes.ts';
import { access } from '../access.ts';
import { builder, connectionComplexity, enumValues } from '../builder.ts';
import { makeInputReader, typeFor } from '../capability-shapes.ts';
import { listPartsOf } from '../capability-types.ts';
import { type CountedConnection, connection, totalCount } from '../connection.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface } from '../nodes.ts';
import { DmarcReportConnection, DmarcReportNode, reportPage } from './dmarc-report.ts';
import {
  AuthRecommendations,
  DkimKey,
  DnsConflict,
  DnsProvider,
  DnsRecord,
  DomainMailFrom,
  TransportSecurity,
} from './dns-record.ts';

const DomainStatus = builder.enumType('DomainStatus', {
  description: 'Verification status of a domain.',
  values: enumValues<Status>({
    pending: 'Not verified yet. Postroom checks the DNS record automatically.',
    verified: 'Verified: you can send from the domain and create addresses on it.',
    failed: 'The DNS record was not found in time, or another account verified the domain.',
  }),
});

const DomainConnection = builder.connectionObject<typeof DomainNode, CountedConnection<Domain>>(
  {
    type: DomainNode,
    name: 'DomainConnection',
    description: 'A page of domains.',
    fields: (c) => totalCount(c),
  },
  { name: 'DomainEdge', description: 'A domain and its cursor.' },
);

function placeOfDomain(domain: Domain): KeysetCursor {
  return { at: domain.createdAt, id: domain.id };
}

const { connection: addressConnection, filter: addressFilter } = listPartsOf(emailAddressCapability);
const readFilter = makeInputReader(addressListFilter);

const addressPages = loadByOwner(
  ({ reads }, ids, { query, page }: { query: addresses.EmailAddressQuery; page: KeysetPage }) =>
    addresses.pageAddressesOfDomains(reads, ids, query, page),
);
const addressCounts = loadByOwner(({ reads }, ids, query: addresses.EmailAddressQuery) =>
  addresses.countAddressesOfDomains(reads, ids, query),
);
const subdomainPages = loadByOwner(({ reads }, ids, page: KeysetPage) => domains.pageSubdomains(reads, ids, page));
const subdomainCounts = loadByOwner(({ reads }, ids, _args: null) => domains.countSubdomains(reads, ids));
const mailCounts = loadByOwner(({ reads }, names, _args: null) => domains.countDomainEmails(reads, names));

const CatchAll = builder.objectRef<Domain>('CatchAll').implement({
  description: 'Where mail to unknown addresses of a domain goes.',
  isOfDomain: true,
  fields: (t) => ({
    isEnabled: t.exposeBoolean('isCatchAllEnabled', {
      description: 'Whether such mail is accepted; otherwise it is rejected.',
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Endpoint that receives the mail. Null if such mail is not accepted, or only stored.',
      resolve: ({ catchAllEndpoint }) => catchAllEndpoint?.id ?? null,
    }),
  }),
});

/** Number of DNS records that the cost limit assumes. */
const RECORDS = 8;

DomainNode.implement({
  description: 'A domain of yours, which sends and receives mail.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Lowercase, in ASCII (punycode, RFC 5890).' }),
    status: t.expose('status', { type: DomainStatus, description: 'Verification status.' }),
    statusReason: t.exposeString('reason', {
      nullable: true,
      description: 'Why the domain is not verified. Display text; null if there is nothing to report.',
    }),
    canReceive: t.exposeBoolean('canReceive', {
      description: 'Whether the domain can receive mail: it is verified and its mail arrives here.',
    }),
    canSend: t.boolean({
      description: 'Whether you can send from the domain: it is verified.',
      resolve: ({ status }) => status === 'verified',
    }),
    isTrusted: t.exposeBoolean('isTrusted', {
      description:
        'Whether the domain needs no DNS verification, because the server trusts its name or its parent domain.',
    }),
    isFullyVerified: t.exposeBoolean('isFullyVerified', {
      description: 'Whether the domain is verified and all required records were found.',
    }),
    isDkimVerified: t.exposeBoolean('isDkimSeen', {
      description: 'Whether the record of a DKIM key that signs its mail was found, on the domain or its parent.',
    }),
    hasMxRecords: t.boolean({
      description: 'Whether the domain has any MX records. False while DNS was not checked yet.',
      resolve: ({ check }) => check?.hasMx ?? false,
    }),
    lastCheckedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When DNS was last checked. Null if never.',
    }),
    lastCheckError: t.string({
      nullable: true,
      description:
        'What DNS did not return at the last check; those results are from earlier. Null if DNS returned everything.',
      resolve: ({ check }) => check?.error ?? null,
    }),
    proofLostAt: t.expose('proofLostAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when the verification record has been missing, so that another account could claim the domain. Null if it is present.',
    }),
    dnsRecords: t.field({
      type: [DnsRecord],
      description: 'DNS records to publish, and which of them were found.',
      complexity: { field: 1, multiplier: RECORDS },
      resolve: (domain) => domain.dnsRecords.map((record) => ({ domain, record })),
    }),
    dkimKeys: t.field({
      type: [DkimKey],
      description:
        'DKIM keys, newest first. A subdomain of a verified domain has none; the keys of the parent sign its mail.',
      complexity: { field: 1, multiplier: 2 },
      resolve: (domain) => domain.dkimKeys.map((key) => ({ domain, key })),
    }),
    provider: t.field({
      type: DnsProvider,
      nullable: true,
      description: 'The DNS provider. Null if DNS was not checked yet or did not respond.',
      resolve: ({ check }) => check?.provider ?? null,
    }),
    dnsConflict: t.field({
      type: DnsConflict,
      nullable: true,
      description: 'What prevents mail from arriving here. Null if no conflict is known.',
      resolve: ({ check }) => check?.conflict ?? null,
    }),
    transportSecurity: t.field({
      type: TransportSecurity,
      description: 'Settings that make senders use TLS.',
      resolve: ({ transport }) => transport,
    }),
    authRecommendations: t.field({
      type: AuthRecommendations,
      description: 'Optional records that make receivers trust its mail.',
      resolve: ({ advice }) => advice,
    }),
    mailFrom: t.field({
      type: DomainMailFrom,
      description: 'The custom MAIL FROM domain, which receives bounces.',
      resolve: (domain) => domain,
    }),
    catchAll: t.field({
      type: CatchAll,
      description: 'Where mail to unknown addresses goes.',
      resolve: (domain) => domain,
    }),
    receiveDmarcEmails: t.exposeBoolean('receiveDmarcEmails', {
      description: 'Whether mail to dmarc@ is routed like other mail. DMARC reports are read in any case.',
    }),
    parent: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The verified parent domain that this domain was verified by. Null if it was verified itself.',
      resolve: ({ parent }) => parent?.id ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the domain was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its settings or status last changed.' }),
    emailStatistics: t.field({
      type: typeFor(mailStatistics, { isOfDomain: true }),
      description: 'Recent amount of mail. Counted only when requested.',
      resolve: ({ name }, _args, context) => mailCounts(context, name, null),
    }),
    subdomains: t.connection(
      {
        type: DomainNode,
        description: 'Your subdomains of this domain, newest first. The domain can be deleted once there are none.',
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => {
          const page = await connection(args, placeOfDomain, (span) => subdomainPages(context, id, span));
          return { ...page, count: () => subdomainCounts(context, id, null) };
        },
      },
      DomainConnection,
    ),
    addresses: t.connection(
      {
        type: EmailAddressNode,
        description: 'Addresses on the domain, newest first.',
        args: { filter: t.arg({ type: addressFilter as never, description: 'Filters the addresses.' }) },
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => {
          const query = parseInput(addressListFilter, readFilter(args.filter ?? {}));
          const page = await connection<addresses.EmailAddress>(
            args,
            (address) => ({ at: address.createdAt, id: address.id }),
            (span) => addressPages(context, id, { query, page: span }),
          );
          return { ...page, count: () => addressCounts(context, id, query) };
        },
      },
      addressConnection as never,
    ),
    dmarcReports: t.connection(
      {
        type: DmarcReportNode,
        description:
          'DMARC reports on the domain, received by any of your addresses, latest period first. The emails that contained them also appear as mail.',
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => reportPage(context, id, args),
      },
      DmarcReportConnection,
    ),
  }),
});

const DomainFilter = builder.inputType('DomainFilter', {
  description: 'Filters a list of domains. Omit a field or pass null to match all.',
  fields: (t) => ({
    status: t.field({ type: DomainStatus, description: 'Matches domains with this status.' }),
    canReceive: t.boolean({ description: 'True matches domains that can receive mail, false the others.' }),
  }),
});

const DomainCounts = builder.objectRef<DomainList['counts']>('DomainCounts').implement({
  description: 'Number of your domains by status.',
  isOfDomain: true,
  fields: (t) => ({
    total: t.int({
      description: 'Total number.',
      resolve: ({ pending, verified, failed }) => pending + verified + failed,
    }),
    pending: t.exposeInt('pending', { description: 'Number with status PENDING.' }),
    verified: t.exposeInt('verified', { description: 'Number with status VERIFIED.' }),
    failed: t.exposeInt('failed', { description: 'Number with status FAILED.' }),
  }),
});

builder.queryFields((t) => ({
  domain: t.field({
    type: DomainNode,
    access: access.read,
    nullable: true,
    description: 'Returns the domain with this ID, or null if the account has no such domain.',
    args: { id: t.arg.id({ required: true, description: 'ID of the domain.' }) },
    resolve: (_root, { id }) => id,
  }),
  domainByName: t.field({
    type: DomainNode,
    access: access.read,
    nullable: true,
    description: 'Returns the domain with this name, or null if the account has no such domain.',
    args: { name: t.arg.string({ required: true, description: 'Case-insensitive, in ASCII (punycode) or Unicode.' }) },
    resolve: (_root, { name }, { reads }) => domains.findDomainByName(reads, name),
  }),
  domains: t.connection(
    {
      type: DomainNode,
      access: access.read,
      description: 'Your domains, newest first.',
      args: { filter: t.arg({ type: DomainFilter, description: 'Filters the domains.' }) },
      complexity: connectionComplexity,
      resolve: async (_root, args, { reads }) => {
        const query: DomainQuery = {
          status: args.filter?.status ?? undefined,
          canReceive: args.filter?.canReceive ?? undefined,
        };
        const page = await connection(args, placeOfDomain, (span) => domains.pageDomains(reads, query, span));
        return { ...page, count: () => domains.countDomainList(reads, query) };
      },
    },
    DomainConnection,
  ),
  domainCounts: t.field({
    type: DomainCounts,
    access: access.read,
    description: 'Number of your domains by status.',
    resolve: (_root, _args, { reads }) => domains.countDomainsByStatus(reads),
  }),
}));
