import { z } from 'zod';
import { UserError } from '../shared/errors.ts';
import { named, nameType } from '../shared/field-notes.ts';

/** Largest value of a quota. */
const MAX_QUOTA = 1_000_000_000;

/** Largest quota of stored bytes: a petabyte. */
const MAX_STORED_BYTES = 1e15;

const quota = z.number().int().min(0).max(MAX_QUOTA).nullish();

/** What a customer's workspace may use. Omitted or null quotas are not limited. */
export const quotasShape = nameType(
  z.strictObject({
    mailPerDay: quota.meta({ description: 'Emails that it receives and sends together on a day (UTC).' }),
    domains: quota.meta({ description: 'Domains.' }),
    addresses: quota.meta({ description: 'Email addresses.' }),
    storedBytes: named(z.number().int().min(0).max(MAX_STORED_BYTES).nullish(), { graphqlType: 'Float' }).meta({
      description: 'Bytes of its messages, which are measured about once a minute.',
    }),
  }),
  {
    type: 'WorkspaceQuotas',
    input: 'WorkspaceQuotasInput',
    description: 'What a workspace may use. A quota below what it uses already takes effect for what is added.',
  },
);
export type Quotas = z.infer<typeof quotasShape>;
export type Quota = keyof Quotas;

/** `code` on the wire. */
const QUOTA_EXCEEDED = 'quota_exceeded';

const WHAT: Record<Quota, string> = {
  mailPerDay: 'emails per day',
  domains: 'domains',
  addresses: 'email addresses',
  storedBytes: 'bytes of mail',
};

/** How much of a quota is used, and how much a request adds. */
export interface QuotaUse {
  quota: Quota;
  limit: number;
  used: number;
  added: number;
}

/** Returns the error of a request that needs more of a quota than is left; null when it suffices. */
export function quotaExceeded({ quota: name, limit, used, added }: QuotaUse): UserError | null {
  const left = Math.max(0, limit - used);
  if (added <= left) return null;
  const message = `The quota of this workspace is ${limit} ${WHAT[name]}, and ${left} are left. Ask the operator of the workspace for more.`;
  return new UserError('forbidden', message, {
    title: 'Forbidden',
    reason: QUOTA_EXCEEDED,
    members: { quota: wireName(name), limit, used, left },
  });
}

const WIRE_NAMES: Partial<Record<Quota, string>> = { mailPerDay: 'mail_per_day', storedBytes: 'stored_bytes' };
const wireName = (name: Quota) => WIRE_NAMES[name] ?? name;
