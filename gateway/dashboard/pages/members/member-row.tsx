import { Alert, Badge, Button, Checkbox, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { counted } from '../../parts/counted.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Row } from '../../parts/row-list.tsx';
import { useAct } from '../../parts/use-act.ts';
import { useRight } from '../../shell/viewer.ts';
import { CHANGE, GIVEN_ROLES, REMOVE, type ShownMember, TRANSFER } from './member-documents.ts';
import { inputOfRole, RoleFields, type RoleValues } from './role-fields.tsx';

/** A member, with what the signed-in person may do about it. */
export function MemberRow({ member, changed }: { member: ShownMember; changed: () => void }) {
  const mayManage = useRight('members');
  const mayTransfer = useRight('ownership');
  const { id, email, name, role, isApprover, isYou, joinedAt, limits, apiKeys } = member;
  const called = name === '' ? email : name;
  const isManaged = mayManage && role !== 'OWNER' && !isYou;
  return (
    <Row
      name={
        <Group gap="xs">
          <Text fw={600} size="sm" className="postroom-wrap">
            {called}
          </Text>
          <Badge variant="default">{role.toLowerCase()}</Badge>
          {isApprover && role !== 'OWNER' && role !== 'ADMIN' && <Badge variant="default">approver</Badge>}
          {isYou && <Badge variant="light">you</Badge>}
        </Group>
      }
      about={
        <>
          {email}, joined <RelativeTime at={joinedAt} />
          {apiKeys > 0 && `, ${counted(apiKeys, 'API key')}`}
        </>
      }
      actions={
        <Group gap="xs">
          {isManaged && <ChangeMember member={member} called={called} changed={changed} />}
          {mayTransfer && !isYou && <MakeOwner id={id} called={called} changed={changed} />}
          {isManaged && <RemoveMember member={member} called={called} changed={changed} />}
        </Group>
      }
    >
      {limits !== null && (
        <Text size="sm" c="dimmed">
          Only{' '}
          {[
            ...(limits.domainIds.length > 0 ? [counted(limits.domainIds.length, 'domain')] : []),
            ...(limits.addresses.length > 0 ? [counted(limits.addresses.length, 'address', 'addresses')] : []),
          ].join(' and ')}
        </Text>
      )}
    </Row>
  );
}

function ChangeMember({ member, called, changed }: { member: ShownMember; called: string; changed: () => void }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" size="xs" aria-label={`Change role of ${called}`} onClick={() => setOpen(true)}>
        Change role
      </Button>
      <Modal opened={isOpen} onClose={() => setOpen(false)} title={`Role of ${called}`} centered>
        <ChangeForm
          member={member}
          done={() => {
            setOpen(false);
            changed();
          }}
        />
      </Modal>
    </>
  );
}

function ChangeForm({ member, done }: { member: ShownMember; done: () => void }) {
  const { act, isBusy } = useAct(CHANGE, { quiet: true, done: 'The member was changed.' });
  const [values, setValues] = useState<RoleValues>({
    role: GIVEN_ROLES.find(({ value }) => value === member.role)?.value ?? 'VIEWER',
    isApprover: member.isApprover,
    limits: [...(member.limits?.domainIds ?? []), ...(member.limits?.addresses ?? [])],
  });
  const [keys, setKeys] = useState<'revoke' | 'keep'>('revoke');
  const [trouble, setTrouble] = useState<string | null>(null);
  const losesKeys = member.apiKeys > 0 && (values.role === 'AGENT' || values.role === 'VIEWER');
  const save = async () => {
    const { problem } = await act({
      input: { id: member.id, ...inputOfRole(values), keepsKeys: losesKeys && keys === 'keep' },
    });
    if (problem === null) return done();
    setTrouble(problem.message);
  };
  return (
    <Stack>
      <RoleFields values={values} change={setValues} limitsFault={null} />
      {losesKeys && <KeyChoice count={member.apiKeys} value={keys} change={setKeys} />}
      {trouble !== null && (
        <Alert color="red" variant="outline" role="alert">
          {trouble}
        </Alert>
      )}
      <Group justify="flex-end">
        <Button loading={isBusy} onClick={() => void save()}>
          Save role
        </Button>
      </Group>
    </Stack>
  );
}

function KeyChoice({
  count,
  value,
  change,
}: {
  count: number;
  value: 'revoke' | 'keep';
  change: (value: 'revoke' | 'keep') => void;
}) {
  return (
    <Radio.Group
      label={`What happens to the ${counted(count, 'API key')} of this member?`}
      value={value}
      onChange={(chosen) => change(chosen === 'keep' ? 'keep' : 'revoke')}
    >
      <Stack gap="xs" mt="xs">
        <Radio
          value="revoke"
          label="Revoke"
          description="Programs that use them lose access at once, and what they set up stops."
        />
        <Radio
          value="keep"
          label="Keep"
          description="They are then yours, with what they set up, and have no more rights than the member had."
        />
      </Stack>
    </Radio.Group>
  );
}

function MakeOwner({ id, called, changed }: { id: string; called: string; changed: () => void }) {
  const { act } = useAct(TRANSFER, { done: 'The ownership was transferred.' });
  const [keeps, setKeeps] = useState(false);
  return (
    <ConfirmButton
      label="Make owner"
      aria-label={`Make owner: ${called}`}
      question={`Make ${called} the owner?`}
      about="The owner can do everything, including closing the workspace. You become an admin."
      confirm="Transfer ownership"
      act={async () => {
        await act({ input: { id, keepsKeys: keeps } });
        changed();
      }}
    >
      <Checkbox
        checked={keeps}
        onChange={(event) => setKeeps(event.currentTarget.checked)}
        label="Keep the keys of customers’ workspaces and the SCIM token"
        description="They are then the new owner’s. Otherwise they stop working."
      />
    </ConfirmButton>
  );
}

function RemoveMember({ member, called, changed }: { member: ShownMember; called: string; changed: () => void }) {
  const { act } = useAct(REMOVE, { done: `${called} is no member any more.` });
  const [keys, setKeys] = useState<'revoke' | 'keep'>('revoke');
  return (
    <ConfirmButton
      label="Remove"
      aria-label={`Remove ${called}`}
      question={`Remove ${called}?`}
      about="The member loses access to this workspace at once."
      confirm="Remove member"
      act={async () => {
        await act({ input: { id: member.id, keepsKeys: member.apiKeys > 0 && keys === 'keep' } });
        changed();
      }}
    >
      {member.apiKeys > 0 && <KeyChoice count={member.apiKeys} value={keys} change={setKeys} />}
    </ConfirmButton>
  );
}
