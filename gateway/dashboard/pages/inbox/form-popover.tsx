import { Popover, type PopoverProps } from '@mantine/core';
import type { ReactNode } from 'react';

type FormPopoverProps = Pick<PopoverProps, 'width' | 'children'> & { label: string; target: ReactNode } & {
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
};

/** A small form below its button, `target`. It keeps the focus while it is open, and gives it back. */
export function FormPopover({ label, width, isOpen, setOpen, target, children }: FormPopoverProps) {
  return (
    <Popover position="bottom-end" opened={isOpen} onChange={setOpen} width={width} trapFocus returnFocus withRoles>
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={label}>{children}</Popover.Dropdown>
    </Popover>
  );
}
