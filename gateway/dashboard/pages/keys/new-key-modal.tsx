import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Command } from '../../parts/command.tsx';
import { IconEyeOff } from '../../parts/icons.ts';
import { useViewer } from '../../shell/viewer.ts';
import { firstRequest } from './first-request.ts';
import { type MadeKey, NewKeyForm } from './new-key-form.tsx';

/** Creates a key and shows its secret once. */
export function NewKeyModal({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [made, setMade] = useState<MadeKey | null>(null);
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={made === null ? 'Create API key' : 'Copy API key'}
      size="lg"
      // An accidental click outside must not lose the key.
      closeOnClickOutside={false}
      closeOnEscape={made === null}
      withCloseButton={made === null}
    >
      {made === null ? (
        <NewKeyForm onMade={setMade} onCancel={onClose} />
      ) : (
        <NewKeySecret made={made} onDone={onClose} />
      )}
    </Modal>
  );
}

/** The new key, shown once, with a sample request. */
function NewKeySecret({ made, onDone }: { made: MadeKey; onDone: () => void }) {
  const { service } = useViewer();
  const { about, command } = firstRequest({ ...made, publicUrl: service.publicUrl });
  return (
    <Stack>
      <Alert variant="outline" color="orange" icon={<IconEyeOff aria-hidden />} role="status" py="sm">
        <Text size="sm">
          The key is shown only once, because Postroom stores only a digest. Save it where your program keeps its
          secrets.
        </Text>
      </Alert>
      <Command text={made.secret} label="Copy key" />
      <Text size="sm">{about}</Text>
      <Command text={command} />
      <Group justify="flex-end">
        <Button onClick={onDone}>Done</Button>
      </Group>
    </Stack>
  );
}
