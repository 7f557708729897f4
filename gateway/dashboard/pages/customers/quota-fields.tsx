import { NumberInput, SimpleGrid } from '@mantine/core';
import type { ShownCustomer } from './customer-documents.ts';

/** Quotas as a form has them; an empty text: no limit. Stored mail is in megabytes. */
export type QuotaValues = Record<'mailPerDay' | 'domains' | 'addresses' | 'storedMegabytes', number | ''>;

export const UNLIMITED: QuotaValues = { mailPerDay: '', domains: '', addresses: '', storedMegabytes: '' };
const MEGABYTE = 1_000_000;

/** Returns the quotas as the interface takes them. */
export function quotasOf({ mailPerDay, domains, addresses, storedMegabytes }: QuotaValues) {
  const given = (value: number | '') => (value === '' ? null : value);
  return {
    mailPerDay: given(mailPerDay),
    domains: given(domains),
    addresses: given(addresses),
    storedBytes: storedMegabytes === '' ? null : storedMegabytes * MEGABYTE,
  };
}

/** Returns the quotas of a workspace as a form has them. */
export function valuesOf(quotas: ShownCustomer['quotas']): QuotaValues {
  if (quotas === null) return UNLIMITED;
  const { mailPerDay, domains, addresses, storedBytes } = quotas;
  return {
    mailPerDay: mailPerDay ?? '',
    domains: domains ?? '',
    addresses: addresses ?? '',
    storedMegabytes: storedBytes == null ? '' : storedBytes / MEGABYTE,
  };
}

const LABELS: Readonly<Record<keyof QuotaValues, string>> = {
  mailPerDay: 'Emails per day',
  domains: 'Domains',
  addresses: 'Addresses',
  storedMegabytes: 'Stored mail, MB',
};

/** Fields of the quotas of a workspace. */
export function QuotaFields({ values, change }: { values: QuotaValues; change: (values: QuotaValues) => void }) {
  return (
    <SimpleGrid cols={2}>
      {(Object.keys(LABELS) as (keyof QuotaValues)[]).map((name) => (
        <NumberInput
          key={name}
          label={LABELS[name]}
          placeholder="No limit"
          min={0}
          max={1_000_000_000}
          allowDecimal={name === 'storedMegabytes'}
          value={values[name]}
          onChange={(value) => change({ ...values, [name]: typeof value === 'number' ? value : '' })}
        />
      ))}
    </SimpleGrid>
  );
}
