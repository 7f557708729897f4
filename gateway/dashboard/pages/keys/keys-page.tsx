import { Button, SegmentedControl, Skeleton, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { counted } from '../../parts/counted.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNote } from '../../parts/error-note.tsx';
import { IconKey, IconPlus } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { PageHeader } from '../../parts/page-header.tsx';
import { KeyRow } from './key-row.tsx';
import { NewKeyModal } from './new-key-modal.tsx';
import { useKeys } from './use-keys.ts';

/** API keys of the account. */
export function KeysPage() {
  const [search, setSearch] = useSearchParams();
  const isRevoked = search.get('show') === 'revoked';
  const { keys, total, error, isLoading, refresh, more } = useKeys(isRevoked);
  // A new form each time it opens, so that no secret stays in it.
  const [opening, setOpening] = useState({ count: 0, isOpen: search.has('new') });
  const open = () => setOpening(({ count }) => ({ count: count + 1, isOpen: true }));
  const add = (
    <Button {...needs('keys')} leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      Create key
    </Button>
  );
  return (
    <>
      <PageHeader
        title="API keys"
        about="Programs use API keys to access your account. You can limit a key to scopes, to one domain and by a send policy, and let it expire."
      >
        {add}
      </PageHeader>
      <Stack>
        <SegmentedControl
          aria-label="Status of keys"
          value={isRevoked ? 'revoked' : 'kept'}
          onChange={(show) => setSearch(show === 'revoked' ? { show } : {}, { replace: true })}
          data={[
            { value: 'kept', label: 'Active' },
            { value: 'revoked', label: 'Revoked' },
          ]}
          style={{ alignSelf: 'flex-start' }}
        />
        {error !== undefined && <ErrorNote error={error} retry={refresh} />}
        {isLoading && [0, 1, 2].map((row) => <Skeleton key={row} h={92} />)}
        {keys?.length === 0 && <NoKeys isRevoked={isRevoked} add={add} />}
        {keys !== undefined && keys.length > 0 && (
          <>
            <Stack gap="sm" component="ul" p={0} m={0} aria-label="API keys" style={{ listStyle: 'none' }}>
              {keys.map((key) => (
                <KeyRow key={key.id} apiKey={key} />
              ))}
            </Stack>
            <Text size="sm" c="dimmed" aria-live="polite">
              {keys.length === total ? counted(total, 'key') : `${keys.length} of ${total} keys`}
            </Text>
          </>
        )}
        {more !== null && (
          <Button variant="default" onClick={more} style={{ alignSelf: 'flex-start' }}>
            Load more
          </Button>
        )}
      </Stack>
      <NewKeyModal
        key={opening.count}
        isOpen={opening.isOpen}
        onClose={() => setOpening(({ count }) => ({ count, isOpen: false }))}
      />
    </>
  );
}

function NoKeys({ isRevoked, add }: { isRevoked: boolean; add: React.ReactNode }) {
  return isRevoked ? (
    <EmptyState icon={IconKey} title="No revoked keys" about="Revoked keys no longer work. They are listed here." />
  ) : (
    <EmptyState
      icon={IconKey}
      title="No API keys yet"
      about="Create one key per program, so that you can limit and revoke each key separately."
    >
      {add}
    </EmptyState>
  );
}
