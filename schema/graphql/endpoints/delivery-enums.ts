import { builder } from '../builder.ts';

export const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'Status of a delivery.',
  values: {
    PENDING: { value: 'pending', description: 'Waiting for its next attempt.' },
    SUCCESS: {
      value: 'success',
      description: 'The endpoint accepted it. For forwarded copies, all recipients’ servers did.',
    },
    FAILED: { value: 'failed', description: 'Failed; there are no more attempts.' },
  } as const,
});

export const DeliveryCause = builder.enumType('DeliveryCause', {
  description: 'What started a delivery.',
  values: {
    ROUTE: { value: 'route', description: 'An email arrived and was routed to the endpoint.' },
    RETRY: { value: 'retry', description: 'You retried it.' },
    REPLAY: { value: 'replay', description: 'You replayed the deliveries of a period.' },
    RELEASE: { value: 'release', description: 'You released a held email.' },
  } as const,
});

export const DeliveryType = builder.enumType('DeliveryType', {
  description: 'How an email is delivered.',
  values: {
    WEBHOOK: { value: 'webhook', description: 'HTTP request to a URL.' },
    EMAIL_FORWARD: { value: 'email_forward', description: 'Forwarded copies.' },
  } as const,
});

export const DeliveryAttemptOutcome = builder.enumType('DeliveryAttemptOutcome', {
  description: 'Result of a delivery attempt.',
  values: {
    SUCCESS: { value: 'success', description: 'The endpoint accepted the request.' },
    FAILED: { value: 'failed', description: 'The endpoint rejected the request or did not respond.' },
    INTERRUPTED: {
      value: 'interrupted',
      description: 'Interrupted by a restart of the service; does not count as an attempt.',
    },
  } as const,
});
