import { graphql, type ResultOf } from '../../graphql.ts';

const RECORD = graphql(`
  fragment RecordParts on DnsRecord { id type name value priority exchange purpose description isRequired status error }
`);

/** Fields of one domain. */
export const DOMAIN = graphql(
  `query DashboardDomain($id: ID!) {
    domain(id: $id) {
      id name status statusReason canReceive canSend isTrusted isFullyVerified isDkimVerified hasMxRecords lastCheckedAt
      lastCheckError proofLostAt createdAt receiveDmarcEmails
      dnsRecords { ...RecordParts }
      dkimKeys { selector state record { ...RecordParts } }
      provider { name confidence }
      dnsConflict { type message records { type value } }
      transportSecurity {
        mode policyHost policyUrl
        mtaSts { name value description isSeen }
        tlsReports { name value description isSeen }
      }
      authRecommendations { spf { name value description } dmarc { name value description } }
      mailFrom { name status verifiedAt }
      catchAll { isEnabled endpoint { __typename id name isActive } }
      parent { id name }
      subdomains(first: 50) { totalCount edges { node { id name status } } }
      addresses(first: 10) {
        totalCount
        edges { node { id address isActive isReceiving warning endpoint { id name } emailStatistics { last7Days } } }
      }
      emailStatistics { last24Hours last7Days last30Days }
      dmarcReports(first: 1) { totalCount }
    }
  }`,
  [RECORD],
);

/** A domain with the fields of DOMAIN. */
export type ShownDomain = NonNullable<ResultOf<typeof DOMAIN>['domain']>;
export type ShownRecord = ShownDomain['dnsRecords'][number];

export const CREATE_DOMAIN = graphql(`
  mutation AddDomain($input: CreateDomainInput!) {
    createDomain(input: $input) { __typename ... on CreateDomainPayload { domain { id name status } } }
  }
`);
