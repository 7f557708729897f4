import { Button, type ButtonProps, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';

/** Button for an action that cannot be undone. Asks for confirmation first. The dialog closes when `act` is done; `act` reports its outcome. */
export function ConfirmButton({
  label,
  question,
  about,
  confirm,
  act,
  children,
  ...button
}: ButtonProps & {
  label: ReactNode;
  question: string;
  about: ReactNode;
  confirm: string;
  act: () => Promise<unknown>;
  children?: ReactNode;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [isBusy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await act();
    setBusy(false);
    close();
  };
  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={question} centered>
        <Stack>
          <Text size="sm" component="div">
            {about}
          </Text>
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              Go back
            </Button>
            <Button color="red.9" loading={isBusy} onClick={() => void go()}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
