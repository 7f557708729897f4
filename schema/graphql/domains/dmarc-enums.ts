import { builder } from '../builder.ts';

export const DmarcAlignmentMode = builder.enumType('DmarcAlignmentMode', {
  description: 'How well a domain must fit the one of the From field.',
  values: {
    RELAXED: { value: 'r', description: 'Under the same registered domain.' },
    STRICT: { value: 's', description: 'The very same.' },
  } as const,
});

export const DmarcRequest = builder.enumType('DmarcRequestedAction', {
  description: 'What the owner of a domain asks receivers to do with mail that fails.',
  values: {
    NONE: { value: 'none', description: 'Nothing: report only.' },
    QUARANTINE: { value: 'quarantine', description: 'Treat it as suspect.' },
    REJECT: { value: 'reject', description: 'Refuse it.' },
  } as const,
});

export const DmarcDisposition = builder.enumType('DmarcDisposition', {
  description: 'What a receiver did with mail.',
  values: {
    NONE: { value: 'none', description: 'Nothing on account of the policy.' },
    PASS: { value: 'pass', description: 'It passed.' },
    QUARANTINE: { value: 'quarantine', description: 'Treated it as suspect.' },
    REJECT: { value: 'reject', description: 'Refused it.' },
  } as const,
});
