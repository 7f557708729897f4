import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { IconBan, IconPlus, IconSearch } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { useAct } from '../../parts/use-act.ts';
import { SUPPRESS } from './suppression-documents.ts';
import { SuppressionList } from './suppression-list.tsx';

/** Delay between the last keystroke and the search. Milliseconds. */
const REST_MS = 300;
/** Maximum length of a search in characters, as in the service. */
const MAX_SEARCH = 100;
const CHOICES = [
  { value: 'BOUNCE', label: 'Bounced' },
  { value: 'COMPLAINT', label: 'Complaint' },
  { value: 'MANUAL', label: 'Manual' },
  { value: 'UNSUBSCRIBE', label: 'Unsubscribed' },
] as const;

/** Addresses that receive no mail. */
export function SuppressionsPage() {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Record<string, string | null>) =>
    setSearch((params) => {
      for (const [name, value] of Object.entries(changes))
        if (value === null) params.delete(name);
        else params.set(name, value);
      return params;
    });
  const sought = search.get('q') ?? '';
  const reason = CHOICES.find(({ value }) => value === search.get('reason'))?.value ?? null;
  const isFiltered = sought !== '' || reason !== null;
  const pages = Math.max(1, Number(search.get('pages')) || 1);
  const [typed, setTyped] = useState(sought);
  const find = useDebouncedCallback((text: string) => set({ q: text === '' ? null : text, pages: null }), REST_MS);
  return (
    <>
      <PageHeader
        title="Suppressions"
        about="Addresses that Postroom does not send mail to, after a bounce, a complaint, an unsubscription from a list, or by your choice."
      >
        <Button
          {...needs('policies')}
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={() => set({ new: '' })}
        >
          Suppress address
        </Button>
      </PageHeader>
      <Group mb="md" gap="xs">
        <TextInput
          type="search"
          aria-label="Search suppressions"
          placeholder="Part of the address"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={typed}
          maxLength={MAX_SEARCH}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            find(event.currentTarget.value.trim());
          }}
        />
        <Select
          aria-label="Reason"
          placeholder="Any reason"
          data={[...CHOICES]}
          value={reason}
          onChange={(value) => set({ reason: value, pages: null })}
          clearable
          clearButtonProps={{ 'aria-label': 'Any reason' }}
        />
      </Group>
      <SuppressionList
        filter={{ ...(sought === '' ? {} : { search: sought }), ...(reason === null ? {} : { reason }) }}
        pages={pages}
        more={() => set({ pages: String(pages + 1) })}
        empty={
          <EmptyState
            icon={IconBan}
            title={isFiltered ? 'No matching suppressions' : 'No suppressions yet'}
            about={
              isFiltered
                ? 'Change the search or the filter.'
                : 'Postroom adds an address after a permanent bounce or a complaint and then refuses to send to it, which protects your sender reputation.'
            }
          >
            {isFiltered && (
              <Button
                variant="default"
                onClick={() => {
                  setTyped('');
                  set({ q: null, reason: null });
                }}
              >
                Show all suppressions
              </Button>
            )}
          </EmptyState>
        }
      />
      <Modal
        opened={search.get('new') !== null}
        onClose={() => set({ new: null })}
        title="Suppress address"
        closeButtonProps={{ 'aria-label': 'Close' }}
        centered
      >
        <SuppressionForm done={() => set({ new: null })} />
      </Modal>
    </>
  );
}

/** Maximum length of a note in characters, as in the service. */
const MAX_DETAIL = 500;

/** Adds an address to the list. */
function SuppressionForm({ done }: { done: () => void }) {
  const { act, isBusy } = useAct(SUPPRESS, { quiet: true, done: 'Postroom no longer sends mail to this address.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm({
    initialValues: { address: '', detail: '' },
    validate: {
      address: (text) => (/^\S+@\S+$/.test(text.trim()) ? null : 'Enter a complete address, such as ann@example.com.'),
    },
  });
  const add = async () => {
    const { address, detail } = form.values;
    const { problem } = await act({
      input: { address: address.trim(), detail: detail.trim() === '' ? null : detail.trim() },
    });
    if (problem === null) return done();
    if (problem.fields['address'] !== undefined) form.setFieldError('address', problem.fields['address']);
    else setTrouble(problem.message);
  };
  return (
    <form onSubmit={form.onSubmit(() => void add())} noValidate>
      <Stack>
        <Text size="sm">Postroom refuses to send mail to the address until you remove the suppression.</Text>
        <TextInput label="Address" type="email" autoComplete="off" data-autofocus {...form.getInputProps('address')} />
        <TextInput
          label="Note"
          description="Optional. Visible only to you."
          maxLength={MAX_DETAIL}
          autoComplete="off"
          {...form.getInputProps('detail')}
        />
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Suppress address
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
