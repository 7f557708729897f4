import { Popover } from '@mantine/core';
import type { ReactNode } from 'react';

interface FormPopoverProps {
  /** name for screen readers */
  label: string;
  width: number;
  isOpen: boolean;
  setOpen: (isOpen: boolean) => void;
  /** the button that opens it */
  target: ReactNode;
  children: ReactNode;
}

/** A small form below its button. It keeps the focus while it is open, and gives it back. */
export function FormPopover({ label, width, isOpen, setOpen, target, children }: FormPopoverProps) {
  return (
    <Popover
      opened={isOpen}
      onChange={setOpen}
      position="bottom-end"
      width={width}
      transitionProps={{ duration: 0 }}
      trapFocus
      returnFocus
      withRoles
    >
      <Popover.Target>{target}</Popover.Target>
      <Popover.Dropdown aria-label={label}>{children}</Popover.Dropdown>
    </Popover>
  );
}
