import { TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { IconSearch } from './icons.ts';

/** Delay between the last keystroke and the search. Milliseconds. */
const REST_MS = 300;

/** A field that filters a list when its user stops typing. */
export function FilterText({
  label,
  type,
  value,
  set,
  width,
}: {
  label: string;
  type: 'search' | 'datetime-local';
  value: string;
  set: (value: string) => void;
  width?: number | undefined;
}) {
  const [typed, setTyped] = useState(value);
  const find = useDebouncedCallback((text: string) => set(text.trim()), REST_MS);
  return (
    <TextInput
      type={type}
      aria-label={label}
      placeholder={label}
      leftSection={type === 'search' ? <IconSearch size={16} aria-hidden /> : undefined}
      value={typed}
      w={width}
      maxLength={320}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        find(currentTarget.value);
      }}
    />
  );
}
