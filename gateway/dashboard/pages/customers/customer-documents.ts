import { graphql, type ResultOf } from '../../graphql.ts';

const CUSTOMER = graphql(`
  fragment ShownCustomer on CustomerWorkspace {
    id clientId name status createdAt suspendedAt
    quotas { mailPerDay domains addresses storedBytes }
  }
`);
export type ShownCustomer = ResultOf<typeof CUSTOMER>;

export const CUSTOMERS = graphql(
  `
  query DashboardCustomers($first: Int!, $after: String, $filter: CustomerWorkspaceFilter) {
    customerWorkspaces(first: $first, after: $after, filter: $filter) {
      totalCount
      nodes { ...ShownCustomer }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [CUSTOMER],
);

export const USAGE = graphql(`
  query DashboardCustomerUsage($id: ID!) {
    customerWorkspaceUsage(id: $id) {
      domains addresses storedBytes rowsLeft
      days { day mailIn mailOut requests }
    }
  }
`);

export const CREATE = graphql(`
  mutation DashboardCreateCustomer($input: CreateCustomerWorkspaceInput!) {
    createCustomerWorkspace(input: $input) {
      __typename
      ... on CreateCustomerWorkspacePayload { customerWorkspace { id name } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

export const UPDATE = graphql(`
  mutation DashboardUpdateCustomer($input: UpdateCustomerWorkspaceInput!) {
    updateCustomerWorkspace(input: $input) {
      __typename
      ... on UpdateCustomerWorkspacePayload { customerWorkspace { id status } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

export const DELETE = graphql(`
  mutation DashboardDeleteCustomer($input: DeleteCustomerWorkspaceInput!) {
    deleteCustomerWorkspace(input: $input) {
      __typename
      ... on DeleteCustomerWorkspacePayload { customerWorkspace { id status } }
      ... on Error { message code }
    }
  }
`);
