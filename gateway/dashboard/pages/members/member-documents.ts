import { graphql, type ResultOf } from '../../graphql.ts';

export const MEMBERS = graphql(`
  query DashboardMembers {
    members { id email name role isApprover limits { domainIds addresses } joinedAt apiKeys isYou }
  }
`);
export type ShownMember = ResultOf<typeof MEMBERS>['members'][number];

export const INVITATIONS = graphql(`
  query DashboardInvitations {
    invitations { id email role status invitedBy sentAt expiresAt }
  }
`);
export type ShownInvitation = ResultOf<typeof INVITATIONS>['invitations'][number];

export const INVITE = graphql(`
  mutation DashboardInvite($input: CreateInvitationInput!) {
    createInvitation(input: $input) {
      __typename
      ... on CreateInvitationPayload { invitation { id email } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

export const RESEND = graphql(`
  mutation DashboardResendInvitation($input: ResendInvitationInput!) {
    resendInvitation(input: $input) {
      __typename
      ... on ResendInvitationPayload { invitation { id expiresAt } }
      ... on Error { message code }
    }
  }
`);

export const REVOKE = graphql(`
  mutation DashboardRevokeInvitation($input: RevokeInvitationInput!) {
    revokeInvitation(input: $input) {
      __typename
      ... on RevokeInvitationPayload { invitation { id status } }
      ... on Error { message code }
    }
  }
`);

export const CHANGE = graphql(`
  mutation DashboardChangeMember($input: UpdateMemberInput!) {
    updateMember(input: $input) {
      __typename
      ... on UpdateMemberPayload { member { id role isApprover } }
      ... on Error { message code }
      ... on ValidationError { fields { path message } }
    }
  }
`);

export const REMOVE = graphql(`
  mutation DashboardRemoveMember($input: RemoveMemberInput!) {
    removeMember(input: $input) {
      __typename
      ... on RemoveMemberPayload { id }
      ... on Error { message code }
    }
  }
`);

export const TRANSFER = graphql(`
  mutation DashboardTransferOwnership($input: TransferOwnershipInput!) {
    transferOwnership(input: $input) {
      __typename
      ... on TransferOwnershipPayload { member { id role } }
      ... on Error { message code }
    }
  }
`);

export const LEAVE = graphql(`
  mutation DashboardLeaveWorkspace($input: LeaveWorkspaceInput!) {
    leaveWorkspace(input: $input) {
      __typename
      ... on LeaveWorkspacePayload { message }
      ... on Error { message code }
    }
  }
`);

/** The roles that can be given, each with what it may do. */
export const GIVEN_ROLES = [
  {
    value: 'ADMIN',
    label: 'Admin',
    about: 'Members, domains, policies and retention, and all that a developer may do',
  },
  {
    value: 'DEVELOPER',
    label: 'Developer',
    about: 'API keys, endpoints and logged requests, and all that an agent may do',
  },
  { value: 'AGENT', label: 'Agent', about: 'Reads, sends and organizes mail' },
  { value: 'VIEWER', label: 'Viewer', about: 'Reads mail' },
] as const;
export type GivenRole = (typeof GIVEN_ROLES)[number]['value'];

/** Whether a role can be limited to domains and addresses. */
export const isLimitable = (role: GivenRole) => role === 'AGENT' || role === 'VIEWER';
