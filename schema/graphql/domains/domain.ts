import type { KeysetPage } from '../../../core/shared/page.ts';
import type { Domain } from '../../../operations/domains/domains.ts';
import * as domains from '../../../operations/domains/domains.ts';
import * as addresses from '../../../operations/domains/email-addresses.ts';
import { builder, connectionComplexity } from '../builder.ts';
import { connection } from '../connection.ts';
import { MailStatistics } from '../emails/mail-statistics.ts';
import { loadByOwner } from '../load-by-owner.ts';
import { DomainNode, EmailAddressNode, EndpointInterface } from '../nodes.ts';
import { addressQuery, EmailAddressConnection, EmailAddressFilter } from './address-connection.ts';
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
import { DomainConnection, placeOfDomain } from './domain-connection.ts';
import { DomainStatus } from './domain-enums.ts';

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
  description: 'What becomes of mail to addresses of a domain that nobody made.',
  isOfDomain: true,
  fields: (t) => ({
    isEnabled: t.exposeBoolean('isCatchAllEnabled', {
      description: 'Whether it is taken in; otherwise it is refused.',
    }),
    endpoint: t.field({
      type: EndpointInterface,
      nullable: true,
      description: 'Where it goes; null: it is not taken in.',
      resolve: ({ catchAllEndpoint }) => catchAllEndpoint?.id ?? null,
    }),
  }),
});

/** Records of a domain; the limit on costs assumes so many. */
const RECORDS = 8;

DomainNode.implement({
  description: 'A domain of yours: its mail comes here, and mail is sent from it.',
  isOfDomain: true,
  fields: (t) => ({
    name: t.exposeString('name', { description: 'In lower case, with A-labels (RFC 5890).' }),
    status: t.expose('status', { type: DomainStatus, description: 'How far it is proven to be yours.' }),
    statusReason: t.exposeString('reason', {
      nullable: true,
      description: 'For people: why it is not verified; null when there is nothing to say.',
    }),
    canReceive: t.exposeBoolean('canReceive', { description: 'Verified, and its mail comes here.' }),
    canSend: t.boolean({
      description: 'Whether mail can be sent from it: it is verified.',
      resolve: ({ status }) => status === 'verified',
    }),
    isTrusted: t.exposeBoolean('isTrusted', {
      description: 'Whether it needs no proof by DNS, as the service is set up to trust its name, or the domain above.',
    }),
    isFullyVerified: t.exposeBoolean('isFullyVerified', {
      description: 'Verified, and every required record is seen.',
    }),
    isDkimVerified: t.exposeBoolean('isDkimSeen', {
      description: 'Whether the record of a key that its mail is signed with is seen, be it that of the domain above.',
    }),
    hasMxRecords: t.boolean({
      description: 'Whether the name has any MX records, ours or of others; false while DNS was not asked yet.',
      resolve: ({ check }) => check?.hasMx ?? false,
    }),
    lastCheckedAt: t.expose('checkedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When DNS was last asked; null: it was not asked yet.',
    }),
    lastCheckError: t.string({
      nullable: true,
      description: 'What DNS did not tell then, so that verdicts are those from before; null: it told of all.',
      resolve: ({ check }) => check?.error ?? null,
    }),
    proofLostAt: t.expose('proofLostAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'Since when the proof of the verified domain is missing, so that another account may claim it; null: it is there.',
    }),
    dnsRecords: t.field({
      type: [DnsRecord],
      description: 'What to publish, and which of it is seen.',
      complexity: { field: 1, multiplier: RECORDS },
      resolve: (domain) => domain.dnsRecords.map((record) => ({ domain, record })),
    }),
    dkimKeys: t.field({
      type: [DkimKey],
      description: 'Newest first. A subdomain of a verified domain has none: its mail is signed with the key above.',
      complexity: { field: 1, multiplier: 2 },
      resolve: (domain) => domain.dkimKeys.map((key) => ({ domain, key })),
    }),
    provider: t.field({
      type: DnsProvider,
      nullable: true,
      description: 'Who serves its DNS; null: it was not asked yet, or did not tell.',
      resolve: ({ check }) => check?.provider ?? null,
    }),
    dnsConflict: t.field({
      type: DnsConflict,
      nullable: true,
      description: 'What keeps its mail from coming here; null: nothing that is known.',
      resolve: ({ check }) => check?.conflict ?? null,
    }),
    transportSecurity: t.field({
      type: TransportSecurity,
      description: 'What makes senders insist on TLS.',
      resolve: ({ transport }) => transport,
    }),
    authRecommendations: t.field({
      type: AuthRecommendations,
      description: 'What else may be published, so that receivers trust its mail.',
      resolve: ({ advice }) => advice,
    }),
    mailFrom: t.field({
      type: DomainMailFrom,
      description: 'Where bounces of its mail go.',
      resolve: (domain) => domain,
    }),
    catchAll: t.field({
      type: CatchAll,
      description: 'What becomes of mail to addresses that nobody made.',
      resolve: (domain) => domain,
    }),
    receiveDmarcEmails: t.exposeBoolean('receiveDmarcEmails', {
      description: 'Whether mail to dmarc@ is routed like other mail; reports are read in any case.',
    }),
    parent: t.field({
      type: DomainNode,
      nullable: true,
      description: 'The verified domain above that it was verified by; null: it stands for itself.',
      resolve: ({ parent }) => parent?.id ?? null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was added.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When its settings or its state changed.' }),
    emailStatistics: t.field({
      type: MailStatistics,
      description: 'How much mail of the domain there was lately; counted when it is asked for.',
      resolve: ({ name }, _args, context) => mailCounts(context, name, null),
    }),
    subdomains: t.connection(
      {
        type: DomainNode,
        description: 'Your domains whose names lie under it, newest first. It can be deleted when there are none.',
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
        description: 'Addresses on it, newest first.',
        args: { filter: t.arg({ type: EmailAddressFilter, description: 'Which addresses to show.' }) },
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => {
          const query = addressQuery(args.filter);
          const page = await connection<addresses.EmailAddress>(
            args,
            (address) => ({ at: address.createdAt, id: address.id }),
            (span) => addressPages(context, id, { query, page: span }),
          );
          return { ...page, count: () => addressCounts(context, id, query) };
        },
      },
      EmailAddressConnection,
    ),
    dmarcReports: t.connection(
      {
        type: DmarcReportNode,
        description:
          'DMARC reports on it that came to any address of yours, the newest time first. The emails that brought them are listed as mail, too.',
        complexity: connectionComplexity,
        resolve: async ({ id }, args, context) => reportPage(context, id, args),
      },
      DmarcReportConnection,
    ),
  }),
});
