import type { Tone } from '../../parts/status-badge.tsx';

/** Display names and descriptions of the endpoint types. */
export const endpointTypes = {
  WebhookEndpoint: {
    label: 'Webhook',
    about: 'Posts each email to your URL as signed JSON, or as a message to a chat room.',
  },
  EmailEndpoint: { label: 'One address', about: 'Forwards each email to one address.' },
  EmailGroupEndpoint: { label: 'Group', about: 'Forwards each email to several addresses.' },
} as const;

/** Display names of the webhook formats. */
export const formats = {
  NATIVE: 'Postroom JSON',
  CHAT_A: 'Discord message',
  CHAT_B: 'Slack message',
} as const;

interface Health {
  isActive: boolean;
  stats: { total: number; failed: number };
}

/** Returns the state of an endpoint in a word, and its color. */
export function healthOf({ isActive, stats: { total, failed } }: Health): { status: string; tone: Tone } {
  if (!isActive) return { status: 'Off', tone: 'quiet' };
  if (total === 0) return { status: 'No deliveries yet', tone: 'waiting' };
  if (failed === 0) return { status: 'Healthy', tone: 'good' };
  return failed === total ? { status: 'Failing', tone: 'bad' } : { status: 'Some fail', tone: 'warning' };
}

/** Returns "98 of 100 delivered". Never says "all" if one failed. */
export function statsInWords({
  total,
  successful,
  failed,
}: {
  total: number;
  successful: number;
  failed: number;
}): string {
  if (total === 0) return 'no deliveries yet';
  const waiting = total - successful - failed;
  return [`${successful.toLocaleString('en')} delivered`, `${failed.toLocaleString('en')} failed`]
    .concat(waiting > 0 ? [`${waiting.toLocaleString('en')} pending`] : [])
    .join(', ');
}
