import { Checkbox, Radio, Stack, TagsInput } from '@mantine/core';
import { GIVEN_ROLES, type GivenRole, isLimitable } from './member-documents.ts';

/** What a form gives to a member. */
export interface RoleValues {
  role: GivenRole;
  isApprover: boolean;
  /** domains, and addresses, which have an @; empty: all */
  limits: string[];
}

/** Fields of a role and its limits. */
export function RoleFields({
  values,
  change,
  limitsFault,
}: {
  values: RoleValues;
  change: (values: RoleValues) => void;
  limitsFault: string | null;
}) {
  return (
    <Stack>
      <Radio.Group
        label="Role"
        value={values.role}
        onChange={(role) => {
          const given = GIVEN_ROLES.find(({ value }) => value === role)?.value ?? 'VIEWER';
          change({ ...values, role: given, limits: isLimitable(given) ? values.limits : [] });
        }}
      >
        <Stack gap="xs" mt="xs">
          {GIVEN_ROLES.map(({ value, label, about }) => (
            <Radio key={value} value={value} label={label} description={about} />
          ))}
        </Stack>
      </Radio.Group>
      {values.role !== 'ADMIN' && (
        <Checkbox
          label="Approver"
          description="May approve mail that waits for approval."
          checked={values.isApprover}
          onChange={(event) => change({ ...values, isApprover: event.currentTarget.checked })}
        />
      )}
      {isLimitable(values.role) && (
        <TagsInput
          label="Only these domains and addresses"
          description="Leave it empty for all mail. The rest does not exist for this member."
          placeholder={values.limits.length === 0 ? 'example.com or support@example.com' : ''}
          value={values.limits}
          onChange={(limits) => change({ ...values, limits })}
          error={limitsFault}
          splitChars={[',', ' ']}
          acceptValueOnBlur
        />
      )}
    </Stack>
  );
}

/** Returns the values as the input of a mutation. */
export function inputOfRole({ role, isApprover, limits }: RoleValues) {
  const addresses = limits.filter((each) => each.includes('@'));
  const domains = limits.filter((each) => !each.includes('@'));
  return {
    role,
    isApprover,
    ...(limits.length === 0 ? {} : { domains, addresses }),
  };
}
