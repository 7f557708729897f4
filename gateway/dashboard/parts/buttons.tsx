import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ComponentProps, type MouseEvent, type MouseEventHandler, type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { type ControlProps, controlProps, QuietButton } from './controls.tsx';
import { IconPlus } from './icons.ts';
import { useAct } from './use-act.ts';

type ButtonProps = ComponentProps<typeof QuietButton>;

type ActButtonProps<Data, Input> = Omit<ButtonProps, 'label' | 'onClick'> & {
  mutation: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  /** notice after success */
  done?: string;
  onDone?: () => void;
  children: ReactNode;
};

/** Button that runs a mutation and shows its outcome. */
export function ActButton<Data, Input>(props: ActButtonProps<Data, Input>) {
  const { mutation, input, done, onDone, children, ...button } = props;
  const { act, isBusy } = useAct(mutation, { ...(done !== undefined && { done }), onDone });
  return <QuietButton size="xs" loading={isBusy} {...button} label={children} onClick={() => void act(input)} />;
}

/** Button that is busy while `act` runs. */
export function BusyButton({ act, ...button }: ButtonProps & { act: () => Promise<unknown> }) {
  const [isBusy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await act().finally(() => setBusy(false));
  };
  return <QuietButton {...button} loading={isBusy} onClick={() => void go()} />;
}

type DialogButtonProps = Omit<ButtonProps, 'children'> & {
  title: string;
  dialogSize?: string;
  /** returns the content of the dialog, which is new each time it opens */
  children: (close: () => void) => ReactNode;
};

/** Button that opens a dialog. */
export function DialogButton({ title, dialogSize = 'md', children, ...button }: DialogButtonProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <QuietButton size="xs" {...button} onClick={open} />
      <Modal opened={isOpen} onClose={close} title={title} size={dialogSize} centered>
        {children(close)}
      </Modal>
    </>
  );
}

type CreateButtonProps = Pick<ControlProps, 'needed' | 'href'> & { onClick?: MouseEventHandler; children: ReactNode };

/** Button of a page that begins something new, there or at `href`. */
export function CreateButton(props: CreateButtonProps) {
  return <Button leftSection={<IconPlus size={16} aria-hidden />} {...controlProps(props as ControlProps)} />;
}

type ConfirmButtonProps = Omit<ButtonProps, 'about' | 'children'> & {
  question: string;
  about: ReactNode;
  confirm: string;
  act: () => Promise<unknown>;
  children?: ReactNode;
};

/** Button for an action that cannot be undone. Asks for confirmation first. The dialog closes when `act` is done; `act` reports its outcome. */
export function ConfirmButton({ question, about, confirm, act, children, ...button }: ConfirmButtonProps) {
  const [isBusy, setBusy] = useState(false);
  const go = async (close: () => void) => {
    setBusy(true);
    await act();
    setBusy(false);
    close();
  };
  return (
    <DialogButton {...button} title={question}>
      {(close) => (
        <Stack>
          <Text size="sm" component="div">
            {about}
          </Text>
          {children}
          <Group justify="flex-end">
            <QuietButton label="Go back" onClick={close} data-autofocus />
            <Button color="red.9" loading={isBusy} onClick={() => void go(close)}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      )}
    </DialogButton>
  );
}

/** Returns what the field of a FileButton needs. It forgets the file before the next choice, so that the same file can be chosen again. */
export function fileField(label: string) {
  const onClick = ({ currentTarget }: MouseEvent<HTMLInputElement>) => void (currentTarget.value = '');
  return { 'aria-label': label, onClick };
}
