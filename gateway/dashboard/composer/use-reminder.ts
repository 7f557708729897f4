import { graphql } from '../graphql.ts';
import { useAct } from '../parts/use-act.ts';
import { timeZone } from './draft.ts';

const REMIND = graphql(`
  mutation ComposerRemind($input: RemindOfEmailInput!) {
    remindOfEmail(input: $input) { __typename ... on RemindOfEmailPayload { remindAt email { id } } }
  }
`);

/** Returns a function that brings the conversation of a sent email back at a time in words unless someone replies. It tells a failure. */
export function useReminder(): (emailId: string, at: string) => void {
  const { act } = useAct(REMIND);
  return (emailId, at) => void act({ input: { emailId, at, timezone: timeZone } });
}
