import { Button, Group, Modal, Popover, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ComponentProps, type MouseEvent, type ReactNode, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { IconButton, MainButton, QuietButton } from './controls.tsx';
import { type PayloadOf, useAct } from './use-act.ts';

type ButtonProps = ComponentProps<typeof QuietButton>;

type ActButtonProps<Data, Input> = Omit<ButtonProps, 'onClick'> & {
  mutation: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  /** notice after success */
  done?: string;
  onDone?: (payload: PayloadOf<Data>) => void;
};

/** Button that runs a mutation and shows its outcome. */
export function ActButton<Data, Input>(props: ActButtonProps<Data, Input>) {
  const { mutation, input, done, onDone, ...button } = props;
  const { act, isBusy } = useAct(mutation, { ...(done !== undefined && { done }), onDone });
  return <QuietButton size="xs" loading={isBusy} {...button} onClick={() => void act(input)} />;
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

type PopoverButtonProps = Omit<ComponentProps<typeof IconButton>, 'children' | 'onClick'> & {
  /** width of the popover in pixels */
  room: number;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  children: ReactNode;
};

/** An icon button with a small form below it, which keeps the focus while it is open, and gives it back. */
export function PopoverButton({ room, isOpen, setOpen, children, ...button }: PopoverButtonProps) {
  return (
    <Popover position="bottom-end" opened={isOpen} onChange={setOpen} width={room} trapFocus returnFocus withRoles>
      <Popover.Target>
        <IconButton color="main" size="lg" {...button} onClick={() => setOpen(!isOpen)} />
      </Popover.Target>
      <Popover.Dropdown aria-label={button.label}>{children}</Popover.Dropdown>
    </Popover>
  );
}

/** Button of a page that begins something new, there or at `href`. */
export function CreateButton(props: ButtonProps) {
  return <MainButton icon="plus" {...props} />;
}

type QuestionProps = {
  /** what is done, on its button */
  confirm: ReactNode;
  color?: string;
  isDisabled?: boolean;
  /** what has the focus at first: the way back, unless it can be undone or there is a field */
  focus?: 'back' | 'confirm' | 'field';
  /** it reports its outcome; the dialog closes unless it returns false */
  act: () => Promise<unknown>;
  close: () => void;
  children: ReactNode;
};

/** Content of a dialog that asks before something is done. */
export function Question(props: QuestionProps) {
  const { confirm, color, isDisabled = false, focus = 'back', act, close, children } = props;
  const [isBusy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    const isDone = await act();
    setBusy(false);
    if (isDone !== false) close();
  };
  return (
    <Stack>
      {children}
      <Group justify="flex-end">
        <QuietButton label="Go back" onClick={close} data-autofocus={focus === 'back' || undefined} />
        <Button
          {...(color !== undefined && { color })}
          data-autofocus={focus === 'confirm' || undefined}
          loading={isBusy}
          disabled={isDisabled}
          onClick={() => void go()}
        >
          {confirm}
        </Button>
      </Group>
    </Stack>
  );
}

type ConfirmButtonProps = Omit<ButtonProps, 'about' | 'children'> & {
  /** the name of what it is about, of several in a list: the button and the question say it */
  of?: string;
  question?: string;
  about: ReactNode;
  confirm?: ReactNode;
  act: () => Promise<unknown>;
  children?: ReactNode;
};

/** Button for an action that cannot be undone. Asks for confirmation first, in the words of the button unless there are others. */
export function ConfirmButton({ of, question, about, confirm, act, children, ...button }: ConfirmButtonProps) {
  const { label } = button;
  const name = typeof label === 'string' && of !== undefined ? `${label} ${of}` : undefined;
  return (
    <DialogButton {...(name !== undefined && { 'aria-label': name })} {...button} title={question ?? `${name}?`}>
      {(close) => (
        <Question confirm={confirm ?? label} color="red.9" act={act} close={close}>
          <Text size="sm" component="div">
            {about}
          </Text>
          {children}
        </Question>
      )}
    </DialogButton>
  );
}

/** Returns what the field of a FileButton needs. It forgets the file before the next choice, so that the same file can be chosen again. */
export function fileField(label: string) {
  const onClick = ({ currentTarget }: MouseEvent<HTMLInputElement>) => void (currentTarget.value = '');
  return { 'aria-label': label, onClick };
}
