import { builder } from '../builder.ts';

export const DmarcAlignmentMode = builder.enumType('DmarcAlignmentMode', {
  description: 'How closely a domain must match the domain of the From header.',
  values: {
    RELAXED: { value: 'r', description: 'Both have the same organizational domain.' },
    STRICT: { value: 's', description: 'Both are identical.' },
  } as const,
});

export const DmarcRequest = builder.enumType('DmarcRequestedAction', {
  description: 'What the domain owner asks receivers to do with mail that fails DMARC.',
  values: {
    NONE: { value: 'none', description: 'Take no action; report only.' },
    QUARANTINE: { value: 'quarantine', description: 'Treat the mail as suspicious.' },
    REJECT: { value: 'reject', description: 'Reject the mail.' },
  } as const,
});

export const DmarcDisposition = builder.enumType('DmarcDisposition', {
  description: 'What a receiver did with the mail.',
  values: {
    NONE: { value: 'none', description: 'No action because of the policy.' },
    PASS: { value: 'pass', description: 'The mail passed.' },
    QUARANTINE: { value: 'quarantine', description: 'Treated the mail as suspicious.' },
    REJECT: { value: 'reject', description: 'Rejected the mail.' },
  } as const,
});
