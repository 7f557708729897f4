import { builder } from '../builder.ts';

export const DeliveryStatus = builder.enumType('DeliveryStatus', {
  description: 'How far a delivery came.',
  values: {
    PENDING: { value: 'pending', description: 'It is still to be tried, or to be tried again.' },
    SUCCESS: { value: 'success', description: 'The receiver took it; a copy: all recipients did.' },
    FAILED: { value: 'failed', description: 'It is not tried any more.' },
  } as const,
});

export const DeliveryCause = builder.enumType('DeliveryCause', {
  description: 'Why there is a delivery.',
  values: {
    ROUTE: { value: 'route', description: 'The email came in, and its route leads there.' },
    RETRY: { value: 'retry', description: 'You asked for it.' },
    REPLAY: { value: 'replay', description: 'You had deliveries of some time made again.' },
    RELEASE: { value: 'release', description: 'You let an email through that was held back.' },
  } as const,
});

export const DeliveryType = builder.enumType('DeliveryType', {
  description: 'How an email is delivered.',
  values: {
    WEBHOOK: { value: 'webhook', description: 'By a request to a URL.' },
    EMAIL_FORWARD: { value: 'email_forward', description: 'By copies that are sent.' },
  } as const,
});

export const DeliveryAttemptOutcome = builder.enumType('DeliveryAttemptOutcome', {
  description: 'What an attempt came to.',
  values: {
    SUCCESS: { value: 'success', description: 'The receiver took it.' },
    FAILED: { value: 'failed', description: 'The receiver refused it, or did not answer.' },
    INTERRUPTED: {
      value: 'interrupted',
      description: 'The service was stopped meanwhile; it does not count as a try.',
    },
  } as const,
});
