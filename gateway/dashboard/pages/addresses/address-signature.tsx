import { Alert, Button, Stack, Text, Textarea, Title } from '@mantine/core';
import { useState } from 'react';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { type ShownAddress, UPDATE_ADDRESS } from './address-documents.ts';

/** Maximum length, as the service accepts it. Characters. */
const MAX_LENGTH = 2_000;

/** The signature of the address, with the form that changes it. */
export function AddressSignature({ address }: { address: ShownAddress }) {
  const { act, isBusy } = useAct(UPDATE_ADDRESS, { quiet: true, done: 'The signature was saved.' });
  const saved = address.signature ?? '';
  const [text, setText] = useState(saved);
  const [trouble, setTrouble] = useState<string | null>(null);
  const save = async () => {
    const { problem } = await act({ input: { id: address.id, signature: text.trim() === '' ? null : text } });
    setTrouble(problem === null ? null : (problem.fields['signature'] ?? problem.message));
  };
  return (
    <Stack gap="sm" component="section" aria-label="Signature">
      <Title order={3}>Signature</Title>
      <Text size="sm">The dashboard puts it below new mail and replies from this address.</Text>
      <Textarea
        aria-label="Signature"
        autosize
        minRows={3}
        maxRows={12}
        maxLength={MAX_LENGTH}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {trouble !== null && (
        <Alert color="red" variant="outline" role="alert">
          {trouble}
        </Alert>
      )}
      <Button
        {...needs('domains')}
        variant="default"
        size="xs"
        loading={isBusy}
        disabled={text === saved}
        onClick={() => void save()}
        style={{ alignSelf: 'flex-start' }}
      >
        Save signature
      </Button>
    </Stack>
  );
}
