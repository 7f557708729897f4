import { counted, formatCount } from '../../parts/counted.ts';

/** Display names and descriptions of the endpoint types. */
export const ENDPOINT_TYPES = {
  WebhookEndpoint: {
    label: 'Webhook',
    about: 'Posts each email to your URL as signed JSON, or as a message to a chat room.',
  },
  EmailEndpoint: { label: 'One address', about: 'Forwards each email to one address.' },
  EmailGroupEndpoint: { label: 'Group', about: 'Forwards each email to several addresses.' },
} as const;

/** Display names of the webhook formats. */
export const FORMATS = { NATIVE: 'Postroom JSON', CHAT_A: 'Discord message', CHAT_B: 'Slack message' } as const;
export const FORMAT_CHOICES = Object.entries(FORMATS).map(([value, label]) => ({ value, label }));

type Stats = Record<'total' | 'successful' | 'failed', number>;

/** Returns the state of an endpoint in a word, and its color. */
export function describeHealth({ isActive, stats: { total, failed } }: { isActive: boolean; stats: Stats }) {
  if (!isActive) return { status: 'Off', tone: 'quiet' } as const;
  if (total === 0) return { status: 'No deliveries yet', tone: 'waiting' } as const;
  if (failed === 0) return { status: 'Healthy', tone: 'good' } as const;
  return failed === total
    ? ({ status: 'Failing', tone: 'bad' } as const)
    : ({ status: 'Some fail', tone: 'warning' } as const);
}

/** Returns for example "98 delivered, 2 failed attempts": a delivery can fail several times before it succeeds. */
export function describeStats({ total, successful, failed }: Stats): string {
  if (total === 0) return 'no deliveries yet';
  const waiting = total - successful - failed;
  return [`${formatCount(successful)} delivered`, counted(failed, 'failed attempt')]
    .concat(waiting > 0 ? [`${formatCount(waiting)} pending`] : [])
    .join(', ');
}

/** Returns the URL or the addresses of an endpoint. */
export function describeTarget(
  endpoint:
    | { __typename: 'WebhookEndpoint'; url: string }
    | { __typename: 'EmailEndpoint'; forwardTo: string }
    | { __typename: 'EmailGroupEndpoint'; addresses: readonly string[] },
): string {
  if (endpoint.__typename === 'WebhookEndpoint') return endpoint.url;
  return endpoint.__typename === 'EmailEndpoint' ? endpoint.forwardTo : endpoint.addresses.join(', ');
}
