import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { IconEyeOff } from '@tabler/icons-react';
import { Command } from '../../parts/command.tsx';
import { useViewer } from '../../shell/viewer.ts';
import { firstRequest } from './first-request.ts';
import type { MadeKey } from './new-key-form.tsx';

/** The new key, shown once, with a sample request. */
export function NewKeySecret({ made, onDone }: { made: MadeKey; onDone: () => void }) {
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
