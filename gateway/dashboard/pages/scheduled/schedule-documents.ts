import { graphql } from '../../graphql.ts';

export const CANCEL = graphql(`
  mutation DashboardCancelEmail($id: ID!) {
    cancelEmail(input: { id: $id }) {
      __typename
      ... on CancelEmailPayload { isChanged email { id status } }
      ... on Error { message code }
    }
  }
`);
export const PAUSE = graphql(`
  mutation DashboardPauseEmail($id: ID!) {
    pauseEmail(input: { id: $id }) {
      __typename
      ... on PauseEmailPayload { isChanged email { id status } }
      ... on Error { message code }
    }
  }
`);
export const RESUME = graphql(`
  mutation DashboardResumeEmail($id: ID!) {
    resumeEmail(input: { id: $id }) {
      __typename
      ... on ResumeEmailPayload { isChanged email { id status } }
      ... on Error { message code }
    }
  }
`);
export const RESCHEDULE = graphql(`
  mutation DashboardRescheduleEmail($input: RescheduleEmailInput!) {
    rescheduleEmail(input: $input) {
      __typename
      ... on RescheduleEmailPayload { email { id status scheduledAt timezone } }
      ... on ValidationError { fields { path message } }
      ... on Error { message code }
    }
  }
`);
