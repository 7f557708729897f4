import type { VariablesOf } from '../../graphql.ts';
import { type Problem, useAct } from '../../parts/use-act.ts';
import { UPDATE_EMAIL, UPDATE_GROUP, UPDATE_WEBHOOK } from './endpoint-documents.ts';

type WebhookInput = VariablesOf<typeof UPDATE_WEBHOOK>['input'];
type EmailInput = VariablesOf<typeof UPDATE_EMAIL>['input'];
type GroupInput = VariablesOf<typeof UPDATE_GROUP>['input'];

/** Fields that the type may have; the service rejects what does not fit. */
export type EndpointChanges = WebhookInput & EmailInput & GroupInput;

/** Returns a function that changes an endpoint of that type. Absent fields stay unchanged. It returns the error, or null on success. */
export function useEndpointUpdate(
  type: 'WebhookEndpoint' | 'EmailEndpoint' | 'EmailGroupEndpoint',
  options: { quiet?: boolean; done?: string } = {},
): { act: (changes: EndpointChanges) => Promise<Problem | null>; isBusy: boolean } {
  const webhook = useAct(UPDATE_WEBHOOK, options);
  const email = useAct(UPDATE_EMAIL, options);
  const group = useAct(UPDATE_GROUP, options);
  const act = async (input: EndpointChanges) => {
    switch (type) {
      case 'WebhookEndpoint':
        return (await webhook.act({ input })).problem;
      case 'EmailEndpoint':
        return (await email.act({ input })).problem;
      case 'EmailGroupEndpoint':
        return (await group.act({ input })).problem;
    }
  };
  return { act, isBusy: webhook.isBusy || email.isBusy || group.isBusy };
}
