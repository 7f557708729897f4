import { Alert, Anchor, Button, Group, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { IconTrash } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { notify } from '../../parts/notify.ts';
import { useAct } from '../../parts/use-act.ts';
import { DELETE_DOMAIN, type ShownDomain } from './domain-documents.ts';

/** Deletes the domain after the user typed its name. Lists what is deleted with it and what must be deleted first. */
export function DeleteDomain({ domain }: { domain: ShownDomain }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button {...needs('domains')} variant="default" leftSection={<IconTrash size={16} aria-hidden />} onClick={open}>
        Delete
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Delete ${domain.name}?`} centered>
        {domain.subdomains.totalCount > 0 ? (
          <SubdomainsFirst domain={domain} />
        ) : (
          <Question domain={domain} close={close} />
        )}
      </Modal>
    </>
  );
}

function SubdomainsFirst({ domain }: { domain: ShownDomain }) {
  return (
    <Stack gap="sm">
      <Text size="sm">This domain verifies your subdomains. Delete them first:</Text>
      <List size="sm">
        {domain.subdomains.edges.map(({ node }) => (
          <List.Item key={node.id}>
            <Anchor component={Link} href={`/domains/${node.id}`} size="sm">
              {node.name}
            </Anchor>
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

function Question({ domain, close }: { domain: ShownDomain; close: () => void }) {
  const [typed, setTyped] = useState('');
  const [trouble, setTrouble] = useState<string | null>(null);
  const { act, isBusy } = useAct(DELETE_DOMAIN, { quiet: true });
  const [, navigate] = useLocation();
  const count = domain.addresses.totalCount;
  const go = async () => {
    const { payload, problem } = await act({ input: { id: domain.id } });
    if (problem !== null) return setTrouble(problem.message);
    const { deletedAddressCount: gone, obsoleteRecordCount: records } = payload;
    notify({
      message: `${payload.name} was deleted with ${countOf(gone, 'address', 'addresses')}. ${countOf(records, 'DNS record is', 'DNS records are')} no longer needed.`,
    });
    navigate('/domains');
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim().toLowerCase() === domain.name) void go();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">This also deletes:</Text>
        <List size="sm">
          <List.Item>{countOf(count, 'address', 'addresses')}: mail to them is refused from then on</List.Item>
          <List.Item>{countOf(domain.dkimKeys.length, 'DKIM key', 'DKIM keys')}</List.Item>
          <List.Item>{countOf(domain.dmarcReports.totalCount, 'DMARC report', 'DMARC reports')}</List.Item>
        </List>
        <Text size="sm">Its mail stays readable. Other accounts can then add the domain.</Text>
        <TextInput
          label={`Type ${domain.name} to delete it`}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          autoComplete="off"
          data-autofocus
        />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button type="submit" color="red" loading={isBusy} disabled={typed.trim().toLowerCase() !== domain.name}>
            Delete domain
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
