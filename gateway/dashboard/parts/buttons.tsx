import { Button, type ButtonProps, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type MouseEvent, type MouseEventHandler, type ReactNode, useEffect, useState } from 'react';
import type { TypedDocumentNode } from 'urql';
import { Link } from 'wouter';
import { type NeededRight, needs } from './controls.tsx';
import { IconPlus, type IconType } from './icons.ts';
import { useAct } from './use-act.ts';

type Needed = NeededRight | readonly NeededRight[];

/** Returns the attribute of a control that needs rights; nothing without any. */
function needed(rights: Needed | undefined): object {
  return rights === undefined ? {} : needs(...[rights].flat());
}

interface IconButtonProps extends ButtonProps {
  icon?: IconType;
  needed?: Needed | undefined;
  'aria-label'?: string;
}

/** Button that runs a mutation and shows its outcome. */
export function ActButton<Data, Input>({
  mutation,
  input,
  done,
  onDone,
  icon: Icon,
  needed: rights,
  children,
  ...button
}: IconButtonProps & {
  mutation: TypedDocumentNode<Data, { input: Input }>;
  input: Input;
  /** notice after success */
  done?: string;
  onDone?: () => void;
  children: ReactNode;
}) {
  const { act, isBusy } = useAct(mutation, { ...(done !== undefined && { done }), onDone });
  return (
    <Button
      {...needed(rights)}
      size="xs"
      variant="default"
      leftSection={Icon && <Icon size={16} aria-hidden />}
      loading={isBusy}
      onClick={() => void act(input)}
      {...button}
    >
      {children}
    </Button>
  );
}

/** Button that opens a dialog. */
export function DialogButton({
  label,
  title,
  icon: Icon,
  needed: rights,
  dialogSize = 'md',
  children,
  ...button
}: Omit<IconButtonProps, 'children'> & {
  label: string;
  title: string;
  dialogSize?: string;
  /** returns the content of the dialog, which is new each time it opens */
  children: (close: () => void) => ReactNode;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        {...needed(rights)}
        size="xs"
        variant="default"
        leftSection={Icon && <Icon size={16} aria-hidden />}
        onClick={open}
        {...button}
      >
        {label}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} size={dialogSize} centered>
        {children(close)}
      </Modal>
    </>
  );
}

/** A dialog that is there as long as it is open. When it closes, what had the focus before has it again, for users of the keyboard. */
export function OpenDialog(props: Omit<ModalProps, 'opened'>) {
  const [origin] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      // Unless what was done in it moved the focus already.
      window.setTimeout(() => {
        if (document.activeElement === document.body && origin instanceof HTMLElement)
          origin.focus({ preventScroll: true });
      });
    },
    [origin],
  );
  return <Modal opened {...props} />;
}

type CreateButtonProps = { needed?: Needed; href?: string; onClick?: MouseEventHandler; children: ReactNode };

/** Button of a page that begins something new, there or at `href`. */
export function CreateButton({ needed: rights, href, onClick, children }: CreateButtonProps) {
  const shared = { ...needed(rights), leftSection: <IconPlus size={16} aria-hidden />, children };
  return href === undefined ? (
    <Button {...shared} onClick={onClick} />
  ) : (
    <Button {...shared} component={Link} href={href} />
  );
}

type ConfirmButtonProps = ButtonProps & {
  label: ReactNode;
  question: string;
  about: ReactNode;
  confirm: string;
  act: () => Promise<unknown>;
  children?: ReactNode;
};

/** Button for an action that cannot be undone. Asks for confirmation first. The dialog closes when `act` is done; `act` reports its outcome. */
export function ConfirmButton({ label, question, about, confirm, act, children, ...button }: ConfirmButtonProps) {
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

/** Returns what the field of a FileButton needs. It forgets the file before the next choice, so that the same file can be chosen again. */
export function fileField(label: string) {
  const onClick = ({ currentTarget }: MouseEvent<HTMLInputElement>) => void (currentTarget.value = '');
  return { 'aria-label': label, onClick };
}
