import { deriveListenerSecrets } from '../../core/endpoints/listener.ts';
import type { OperationContext, Pull, PullPage } from '../context.ts';

/** Events that one page reads. */
export const DEFAULT_PULLED_EVENTS = 20;
export const MAX_PULLED_EVENTS = 100;

/**
 * Returns the requests that the events after a cursor cause, with the secret that signs them where no endpoint has one of its own. Waits
 * for the first one for a limited time. Throws not_found, validation, and what awaitEvents throws.
 */
export async function pullWebhookRequests(
  context: OperationContext,
  pull: Pull,
): Promise<PullPage & { signingSecret: string | null }> {
  const page = await context.pullRequests(context, pull);
  if (pull.endpointId !== null) return { ...page, signingSecret: null };
  const { workspaceId, rights, settings } = context;
  const { signingSecret } = deriveListenerSecrets(settings.secretKey, { workspaceId, keyId: rights.keyId });
  return { ...page, signingSecret };
}
